"""How often the alternating search of BagMarginSVC ends in the global optimum of tiny problems."""

from functools import cache
from itertools import product

import numpy as np

from benchmarks._tables import Table
from mixedbag import Bags
from mixedbag.margin import BagMarginSVC

STARTS = (1, 5, 10, 20)
PROBLEMS = 16
TINY = {"update": "synchronous", "starts": 1, "problems": 2}


def cases():
    updates = ("synchronous", "asynchronous")
    return [{"update": u, "starts": n, "problems": PROBLEMS} for u in updates for n in STARTS]


def run(case):
    above = []
    for seed in range(case["problems"]):
        model = BagMarginSVC(
            kernel="linear", update=case["update"], n_init=case["starts"], random_state=seed
        ).fit(*tiny_problem(seed))
        above.append(100 * (model.objective_[-1] / global_optimum(seed) - 1))
    return {
        "problems at the optimum (%)": 100 * np.mean(np.array(above) <= 1e-3),
        "mean excess (%)": np.mean(above),
        "largest excess (%)": np.max(above),
    }


def tiny_problem(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 10)
    y = np.arange(10) % 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.standard_normal((offsets[-1], 2))
    X[offsets[:-1][y == 1], 0] += 1.0
    return Bags(X, offsets), y


@cache
def global_optimum(seed):
    """The least objective over all choices of witnesses, each a problem of bags of one."""
    bags, y = tiny_problem(seed)
    negative = bags.instances[bags.spread(y) == 0]
    labels = np.repeat([1, 0], [y.sum(), len(negative)])
    choices = product(*(bags[i] for i in np.flatnonzero(y)))
    return min(
        BagMarginSVC(kernel="linear").fit(np.vstack([*witnesses, negative]), labels).objective_[-1]
        for witnesses in choices
    )


def table(rows):
    notes = """Random problems: 5 positive and 5 negative bags of 2 to 4 instances, two features,
overlapping classes, C = 1, linear. The optimum is found by solving all choices of witnesses. One
start is the machine on the centroids; the others are random directions."""
    return [Table("BagMarginSVC: share of global optima", rows, notes)]
