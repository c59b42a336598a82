"""`mixedbag predict` on tables larger than anyone wants to hold in memory: time and peak memory.

A model is fitted on a small table; then a table is predicted by the command line in a process of
its own, whose peak memory is measured.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import timed
from benchmarks._tables import Table
from mixedbag import cli
from mixedbag.datasets import make_any
from mixedbag.io import save
from mixedbag.margin import BagMarginSVC

FEATURES, SIZE = 5, 10
NAMES = [f"x{j}" for j in range(FEATURES)]
COMMAND = [sys.executable, "-c", f"from {cli.__name__} import main; main()", "predict"]
TINY = {"rows": 20_000, "file": "csv", "asked of": "bags"}


def cases():
    return [
        {"rows": rows, "file": kind, "asked of": level}
        for rows in (1_000_000, 10_000_000)
        for kind in ("csv", "parquet")
        for level in ("bags", "instances")
    ]


def run(case):
    data = make_any(n_bags=100, size=SIZE, n_features=FEATURES, random_state=0)
    bags = data.bags.with_instances(data.bags.instances, NAMES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(BagMarginSVC().fit(bags, data.y), folder / "model.skops")
        path = folder / f"table.{case['file']}"
        {"csv": write_csv, "parquet": write_parquet}[case["file"]](path, case["rows"])
        level = ["--instances"] if case["asked of"] == "instances" else []
        memory, seconds = timed(lambda: predict(folder, path, level))
        return {
            "file, MB": path.stat().st_size / 1e6,
            "seconds": seconds,
            "million rows a second": case["rows"] / seconds / 1e6,
            "peak memory (MB)": memory,
        }


def predict(folder, table, level):
    """The peak memory of one command, in megabytes."""
    arguments = [str(folder / "model.skops"), str(table), "--bag", "bag", *level]
    script = (
        "import resource, subprocess, sys; "
        "code = subprocess.call(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    )
    out = ["--out", str(folder / "answers.csv")]
    command = [sys.executable, "-c", script, *COMMAND, *arguments, *out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout.splitlines()[-1]) / 1e3


def blocks(length, block=100_000):
    """Bags and values of each block of rows."""
    rng = np.random.default_rng(0)
    for start in range(0, length, block):
        n = min(block, length - start)
        yield (start + np.arange(n)) // SIZE, rng.normal(size=(n, FEATURES))


def write_csv(path, length):
    with open(path, "w") as file:
        file.write(",".join(["bag", *NAMES]) + "\n")
        for bag, X in blocks(length):
            np.savetxt(file, np.column_stack([bag, X]), delimiter=",", fmt=["%d"] + ["%.5g"] * 5)


def write_parquet(path, length):
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for bag, X in blocks(length):
        table = pa.table({"bag": bag, **dict(zip(NAMES, X.T))})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def table(rows):
    notes = (
        f"{FEATURES} features, bags of {SIZE}, a linear MI-SVM; predictions are written to a CSV "
        "file. Peak memory is that of the whole process, with Python and its libraries."
    )
    return [Table("mixedbag predict: a table in bounded memory", rows, notes)]
