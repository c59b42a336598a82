"""DuckDB beside polars' streaming engine on the work that `mixedbag.tables` does with a table.

A table of shuffled rows (a bag of text, a label, twenty numbers) is read as CSV and as Parquet,
brought into the order of its bags (by first appearance, rows in their order within a bag), and
written to Parquet, each in a process of its own whose peak memory is measured. Both engines are
asked for the same file; the results are compared row by row.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks._tables import Table
from benchmarks.product._process import measured

FEATURES = 20
KINDS = ("csv", "parquet")
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


TINY = {"rows": 10_000, "file": "csv"}


def cases():
    return [{"rows": rows, "file": kind} for rows in (300_000, 1_000_000) for kind in KINDS]


def run(case):
    from pyarrow import parquet

    found, results = {}, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, case["rows"])
        path = folder / f"table.{case['file']}"
        for engine, limit in (("duckdb", ""), ("duckdb", "300MB"), ("polars", "")):
            out = folder / "sorted.parquet"
            seconds, memory, _ = measured(
                "-m", ENGINES[engine].__module__, engine, path, out, limit
            )
            called = f"{engine} in {limit}" if limit else engine
            found |= {f"{called}, s": seconds, f"{called}, MB": memory}
            results.append(parquet.read_table(out))
    first = results[0]
    return found | {"same rows": all(t.cast(first.schema).equals(first) for t in results)}


def table(rows):
    notes = f"A bag of text, a label and {FEATURES} numbers a row; whole processes."
    return [Table("Engines for tables: read, bring together by bag, write", rows, notes)]


if __name__ == "__main__":
    engine, source, out, limit = sys.argv[1:]
    ENGINES[engine](Path(source), Path(out), limit)
