"""How pure the bags of a study are: read from the rows of `purity`, printed in its tables."""

import numpy as np

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS


def purity(problems):
    """The mean share of samples that have their bag's label, over these problems, in per cent.

    Problems are cases of `purity`; rows may know more than their problem, and know it doubly.
    """
    known = Store(RESULTS / "arhmm.jsonl").latest("purity")
    keys = {case_key(problem) for problem in problems}
    shares = [known[key].result["purity"] for key in keys if key in known]
    return f"{np.mean(shares):.1%}" if shares else "unknown"


def of_joined(rows, **more):
    """The purity of bags that `mixed` has joined."""
    names = ("person", "activity", "mixture")
    return purity(
        [{"joined": {n: more[n] if n in more else row[n] for n in names}} for row in rows]
    )


def of_cut(rows):
    """The purity of stretches as a recording was cut into them (`figure_5`)."""
    names = ("data", "activity", "person")
    return purity([{"cut": {name: row[name] for name in names}} for row in rows])
