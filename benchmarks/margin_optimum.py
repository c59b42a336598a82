"""How often the alternating search of BagMarginSVC ends in the global optimum of tiny problems."""

from itertools import product

import numpy as np

from benchmarks.common import Table
from mixedbag import Bags
from mixedbag.margin import BagMarginSVC

STARTS = (1, 5, 10, 20)


def run(quick):
    problems = [tiny_problem(seed) for seed in range(5 if quick else 16)]
    optima = [global_optimum(bags, y) for bags, y in problems]
    rows = []
    for update in ("synchronous", "asynchronous"):
        for n_init in STARTS:
            reached, above = [], []
            for seed, ((bags, y), best) in enumerate(zip(problems, optima)):
                model = BagMarginSVC(
                    kernel="linear", update=update, n_init=n_init, random_state=seed
                ).fit(bags, y)
                above.append(model.objective_[-1] / best - 1)
                reached.append(above[-1] <= 1e-5)
            rows.append(
                {
                    "update": update,
                    "starts": n_init,
                    "problems at the optimum (%)": 100 * np.mean(reached),
                    "mean excess (%)": 100 * np.mean(above),
                    "largest excess (%)": 100 * np.max(above),
                }
            )
    notes = f"""{len(problems)} random problems: 5 positive and 5 negative bags of 2 to 4 instances,
two features, overlapping classes, C = 1, linear. The optimum is found by solving all choices of
witnesses. One start is the machine on the centroids; the others are random directions."""
    return [Table("BagMarginSVC: share of global optima", rows, notes)]


def tiny_problem(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 10)
    y = np.arange(10) % 2
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = rng.standard_normal((offsets[-1], 2))
    X[offsets[:-1][y == 1], 0] += 1.0
    return Bags(X, offsets), y


def global_optimum(bags, y):
    """The least objective over all choices of witnesses, each a problem of bags of one."""
    negative = bags.instances[bags.spread(y) == 0]
    labels = np.repeat([1, 0], [y.sum(), len(negative)])
    choices = product(*(bags[i] for i in np.flatnonzero(y)))
    return min(
        BagMarginSVC(kernel="linear").fit(np.vstack([*witnesses, negative]), labels).objective_[-1]
        for witnesses in choices
    )
