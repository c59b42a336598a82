"""A page a paper: the tables that ``python -m benchmarks`` wrote, and its pictures."""

import re

from _tools.files import write_if_new

TITLES = {
    "thesis": "Learning from ambiguous examples",
    "lp_norm": "Boosting that exploits instance correlations",
    "aggregate": "Training on aggregate outputs",
    "sboost": "Learning from labelled sessions",
    "arhmm": "Activity recognition with an autoregressive HMM",
    "classics": "The classics",
    "field": "Systems that the papers name, and a test of the rule any",
    "product": "mixedbag against itself and others",
}


def write(folder, results):
    """Gather the Markdown tables below `results`, a page a folder of theirs."""
    for paper in sorted(path for path in results.iterdir() if path.is_dir()):
        title = TITLES.get(paper.name, paper.name)
        tables = sorted(paper.glob("*.md"))
        pictures = sorted(paper.glob("*.png"))
        script = f"python -m benchmarks {paper.name.replace('_', '-')}"
        parts = [f"# {title}\n", f"Written by `{script}`. Every table names what it kept.\n"]
        parts += [_demoted(table.read_text(encoding="utf-8")) for table in tables]
        if pictures:
            parts.append("## Pictures\n")
        for picture in pictures:
            where = f"../../benchmarks/results/{paper.name}/{picture.name}"
            parts.append(f"![{picture.stem.replace('_', ' ')}]({where})\n")
        write_if_new(folder / f"{paper.name}.generated.md", "\n".join(parts))


def _demoted(text):
    """Headings one level down, below the page's own; no rules across the page."""
    text = re.sub(r"^(#+) ", r"#\1 ", text, flags=re.MULTILINE)
    text = re.sub(r"!\[([^\]]*)\]\(([^)]*)\)\n?", "", text)
    return re.sub(r"^---$", "", text, flags=re.MULTILINE)
