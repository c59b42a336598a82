"""SBoost against the naive tree and naive AdaBoost: errors on sessions, and errors against rounds.

Table 3 and Figure 4 of the session-based learning paper. The text that is left of it has lost its
digits, so no printed error can stand beside ours; the comparison it makes (SBoost below the tree on
every set, AdaBoost overfitting with more rounds) can be checked all the same.
"""

import numpy as np
from scipy.stats import ttest_rel
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks._measure import picture
from benchmarks._tables import Table, plus_minus
from mixedbag import Bags
from mixedbag.boosting import SBoost
from mixedbag.datasets import load, make_sessions
from mixedbag.wrappers import SpreadLabels

N_ROUNDS = 50
TREES = {
    "tree of depth 3": {"max_depth": 3},
    "deep tree (5 rows a leaf)": {"min_samples_leaf": 5},
}
NAMES = ("spambase", "cmc", "german", "chest")
N_TRAIN, N_TEST = 100, 200  # sessions
BOOSTERS = {"AdaBoost": 0.0, "SBoost": "split"}  # and their γ
TINY = {"base": "tree of depth 3", "set": "german", "repetitions": 2}


def cases():
    return [{"base": tree, "set": name, "repetitions": 10} for tree in TREES for name in NAMES]


def lacks(row):
    """Rows from before curves were kept."""
    return "curves" not in row.result


def run(case):
    runs = [errors(case["set"], case["base"], seed) for seed in range(case["repetitions"])]
    curves = {method: np.mean([run[method] for run in runs], axis=0) for method in BOOSTERS}
    final = {
        "SBoost": np.array([run["SBoost"][-1] for run in runs]),
        "AdaBoost": np.array([run["AdaBoost"][-1] for run in runs]),
        "tree": np.array([run["tree"] for run in runs]),
    }
    row = {"sessions": runs[0]["sessions"]}
    row |= {method: plus_minus(e.mean(), e.std(ddof=1)) for method, e in final.items()}
    for other in ("AdaBoost", "tree"):
        row[f"p against {other}"] = f"{ttest_rel(final['SBoost'], final[other]).pvalue:.2g}"
    row["median γ"] = float(np.median([run["gamma"] for run in runs]))
    row["rounds"] = {method: places(curve) for method, curve in curves.items()}
    row["curves"] = {method: np.round(curve, 3).tolist() for method, curve in curves.items()}
    return row


def places(curve):
    best = int(curve.argmin())
    return {
        "after 1": float(curve[0]),
        "after 5": float(curve[4]),
        "lowest": float(curve[best]),
        "at round": best + 1,
        "at the end": float(curve[-1]),
    }


def errors(name, tree, seed):
    """Test errors (%) of the three methods; of the boosters, after every round."""
    (bags, y), (test, truth) = sessions(name, seed)
    base = DecisionTreeClassifier(random_state=seed, **TREES[tree])
    result = {"sessions": f"{len(bags)} + {len(test)}"}
    naive = SpreadLabels(base, rule="majority").fit(bags, y)
    result["tree"] = 100 * float((naive.predict(test) != truth).mean())
    for method, gamma in BOOSTERS.items():
        model = SBoost(
            base, gamma=gamma, n_rounds=N_ROUNDS, sample="leaf" in tree, random_state=seed
        )
        model.fit(bags, y)
        curve = [100 * float((labels != truth).mean()) for labels in model.staged_predict(test)]
        result[method] = curve + [curve[-1]] * (N_ROUNDS - len(curve))
    result["gamma"] = model.gamma_
    return result


def sessions(name, seed):
    """Training and test sessions: (bags, labels) twice."""
    if name == "chest":
        bags, y = walking_sessions(seed)
        halves = train_test_split(
            np.arange(len(bags)), test_size=0.5, stratify=y, random_state=seed
        )
        return [(bags[half], y[half]) for half in halves]
    table = load(name)
    y = (table.y > 1).astype(int) if name == "cmc" else table.y
    rng = np.random.RandomState(seed)
    rows = [rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    size = min(map(len, rows)) // 2
    halves = [np.concatenate([r[start : start + size] for r in rows]) for start in (0, size)]
    made = [
        make_sessions(table.X[half], y[half], n, replace=True, random_state=rng)
        for half, n in zip(halves, (N_TRAIN, N_TEST))
    ]
    return [(data.bags, data.y) for data in made]


def walking_sessions(seed):
    """One-minute sessions of one-second records (mean and deviation of each axis): walking or not.

    Negative sessions are drawn down to the number of positive ones, as in the paper.
    """
    second, minute = 52, 60
    cut = load("chest").bags_of(size=second * minute)
    motion = cut.bags.instances.reshape(len(cut.bags), minute, second, 3)
    records = np.concatenate([motion.mean(axis=2), motion.std(axis=2)], axis=2)
    walking = np.flatnonzero(cut.y == 4)
    others = np.random.RandomState(seed).permutation(np.flatnonzero(cut.y != 4))
    chosen = np.concatenate([walking, others[: len(walking)]])
    return Bags.from_list(records[chosen]), (cut.y[chosen] == 4).astype(int)


def table(rows):
    hidden = ("rounds", "curves", "repetitions")
    final = [{key: value for key, value in row.items() if key not in hidden} for row in rows]
    rounds = [
        {"base": row["base"], "set": row["set"], "method": method} | found
        for row in rows
        for method, found in row["rounds"].items()
    ]
    return [
        Table("Session error (%)", final, NOTES),
        Table(
            "Test error (%) against rounds",
            rounds,
            "A booster overfits where the error at the end is well above the lowest on its way.",
        ),
    ]


def publish(rows, folder):
    """Errors against rounds, when all curves are known."""
    if len(rows) < len(cases()) or not all("curves" in row for row in rows):
        return
    with picture(folder / "rounds.png", len(TREES), len(NAMES), figsize=(12, 5), sharex=True) as (
        _,
        axes,
    ):
        for axis, row in zip(axes.flat, rows):
            for method, curve in row["curves"].items():
                axis.plot(1 + np.arange(len(curve)), curve, label=method)
            tree = float(row["tree"].split()[0])
            axis.axhline(tree, color="grey", linestyle=":", label="tree")
            axis.set_title(f"{row['set']}, {row['base'].split(' (')[0]}", fontsize=9)
        axes[0, 0].legend(fontsize=8)
        for axis in axes[-1]:
            axis.set_xlabel("rounds")
        for axis in axes[:, 0]:
            axis.set_ylabel("session error (%)")


NOTES = (
    "Rows are split in half, the larger class cut to the size of the smaller, and sessions of ten "
    "drawn from each half (a row may be in several): six to nine rows of the session's class, the "
    "others of the other class. 100 sessions train, 200 test; ten repetitions; mean session error "
    "in % and its standard deviation. cmc has three classes: 'no use' against the two kinds of "
    "use. chest: one-minute sessions, walking or not, half of them for training. γ is chosen among "
    "¼, ½, 1, 2, 4 on a fifth of the training sessions. AdaBoost (γ = 0) and SBoost train the same "
    "trees: weighted for depth 3; drawn by weight, as in the paper, for deep trees, which fit "
    "almost all training rows otherwise. p: paired t-tests over the repetitions (which share rows, "
    "so take them as a guide)."
)
