"""Writes the walks of docs/architecture.md: ``python docs/walks.py``; a test compares them.

A walk is a fit (or a command) on a small table, traced: the files of the library in the order in
which it first calls a function of theirs. Nothing is compiled meanwhile, so that kernels show.
"""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = Path(importlib.util.find_spec("mixedbag").origin).parent  # wherever it is installed


def compare_a_table():
    """A table to its report, with one quick learner and all trials in this process."""
    import numpy as np

    from mixedbag import _nursery
    from mixedbag.cli import main
    from mixedbag.comparison import _compare, _workers
    from mixedbag.datasets import make_any

    data = make_any(n_bags=24, size=3, n_features=2, random_state=0)
    columns = [data.bags.bag_of, data.bags.spread(data.y), *data.bags.instances.T]
    _compare.Workers = lambda protocol, n_jobs: _workers.InProcess(protocol)
    _nursery.begin = lambda: None

    def walk():
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table.csv"
            rows = np.column_stack(columns)
            np.savetxt(table, rows, delimiter=",", header="bag,label,x,y", comments="", fmt="%g")
            options = ["--learners", "spread labels + logistic", "--folds", "2", "--json"]
            arguments = ["compare", str(table), *options, "--out", str(Path(folder) / "out")]
            sys.argv = ["mixedbag", *arguments]
            try:
                main()
            except SystemExit as end:
                if end.code:
                    raise

    return walk


def fit(package, learner, **settings):
    """A fit of a learner on two dozen bags."""

    def prepare():
        from mixedbag.datasets import make_any, make_sequences

        if package == "sequence":
            data = make_sequences(n_bags=4, length=60, random_state=0)
        else:
            data = make_any(n_bags=16, size=3, n_features=2, random_state=0)
        model = getattr(importlib.import_module(f"mixedbag.{package}"), learner)(**settings)
        return lambda: model.fit(data.bags, data.y)

    return prepare


WALKS = {
    "mixedbag compare table.csv": compare_a_table,
    "MI-SVM: BagMarginSVC().fit": fit("margin", "BagMarginSVC"),
    "ExpReg: ExpRegBoost().fit": fit("boosting", "ExpRegBoost", n_rounds=3),
    "LNPBoost().fit": fit("disjunctive", "LNPBoost", n_rounds=2, random_state=0),
    "ARHMM-MIL: ARHMMClassifier().fit": fit(
        "sequence", "ARHMMClassifier", n_states=2, order=1, max_iter=2, n_init=1, random_state=0
    ),
}


def trace(walk):
    """The files that `walk` enters, in order, and how often it goes from one to another."""
    files, hops, last = [], 0, None

    def watch(frame, event, _):
        nonlocal hops, last
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(SOURCE)) or frame.f_code.co_name == "<module>":
            return
        hops += name != last
        last = name
        if name not in files:
            files.append(name)

    sys.setprofile(watch)
    try:
        walk()
    finally:
        sys.setprofile(None)
    return [str(Path(name).relative_to(SOURCE)) for name in files], hops


def purpose(file):
    """The first sentence of a file's docstring."""
    text = ast.get_docstring(ast.parse((SOURCE / file).read_text(encoding="utf-8"))) or ""
    sentence = re.split(r"(?<=\w{4}[.])\s", " ".join(text.split("\n\n")[0].split()))[0]
    return sentence.rstrip(".:")


def sections():
    """The lines of every walk by its title, made in an interpreter that compiles nothing."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "COLUMNS": "80"}
    command = [sys.executable, "-W", "ignore", __file__, *WALKS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(zip(WALKS, done.stdout.split("@@@\n")[1::2], strict=True))


def page():
    """The page with its walks made anew."""
    text = PAGE.read_text(encoding="utf-8")
    for title, lines in sections().items():
        start, end = f"<!-- walk: {title} -->\n", "<!-- end -->"
        before, _, rest = text.partition(start)
        text = f"{before}{start}{lines}{end}{rest.partition(end)[2]}"
    return text


if __name__ == "__main__":
    for title in sys.argv[1:]:
        wanted = WALKS[title]()
        wanted()  # once for the imports, which are no part of the walk
        entered, n_hops = trace(wanted)
        print(f"@@@\n{len(entered)} files.\n")
        for number, one in enumerate(entered, start=1):
            print(f"{number}. `{one}`: {purpose(one)}")
        print(f"@@@\n{n_hops} hops")
    if len(sys.argv) == 1:
        PAGE.write_text(page(), encoding="utf-8")
