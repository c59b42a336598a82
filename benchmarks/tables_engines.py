"""DuckDB beside polars' streaming engine on the work that `mixedbag.tables` does with a table.

A table of shuffled rows (a bag of text, a label, twenty numbers) is read as CSV and as Parquet,
brought into the order of its bags (by first appearance, rows in their order within a bag), and
written to Parquet, each in a process of its own whose peak memory is measured. Both engines are
asked for the same file; the results are compared row by row.

    python -m benchmarks.tables_engines [rows]
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

FEATURES = 20
NAMES = [f"x{j}" for j in range(FEATURES)]


def duckdb_sorted(path, out, limit):
    import duckdb

    con = duckdb.connect(config={"memory_limit": limit} if limit else {})
    con.execute("set temp_directory = ?", [str(out.parent / "spill")])
    kind = path.suffix[1:]
    con.execute(f"create table rows as select * from read_{kind}(?)", [str(path)])
    names = ", ".join(f"r.{name}" for name in ["bag", "label", *NAMES])
    con.execute(
        f"copy (select {names} from rows r join "
        "(select bag, min(rowid) as first from rows group by bag) b using (bag) "
        f"order by b.first, r.rowid) to '{out}' (format parquet)"
    )


def polars_sorted(path, out, limit):
    import polars as pl

    frame = pl.scan_csv(path) if path.suffix == ".csv" else pl.scan_parquet(path)
    frame = frame.with_row_index("row")
    first = frame.group_by("bag").agg(pl.col("row").min().alias("first"))
    ordered = frame.join(first, on="bag").sort("first", "row").select("bag", "label", *NAMES)
    ordered.sink_parquet(out, engine="streaming")


ENGINES = {"duckdb": duckdb_sorted, "polars": polars_sorted}


def write_table(folder, n_rows, shuffled=True):
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, parquet

    rng = np.random.default_rng(0)
    n_bags = n_rows // 10
    bag = np.repeat(np.arange(n_bags), 10)
    if shuffled:
        bag = rng.permutation(bag)
    columns = {"bag": [f"m{b}" for b in bag.tolist()], "label": rng.integers(0, 2, n_bags)[bag]}
    columns |= {name: np.round(rng.normal(size=n_rows), 6) for name in NAMES}
    table = pa.table(columns)
    csv.write_csv(table, folder / "table.csv")
    parquet.write_table(table, folder / "table.parquet")


def measured(engine, path, out, limit=""):
    """Seconds of the work and peak memory in MB of one process."""
    command = [sys.executable, __file__, "--child", engine, str(path), str(out), limit]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1][:120]
    seconds, memory = done.stdout.split()
    return float(seconds), float(memory)


def child(engine, path, out, limit=""):
    start = time.perf_counter()
    ENGINES[engine](Path(path), Path(out), limit)
    seconds = time.perf_counter() - start
    # Not `ru_maxrss`, which a process inherits from the one that started it.
    status = Path("/proc/self/status").read_text()
    print(seconds, int(status.split("VmHWM:")[1].split()[0]) / 1e3)


def run(n_rows=1_000_000):
    from pyarrow import parquet

    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, n_rows)
        for kind in ("csv", "parquet"):
            path = folder / f"table.{kind}"
            results = []
            for engine, limit in (("duckdb", ""), ("duckdb", "300MB"), ("polars", "")):
                out = folder / f"{engine}.parquet"
                seconds, memory = measured(engine, path, out, limit)
                rows.append((n_rows, kind, engine, limit or "none", seconds, memory))
                if seconds is not None:
                    results.append(parquet.read_table(out))
                    out.unlink()
            same = all(t.cast(results[0].schema).equals(results[0]) for t in results)
            rows.append((n_rows, kind, "same rows in the same order", "", "", same))
    return rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        for row in run(*map(int, sys.argv[1:2])):
            print(*row, sep=" | ")
