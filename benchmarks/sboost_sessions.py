"""SBoost against the naive tree and naive AdaBoost: errors on sessions, and errors against rounds.

Table 3 and Figure 4 of the session-based learning paper. The text that is left of it has lost its
digits, so no printed error can stand beside ours; the comparison it makes (SBoost below the tree on
every set, AdaBoost overfitting with more rounds) can be checked all the same.
"""

import numpy as np
from scipy.stats import ttest_rel
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks._boosting_runs import memory
from benchmarks.common import RESULTS, Table
from mixedbag import Bags
from mixedbag.boosting import SBoost
from mixedbag.datasets import load, make_sessions
from mixedbag.wrappers import SpreadLabels

N_ROUNDS = 50
REPETITIONS = 10
TREES = {
    "tree of depth 3": {"max_depth": 3},
    "deep tree (5 rows a leaf)": {"min_samples_leaf": 5},
}
N_TRAIN, N_TEST = 100, 200  # sessions
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


@memory.cache
def errors(name, tree, seed, n_rounds):
    """Test errors of the three methods; of the boosters, after every round."""
    (bags, y), (test, truth) = sessions(name, seed)
    base = DecisionTreeClassifier(random_state=seed, **TREES[tree])
    result = {"sessions": f"{len(bags)} + {len(test)}"}
    naive = SpreadLabels(base, rule="majority").fit(bags, y)
    result["tree"] = float((naive.predict(test) != truth).mean())
    for method, gamma in (("AdaBoost", 0.0), ("SBoost", "split")):
        model = SBoost(
            base, gamma=gamma, n_rounds=n_rounds, sample="leaf" in tree, random_state=seed
        )
        model.fit(bags, y)
        curve = [float((labels != truth).mean()) for labels in model.staged_predict(test)]
        result[method] = curve + [curve[-1]] * (n_rounds - len(curve))
    result["gamma"] = model.gamma_
    return result


def run(quick):
    names = ("german",) if quick else ("spambase", "cmc", "german", "chest")
    repetitions, n_rounds = (2, 10) if quick else (REPETITIONS, N_ROUNDS)
    rows, curves = [], {}
    for tree in TREES:
        for name in names:
            runs = [errors(name, tree, seed, n_rounds) for seed in range(repetitions)]
            final = {
                "SBoost": np.array([run["SBoost"][-1] for run in runs]),
                "AdaBoost": np.array([run["AdaBoost"][-1] for run in runs]),
                "tree": np.array([run["tree"] for run in runs]),
            }
            rows.append(
                {"base": tree, "set": name, "sessions": runs[0]["sessions"]}
                | {
                    method: f"{100 * e.mean():.1f} ± {100 * e.std(ddof=1):.1f}"
                    for method, e in final.items()
                }
                | {
                    f"p against {other}": f"{ttest_rel(final['SBoost'], final[other]).pvalue:.2g}"
                    for other in ("AdaBoost", "tree")
                }
                | {"median γ": float(np.median([run["gamma"] for run in runs]))}
            )
            curves[tree, name] = {
                method: np.mean([run[method] for run in runs], axis=0)
                for method in ("AdaBoost", "SBoost")
            } | {"tree": final["tree"].mean()}
    if not quick:
        plot(curves)
    return [Table("Session error (%)", rows, NOTES), rounds_table(curves)]


def rounds_table(curves):
    rows = []
    for (tree, name), found in curves.items():
        for method in ("AdaBoost", "SBoost"):
            curve = 100 * found[method]
            best = int(curve.argmin())
            rows.append(
                {
                    "base": tree,
                    "set": name,
                    "method": method,
                    "after 1": float(curve[0]),
                    "after 5": float(curve[min(4, len(curve) - 1)]),
                    "lowest": float(curve[best]),
                    "at round": best + 1,
                    "at the end": float(curve[-1]),
                }
            )
    return Table(
        "Test error (%) against rounds",
        rows,
        "A booster overfits where the error at the end is well above the lowest on its way.",
    )


def plot(curves):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(name for _, name in curves))
    figure, axes = plt.subplots(
        len(TREES), len(names), figsize=(3 * len(names), 5), sharex=True, layout="constrained"
    )
    for row, tree in zip(axes, TREES):
        for axis, name in zip(row, names):
            found = curves[tree, name]
            for method in ("AdaBoost", "SBoost"):
                axis.plot(1 + np.arange(len(found[method])), 100 * found[method], label=method)
            axis.axhline(100 * found["tree"], color="grey", linestyle=":", label="tree")
            axis.set_title(f"{name}, {tree.split(' (')[0]}", fontsize=9)
    axes[0, 0].legend(fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("rounds")
    for axis in axes[:, 0]:
        axis.set_ylabel("session error (%)")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "sboost_rounds.png", dpi=110)
    plt.close(figure)
