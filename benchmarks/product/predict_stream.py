"""`mixedbag predict` on tables of any length, beside the engine's own reading and writing.

The engine (DuckDB, both cores) reads the same file, computes a linear score and its two
probabilities in SQL, and writes the same columns to a CSV file: with all memory, rows in any order
and without numbers; where rows are shuffled again as `predict` promises it, with the rows of a bag
together and numbered, in as much memory as `predict` may take; and of CSV again as `predict`
promises it, with types that are guessed from all of the file. All are processes of their own, one
after the other in one run, each when what the others have written is on the disk.
"""

import os
import tempfile
from pathlib import Path

from benchmarks._tables import Table
from benchmarks.product import _engine
from benchmarks.product._process import measured
from mixedbag import cli
from mixedbag.datasets import make_any
from mixedbag.io import save
from mixedbag.margin import BagMarginSVC

FEATURES, SIZE = 5, 10
MEMORY = "400MB"  # of the engine, whose process is 100 MB beside
NAMES = [f"x{j}" for j in range(FEATURES)]
COMMAND = ["-c", f"from {cli.__name__} import main; main()", "predict"]
TINY = {"rows": 20_000, "file": "csv", "order": "shuffled", "asked of": "instances"}


def cases():
    small = [
        {"rows": rows, "file": kind, "order": order, "asked of": level}
        for rows in (1_000_000, 10_000_000)
        for kind in ("csv", "parquet")
        for order in ("adjacent", "shuffled")
        for level in ("bags", "instances")
    ]
    large = [
        {"rows": 100_000_000, "file": "parquet", "order": order, "asked of": "bags"}
        for order in ("adjacent", "shuffled")
    ]
    return small + large


def run(case):
    data = make_any(n_bags=100, size=SIZE, n_features=FEATURES, random_state=0)
    bags = data.bags.with_instances(data.bags.instances, NAMES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(BagMarginSVC(kernel="linear").fit(bags, data.y), folder / "model.skops")
        path = folder / f"table.{case['file']}"
        write(path, case["rows"], case["order"] == "shuffled")
        write(folder / "few.csv", 100, False)
        out = folder / "answers.csv"
        level = ["--instances"] if case["asked of"] == "instances" else []
        model = [*COMMAND, folder / "model.skops"]
        options = ["--bag", "bag", *level, "--out", out]
        alone = ["-m", _engine.__name__, path, out, case["asked of"], FEATURES]
        own, _, _ = after_others(*alone)
        promised = after_others(*alone, MEMORY)[0] if case["order"] == "shuffled" else None
        typed = after_others(*alone, "whole")[0] if case["file"] == "csv" else None
        seconds, memory, _ = after_others(*model, path, *options)
        start, _, _ = after_others(*model, folder / "few.csv", *options)
        return {
            "file, MB": path.stat().st_size / 1e6,
            "engine, s": own,
            "engine by bag in 400 MB, s": promised,
            "engine with types from the whole file, s": typed,
            "predict, s": seconds,
            "of which start, s": start,
            "ratio": seconds / own,
            "ratio without start": (seconds - start) / own,
            "to the engine by bag": promised and (seconds - start) / promised,
            "to the engine with types from the whole file": typed and (seconds - start) / typed,
            "peak memory (MB)": memory,
        }


def after_others(*command):
    """`measured`, when what the process before has written is on the disk."""
    os.sync()
    return measured(*command)


def write(path, rows, shuffled):
    """Rows that the engine makes up, the same each time."""
    import duckdb

    bag = f"cast(hash(i) % {max(1, rows // SIZE)} as bigint)" if shuffled else f"i // {SIZE}"
    values = ", ".join(
        f"round((hash(i * {FEATURES} + {j}) % 2000000) / 5e5 - 2, 5) as {name}"
        for j, name in enumerate(NAMES)
    )
    with duckdb.connect() as con:
        con.execute(f"copy (select {bag} as bag, {values} from range({rows}) t(i)) to '{path}'")


def table(rows):
    notes = (
        f"{FEATURES} features, bags of {SIZE} on average, a linear MI-SVM; answers are written to "
        "a CSV file: bag, number of the instance, class and two probabilities. The engine writes "
        'the same columns. "By bag" it brings the rows of a bag together and numbers them, as '
        "`predict` does; else it writes rows as they come. The types of a CSV file it guesses from "
        'its beginning, but "from the whole file" from all of it, as `predict` does. Peak memory '
        "is that of the whole process, with Python and its libraries; the start is the whole "
        "command on a table of 100 rows. Answers about bags are one grouped query in both, those "
        "about instances are not."
    )
    return [Table("mixedbag predict: a table in bounded memory", rows, notes)]
