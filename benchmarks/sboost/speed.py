"""What SBoost costs beside scikit-learn's AdaBoost on the same rows, and how the cost grows."""

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table
from mixedbag import Bags
from mixedbag.boosting import SBoost

N_ROUNDS = 20
TINY = {"sessions": 50}


def cases():
    return [{"sessions": n} for n in (250, 500, 1000, 2000)]


def run(case):
    bags, y = sessions(case["sessions"])
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    _, ours = cpu_timed(lambda: SBoost(tree, n_rounds=N_ROUNDS).fit(bags, y), 2)
    rival, labels = AdaBoostClassifier(tree, n_estimators=N_ROUNDS), bags.spread(y)
    _, theirs = cpu_timed(lambda: rival.fit(bags.instances, labels), 2)
    times = {"SBoost (s)": ours, "AdaBoost (s)": theirs, "ratio": ours / theirs}
    return {"rows": bags.n_instances} | times


def sessions(n):
    """Sessions of ten rows, seven of the session's class."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    own = np.where(np.arange(10) < 7, y[:, None], 1 - y[:, None])
    X = rng.normal(size=(n, 10, 20))
    X[..., :3] += 1.5 * own[..., None]
    return Bags.from_list(X), y


def table(rows):
    title = f"Training time, {N_ROUNDS} rounds of trees of depth 3, 20 features"
    notes = "Processor seconds on one thread, best of two. Nearly all of it is the trees'."
    return [Table(title, rows, notes)]
