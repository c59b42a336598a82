"""`mixedbag predict` on tables larger than anyone wants to hold in memory: time and peak memory.

A model is fitted on a small table; then tables of growing length are predicted by the command
line in a process of its own, whose peak memory is measured.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common import Table
from mixedbag import save
from mixedbag.datasets import make_any
from mixedbag.margin import BagMarginSVC

FEATURES, SIZE = 5, 10
COMMAND = [sys.executable, "-c", "from mixedbag.cli import main; main()", "predict"]


def run(quick=False):
    lengths = [20_000, 40_000] if quick else [1_000_000, 10_000_000]
    with tempfile.TemporaryDirectory() as folder:
        return [stream_table(Path(folder), lengths)]


def stream_table(folder, lengths):
    names = [f"x{j}" for j in range(FEATURES)]
    data = make_any(n_bags=100, size=SIZE, n_features=FEATURES, random_state=0)
    bags = data.bags.with_instances(data.bags.instances, names)
    save(BagMarginSVC().fit(bags, data.y), folder / "model.skops")
    rows = []
    for length in lengths:
        for kind, write in (("csv", write_csv), ("parquet", write_parquet)):
            path = folder / f"table.{kind}"
            write(path, length, names)
            for level in ([], ["--instances"]):
                seconds, memory = predict(folder, path, level)
                rows.append(
                    {
                        "rows": length,
                        "file": f"{kind}, {path.stat().st_size / 1e6:.0f} MB",
                        "asked of": "instances" if level else "bags",
                        "seconds": seconds,
                        "million rows a second": length / seconds / 1e6,
                        "peak memory (MB)": memory,
                    }
                )
            path.unlink()
    return Table(
        "mixedbag predict: a table in bounded memory",
        rows,
        f"{FEATURES} features, bags of {SIZE}, a linear MI-SVM; predictions are written to a CSV "
        "file. Peak memory is that of the whole process, with Python and its libraries.",
    )


def predict(folder, table, level):
    """Seconds and peak memory of one command."""
    arguments = [str(folder / "model.skops"), str(table), "--bag", "bag", *level]
    out = folder / "answers.csv"
    script = (
        "import resource, subprocess, sys; "
        "code = subprocess.call(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script, *COMMAND, *arguments, "--out", str(out)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - start
    out.unlink()
    return seconds, int(done.stdout.splitlines()[-1]) / 1e3


def blocks(length, block=100_000):
    """Numbers of the first row of each block, with its values."""
    rng = np.random.default_rng(0)
    for start in range(0, length, block):
        yield start, rng.normal(size=(min(block, length - start), FEATURES))


def write_csv(path, length, names):
    with open(path, "w") as file:
        file.write(",".join(["bag", *names]) + "\n")
        for start, X in blocks(length):
            bag = (start + np.arange(len(X))) // SIZE
            np.savetxt(file, np.column_stack([bag, X]), delimiter=",", fmt=["%d"] + ["%.5g"] * 5)


def write_parquet(path, length, names):
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    for start, X in blocks(length):
        bag = (start + np.arange(len(X))) // SIZE
        table = pa.table({"bag": bag, **dict(zip(names, X.T))})
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
