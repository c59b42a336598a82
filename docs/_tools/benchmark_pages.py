"""A page a benchmark, with its tables and pictures; a page a paper leads there."""

import ast
import re

from _tools.files import write_if_new

# Folder of benchmarks -> its title, and what it is about.
PAPERS = {
    "thesis": (
        "Learning from ambiguous examples",
        "Stuart J. D. Andrews's thesis (Brown University, 2007): maximum margins for bags, and the "
        "disjunctive program with its relaxations and cuts. Its tables, ours beside the printed.",
    ),
    "lp_norm": (
        "Boosting that exploits instance correlations",
        "Li, Wang, Tian and Ding: boosting under a soft maximum whose sharpness is a parameter. "
        "Its tables and figures, ours beside the printed.",
    ),
    "aggregate": (
        "Training on aggregate outputs",
        "Musicant and others: six kinds of learners from counts and totals. Its eight figures, "
        "every learner beside its control, and beside the paper where that prints values.",
    ),
    "sboost": (
        "Learning from labelled sessions",
        "SBoost: sessions labelled by the majority of their instances. Its toy and its comparison.",
    ),
    "arhmm": (
        "Activity recognition with an autoregressive HMM",
        "Guan, Raich and Wong: labels of stretches of a time series. Its figure, and harder ones.",
    ),
    "classics": ("The classics", "Methods of the field with their defaults, and what they cost."),
    "counts": (
        "Counts, shares and totals beside llp-learn and PyEI",
        "Which learner, how to choose without labels of instances, and how sure one can be.",
    ),
    "field": (
        "Systems that the papers name",
        "Our figures beside the printed ones, and a test of who respects the rule *any*.",
    ),
    "product": (
        "What users of the library meet",
        "The choice of a model, answers at both levels, large tables, clusters, solvers.",
    ),
}


def write(folder, results):
    """Pages below `folder` from the Markdown tables and pictures below `results`."""
    wanted = set()
    for paper in sorted(path for path in results.iterdir() if path.is_dir()):
        title, about = PAPERS.get(paper.name, (paper.name, ""))
        names = sorted(path.stem for path in paper.glob("*.md"))
        scripts = {name: results.parent / paper.name / f"{name}.py" for name in names}
        parts = [f"# {title}\n", about, "", "| what | cases | `python -m benchmarks` |"]
        parts.append("|---|---|---|")
        for name, script in scripts.items():
            inside = f"{paper.name}/{name}"
            what = f"[{_question(script)}]({inside}.generated.md)"
            parts.append(f"| {what} | {_cases(paper / f'{name}.md')} | `{inside}` |")
            page = folder / paper.name / f"{name}.generated.md"
            page.parent.mkdir(exist_ok=True)
            write_if_new(page, _page(paper, name, script))
            wanted.add(page)
        for picture in sorted(paper.glob("*.png")):
            if not any(_drawn_by(picture.stem, script) for script in scripts.values()):
                parts += ["", _shown(picture, "../../")]
        inner = [f"{paper.name}/{name}.generated" for name in names]
        parts += ["", "```{toctree}", ":hidden:", "", *inner, "```", ""]
        page = folder / f"{paper.name}.generated.md"
        write_if_new(page, "\n".join(parts))
        wanted.add(page)
    for old in set(folder.rglob("*.generated.md")) - wanted:
        old.unlink()


def _cases(table):
    """How many cases of a benchmark have been computed, as its page says."""
    found = re.search(r"^- (\d+ of \d+) cases", table.read_text("utf-8"), flags=re.MULTILINE)
    return found[1] if found else ""


def _question(script):
    """The first sentence of a benchmark's docstring."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    sentence = re.split(r"(?<=\w{4}\.) ", " ".join(text.split("\n\n")[0].split()))[0]
    return sentence.rstrip(".").replace("``", "`").replace("|", r"\|")


def _page(paper, name, script):
    """A benchmark's own tables, and the pictures that its script names."""
    text = (paper / f"{name}.md").read_text(encoding="utf-8")
    tables, _, origin = text.partition("\n---\n")
    tables = re.sub(r"^# .*\n", "", tables)
    tables = re.sub(r"^(?:\|.*\n){62,}", _folded, tables, flags=re.MULTILINE)
    title = f"# {_question(script)}\n"
    parts = [title, f"Written by `python -m benchmarks {paper.name}/{name}`.\n"]
    pictures = [path for path in sorted(paper.glob("*.png")) if _drawn_by(path.stem, script)]
    parts += [*(_shown(picture, "../../../") for picture in pictures), tables]
    if origin.strip():
        parts.append(f"## Where these rows come from\n{origin}")
    return "\n".join(parts)


def _folded(found):
    """A long table, shown when it is asked for."""
    return f":::{{dropdown}} All {found[0].count(chr(10)) - 2} rows\n{found[0]}:::\n"


def _shown(picture, up):
    where = f"{up}benchmarks/results/{picture.parent.name}/{picture.name}"
    return f"![{picture.stem.replace('_', ' ')}]({where})\n"


def _drawn_by(picture, script):
    """Whether a script writes a picture: by name, or by a name with a number in it."""
    source = script.read_text(encoding="utf-8")
    numbered = re.sub(r"\d+$", "{", picture)
    return f'"{picture}.png' in source or (
        f'f"{numbered}' in source and f'"{picture}.png' not in _others(script)
    )


def _others(script):
    """The source of a script's neighbours."""
    neighbours = (path for path in script.parent.glob("*.py") if path != script)
    return "".join(path.read_text(encoding="utf-8") for path in neighbours)
