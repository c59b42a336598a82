"""What pages show was run: commands, and the figures in their sentences."""

import re
import shlex
import shutil
import tomllib

import numpy as np
import pandas as pd
import pytest

from benchmarks.__main__ import named
from benchmarks._measure import relational_arff
from mixedbag import __version__
from mixedbag.datasets import make_any, make_count, make_sequences, make_sum
from tests.command import mixedbag
from tests.test_docs import DOCS, PAGES, ROOT

TEXTS = [*PAGES, ROOT / "CONTRIBUTING.md"]
# Code that is shown and not run, by what it needs: other libraries, an extra of gigabytes that is
# tested in an environment of its own, the address of a cluster (the gallery runs the same on one).
NOT_HERE = ("misvm", "mil.", "torchmil", "mixedbag.deep", "llp_learn", "pyei", "java", "scheduler:")


def blocks(page):
    """Language and text of every block of code of a page."""
    return re.findall(
        r"^```(\w[^\n]*)\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE
    )


def commands(page):
    """The words of every command that a page shows, continued lines joined."""
    for language, text in blocks(page):
        if language == "sh":
            for line in text.replace("\\\n", " ").splitlines():
                if words := shlex.split(line, comments=True):
                    yield words


def test_what_is_not_run_could_not_be():
    for page in TEXTS:
        for language, text in blocks(page):
            if language not in ("python", "sh"):
                assert "notest" in language, f"{page.name}: a block of {language}"
                assert any(name in text for name in NOT_HERE), f"{page.name}: {text}"


# Commands ----------------------------------------------------------------------------------------


def a_table(data, bag, label, columns=("a", "b")):
    """The table behind made data, as a user would have it."""
    table = pd.DataFrame(data.bags.instances[:, : len(columns)], columns=list(columns))
    table.insert(0, bag, [f"M{i:03d}" for i in data.bags.bag_of])
    table.insert(1, label, data.bags.spread(data.y))
    return table


def put_files(folder):
    """Every file that a page speaks of, small."""
    molecules = make_any(n_bags=20, n_features=4, random_state=0)
    features = ["length", "angle", "charge", "volume"]
    table = a_table(molecules, "molecule", "active", features)
    table["active"] = np.where(table["active"] == 1, "yes", "no")
    for name in ("molecules", "test", "new"):
        table.to_csv(folder / f"{name}.csv", index=False)
    votes = make_count(n_bags=20, random_state=0)
    voters = a_table(votes, "precinct", "yes")
    voters["no"] = votes.bags.sizes[votes.bags.bag_of] - voters["yes"]
    voters["sex"] = np.where(voters["a"] > 0, "f", "m")
    voters["voters"] = 3 * votes.bags.sizes[votes.bags.bag_of]
    voters.drop(columns="voters").to_csv(folder / "voters.csv", index=False)
    voters.drop(columns=["no", "sex"]).to_csv(folder / "survey.csv", index=False)
    cohorts = a_table(votes, "cohort", "share")
    cohorts["share"] /= votes.bags.sizes[votes.bags.bag_of]
    cohorts.to_csv(folder / "cohorts.csv", index=False)
    pixels = a_table(make_sum(n_bags=20, random_state=0), "county", "harvest")
    pixels.to_csv(folder / "pixels.csv", index=False)
    cases = pixels.rename(
        columns={"county": "district", "harvest": "cases", "a": "age", "b": "hours"}
    )
    cases["cases"], cases["hours"] = cases["cases"].abs(), 1 + cases["hours"].abs()
    cases.to_csv(folder / "cases.csv", index=False)
    series = make_sequences(n_bags=12, length=60, random_state=0)
    motion = a_table(series, "stretch", "walking", ["x", "y", "z"][: series.bags.n_features])
    motion.insert(2, "timestamp", np.tile(np.arange(60), 12))
    motion.to_csv(folder / "motion.csv", index=False)
    with relational_arff(molecules.bags, molecules.y) as path:
        shutil.copyfile(path, folder / "musk1.arff")
    labels = ["slide,tumour,patient\n"]
    for name in ("features", "new-features"):
        (folder / name).mkdir()
    for k, bag in enumerate(molecules.bags):
        slide = "slide-0042" if k == 0 else f"slide-{k:04d}"
        for name in ("features", "new-features"):
            np.save(folder / name / f"{slide}.npy", bag.astype(np.float32))
        labels.append(f"{slide}.svs,{molecules.y[k]},p{k}\n")
    (folder / "labels.csv").write_text("".join(labels))


SHOWING = [page for page in TEXTS if any(words[0] == "mixedbag" for words in commands(page))]


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tmp_path):
    """One after the other, as shown, but for the learners, folds and processes of `compare`."""
    put_files(tmp_path)
    for program, *words in commands(page):
        if program == "mixedbag":
            if words[0] == "compare":
                learner = "spread totals + ridge" if "sum" in words else "+ logistic"
                words += ["--learners", learner, "--folds", "2", "--jobs", "1", "--overwrite"]
            mixedbag(*words, folder=tmp_path)


def test_other_commands_name_what_is_there():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for page in TEXTS:
        for program, *words in commands(page):
            if program == "make":
                assert words[0] in targets, f"{page.name}: make {words[0]}"
            if program == "pip":
                extras = re.findall(r"\[([\w,]+)\]", words[-1])
                asked = {extra for some in extras for extra in some.split(",")}
                assert asked <= set(project["optional-dependencies"]), f"{page.name}: {words}"
            if program == "python" and "benchmarks" in words:
                assert all(named(word) for word in words[2:] if not word.startswith("-"))
            assert program in ("make", "pip", "python", "mixedbag"), f"{page.name}: {program}"


def test_the_citation_is_of_this_version():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited[1] == __version__


# Figures -----------------------------------------------------------------------------------------

# Settings, levels, arithmetic and made-up numbers, which nobody measured.
NOT_MEASURED = {
    "analysts.md": {"60 %", "40 %", "0.125", "12.5 %"},
    "compare.md": {"95 %", "95.4 %", "100 %"},
    "how-sure.md": {"12.5 %"},
    "pitfalls.md": {"3 %", "97 times"},
    "report.md": {"0.8"},
}
FIGURE = re.compile(
    r"(?<![\w.-])\d[\d,.]*\s?(?:%|m?s\b|seconds?\b|minutes?\b|[MG]B\b|times\b|points\b|rounds\b)"
    r"|(?<![\w-])0\.\d+(?!\w)"
)


def paragraphs(page):
    """The sentences of a page: paragraphs, list items and rows, without code and formulas."""
    no_sentences = r"^```.*?^```|<!-- walk: .*?<!-- end -->"
    text = re.sub(no_sentences, "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.split(r"\n\s*\n|\n(?=- |\| )", text)


def test_a_figure_in_a_sentence_names_its_script():
    written = {DOCS / "which-learner.md"}  # by a script, whole
    for page in set(PAGES) - written:
        for text in paragraphs(page):
            plain = re.sub(r"`[^`]*`|\$[^$]*\$", " ", text)
            found = set(FIGURE.findall(plain)) - NOT_MEASURED.get(page.name, set())
            named_there = "python -m benchmarks" in text or "*Set*" in text
            assert not found or named_there, f"{page.name}: who measured {found}? {text}"


def test_benchmarks_that_pages_name_exist():
    n = 0
    for page in [*TEXTS, ROOT / "CHANGELOG.md"]:
        for name in re.findall(
            r"python -m\s+benchmarks\s+([a-z][\w-]+(?:/\w+)?)", page.read_text()
        ):
            assert named(name)
            n += 1
    assert n > 10
