"""Run benchmarks: what is stale is computed, what is fresh is kept, tables are written anew.

NAME is a paper or question (thesis, aggregate, counts, sboost, arhmm, classics, product, …) or one
file of it (thesis/tables_5). Finished rows are kept one by one: interrupt and go on at will.
"""

import argparse
import importlib
import pkgutil
import sys
import time
import warnings
from datetime import UTC, datetime
from functools import cached_property

import benchmarks
from benchmarks._code import fingerprint, versions
from benchmarks._store import Row, Store, case_key
from benchmarks._tables import RESULTS, provenance


def papers():
    """``{paper: [files]}`` of all benchmarks."""
    found = {}
    for folder in pkgutil.iter_modules(benchmarks.__path__):
        if folder.ispkg and not folder.name.startswith("_"):
            path = [f"{benchmarks.__path__[0]}/{folder.name}"]
            names = [info.name for info in pkgutil.iter_modules(path)]
            found[folder.name] = [name for name in names if not name.startswith("_")]
    return found


def named(name):
    """The (paper, file) pairs that a name stands for."""
    paper, _, file = name.replace("-", "_").replace(".", "/").partition("/")
    known = papers()
    if paper not in known or (file and file not in known[paper]):
        raise SystemExit(f"no benchmark {name!r}; --list shows all")
    return [(paper, one) for one in known[paper] if file in ("", one)]


class Benchmark:
    """One file of a paper, with its rows."""

    def __init__(self, paper, file, results=RESULTS):
        self.name, self.file = f"{paper}/{file}", file
        self.module = importlib.import_module(f"benchmarks.{paper}.{file}")
        self.store, self.folder = Store(results / f"{paper}.jsonl"), results / paper
        self.versions = versions()
        self.cases = {case_key(case): case for case in self.module.cases()}

    @cached_property
    def code(self):
        return fingerprint(self.module.__name__)

    def stale(self):
        """Cases without a fresh row."""
        return self._without(self.store.fresh(self.file, self.code, self.versions))

    def missing(self):
        """Cases without a row of whatever code, or whose row lacks what is asked for today."""
        lacks = getattr(self.module, "lacks", lambda row: False)
        latest = self.store.latest(self.file)
        return self._without([key for key, row in latest.items() if not lacks(row)])

    def _without(self, rows):
        return [case for key, case in self.cases.items() if key not in rows]

    def compute(self, case):
        self.folder.mkdir(parents=True, exist_ok=True)
        start, when = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = self.module.run(case)
        seconds = round(time.perf_counter() - start, 3)
        return Row(self.file, case, result, self.code, self.versions, when, seconds)

    def recompute(self, cases):
        """Compute and keep these cases, one by one, and say so."""
        kept = len(self.cases) - len(cases)
        print(f"{self.name}: {kept} kept, {len(cases)} to compute", flush=True)
        for k, case in enumerate(cases, start=1):
            row = self.compute(case)
            self.store.append(row)
            print(f"  {k}/{len(cases)} {case_key(case)} {row.seconds:.1f} s", flush=True)
        if cases:
            self.store.compact()

    def rows(self):
        """The rows of today's cases: fresh ones, else the last there are."""
        latest = self.store.latest(self.file)
        latest |= self.store.fresh(self.file, self.code, self.versions)
        return [latest[key] for key in self.cases if key in latest]

    def write(self):
        """The page of tables, and pictures."""
        rows = self.rows()
        if not rows:
            return print(f"{self.name}: no rows, no tables")
        figures = [row.figures for row in rows]
        self.folder.mkdir(parents=True, exist_ok=True)
        if hasattr(self.module, "publish"):
            self.module.publish(figures, self.folder)
        text = "\n".join(table.markdown() for table in self.module.table(figures))
        origin = provenance(rows, len(self.cases), self.code, self.versions)
        (self.folder / f"{self.file}.md").write_text(f"# {self.name}\n\n{text}\n{origin}")
        print(text)
        print(origin)

    def check(self):
        """Whether what the paper claims holds in the rows; None where nothing is claimed."""
        if not hasattr(self.module, "check"):
            return None
        try:
            self.module.check([row.figures for row in self.rows()])
        except AssertionError as error:
            print(f"{self.name}: {error}")
            return False
        return True


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="all benchmarks, and rows they have")
    parser.add_argument("--stale", action="store_true", help="only say which cases are stale")
    parser.add_argument("--keep-stale", action="store_true", help="tables from the rows there are")
    parser.add_argument("--missing", action="store_true", help="compute only what has no row yet")
    parser.add_argument("--check", action="store_true", help="check the paper's claims in the rows")
    parser.add_argument("--only", default="", help="only cases whose description contains this")
    parser.add_argument("--try", dest="tiny", action="store_true", help="one small case, not kept")
    options = parser.parse_args(arguments)
    wanted = [pair for name in options.names or papers() for pair in named(name)]
    if not options.names and not options.list:
        parser.error("name a benchmark, or --list")
    failed = False
    for pair in wanted:
        one = Benchmark(*pair)
        stale = one.missing() if options.missing else one.stale()
        stale = [case for case in stale if options.only in case_key(case)]
        if options.list or options.stale:
            what = f"{len(stale)} {'missing' if options.missing else 'stale'}"
            print(f"{one.name}: {len(one.cases)} cases, {len(one.rows())} rows, {what}")
            if options.stale:
                print("".join(f"  {case_key(case)}\n" for case in stale), end="")
        elif options.check:
            answer = one.check()
            print(f"{one.name}: " + {True: "holds", False: "fails", None: "no claims"}[answer])
            failed |= answer is False
        elif options.tiny:
            some = getattr(one.module, "TINY", None) or next(iter(one.cases.values()))
            row = one.compute(some)
            print(f"{one.name}: {case_key(some)} {row.seconds:.1f} s\n  {case_key(row.result)}")
            print("\n".join(table.markdown() for table in one.module.table([row.figures])))
        else:
            if not options.keep_stale:
                one.recompute(stale)
            one.write()
    return sys.exit(1) if failed else None


if __name__ == "__main__":
    main()
