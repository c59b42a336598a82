"""What SBoost costs beside scikit-learn's AdaBoost on the same rows, and how the cost grows."""

import time

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common import Table
from mixedbag import Bags
from mixedbag.boosting import SBoost

N_ROUNDS = 20


def run(quick):
    rows = []
    for n_sessions in (100, 200) if quick else (250, 500, 1000, 2000):
        bags, y = sessions(n_sessions)
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        ours = seconds(lambda b=bags, t=y, e=tree: SBoost(e, n_rounds=N_ROUNDS).fit(b, t))
        rival = AdaBoostClassifier(tree, n_estimators=N_ROUNDS)
        labels = bags.spread(y)
        theirs = seconds(lambda b=bags, t=labels, r=rival: r.fit(b.instances, t))
        rows.append(
            {
                "sessions": n_sessions,
                "rows": bags.n_instances,
                "SBoost (s)": round(ours, 3),
                "AdaBoost (s)": round(theirs, 3),
                "ratio": round(ours / theirs, 2),
            }
        )
    return [
        Table(
            f"Training time, {N_ROUNDS} rounds of trees of depth 3, 20 features",
            rows,
            "Processor seconds on one thread, best of two. Nearly all of it is the trees'.",
        )
    ]


def sessions(n):
    """Sessions of ten rows, seven of the session's class."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    own = np.where(np.arange(10) < 7, y[:, None], 1 - y[:, None])
    X = rng.normal(size=(n, 10, 20))
    X[..., :3] += 1.5 * own[..., None]
    return Bags.from_list(X), y


def seconds(call):
    best = np.inf
    for _ in range(2):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best
