"""Damages inputs of every kind and counts what becomes of them; fails if one fails."""

import argparse
import sys
import time
from collections import Counter

from tests.fuzz.harness import fuzz
from tests.fuzz.targets import targets


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--inputs", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=0, help="other seeds, other inputs")
    parser.add_argument("--only", help="targets with this in their name")
    parser.add_argument("--keep", help="a folder for the inputs that failed")
    args = parser.parse_args()
    chosen = {name: n for name, n in targets().items() if not args.only or args.only in name}
    end = time.monotonic() + 60 * args.minutes
    first = args.seed * 1_000_000
    tally = fuzz(chosen, lambda: time.monotonic() > end, args.inputs, first, args.keep)
    print(tally)
    shown = Counter()
    for failure in tally.failures:
        kind = failure.target, failure.kind, failure.detail[:40]
        shown[kind] += 1
        if shown[kind] <= 3:
            print(failure)
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main())
