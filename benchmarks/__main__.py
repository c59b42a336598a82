"""``python -m benchmarks NAME [--quick]``: run one benchmark, print and keep its tables."""

import argparse
import importlib
import pkgutil
import time

import benchmarks
from benchmarks.common import write_results

_NOT_BENCHMARKS = {"common", "__main__"}


def names():
    """All benchmarks, by name."""
    modules = (info.name for info in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(n for n in modules if n not in _NOT_BENCHMARKS and not n.startswith("_"))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=names(), metavar="NAME", help=", ".join(names()))
    parser.add_argument("--quick", action="store_true", help="a small version, not kept")
    options = parser.parse_args(arguments)
    module = importlib.import_module(f"benchmarks.{options.name}")
    start = time.perf_counter()
    tables = module.run(quick=options.quick)
    for table in tables:
        print(table.markdown())
    if not options.quick:
        write_results(options.name, tables, time.perf_counter() - start)


if __name__ == "__main__":
    main()
