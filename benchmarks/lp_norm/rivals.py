"""Boosting beside rivals in one run: LightGBM's plain stumps, and Weka's MIBoost.

Both are optional: their figures appear when they are installed.
"""

import re
import resource

from benchmarks._measure import cpu_timed, relational_arff, timed, weka
from benchmarks._tables import Table, only
from benchmarks.lp_norm.table_2 import BOOSTERS, synthetic, warm_up

WEKA_ROUNDS = 10  # its default
LIGHTGBM = "LightGBM, stumps on spread labels"
WEKA = "Weka MIBoost, DecisionStump"
TINY = {"part": "weka", "learner": "ExpReg", "bags": 200}


def cases():
    return [
        *({"part": "weka", "learner": name, "bags": 5_000} for name in (*BOOSTERS, WEKA)),
        *({"part": "large", "learner": n, "instances": 1_000_000} for n in ("ExpReg", LIGHTGBM)),
    ]


def run(case):
    warm_up()
    if case["part"] == "weka":
        return beside_weka(case["learner"], *synthetic(case["bags"], 10, 50))
    bags, y = synthetic(case["instances"] // 10, 10, 50)
    return stumps(bags, y) if case["learner"] == LIGHTGBM else ours(bags, y)


def beside_weka(learner, bags, y):
    if learner != WEKA:
        booster = BOOSTERS[learner](n_rounds=WEKA_ROUNDS)
        return {"seconds": min(timed(lambda: booster.fit(bags, y))[1] for _ in range(3))}
    with relational_arff(bags, y) as path:
        options = ["-t", path, "-no-cv", "-R", WEKA_ROUNDS, "-B", 0]
        stump = ["-W", "weka.classifiers.trees.DecisionStump"]
        found = weka(["weka.classifiers.mi.MIBoost", *options, *stump])
    if not found:
        return {}
    return {"seconds": float(re.search(r"build model: ([\d.]+) seconds", found[0]).group(1))}


def ours(bags, y):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, one = cpu_timed(lambda: BOOSTERS["ExpReg"](n_rounds=1).fit(bags, y))
    _, total = cpu_timed(lambda: BOOSTERS["ExpReg"](n_rounds=100).fit(bags, y))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    a_round = (total - one) / 99
    times = {"preparation (s)": one - a_round, "100 rounds (s)": 100 * a_round, "total (s)": total}
    return times | {"peak memory / data": grown / bags.instances.nbytes}


def stumps(bags, y):
    try:
        import lightgbm
    except ImportError:
        return {}
    options = {"objective": "binary", "num_leaves": 2, "max_bin": 255}
    options |= {"num_threads": 1, "verbose": -1}
    data = lightgbm.Dataset(bags.instances, bags.spread(y).astype(float), params=options)
    _, prepared = cpu_timed(data.construct)
    _, trained = cpu_timed(lambda: lightgbm.train(options, data, 100))
    times = {"preparation (s)": prepared, "100 rounds (s)": trained}
    return times | {"total (s)": prepared + trained}


def table(rows):
    small, large = only(rows, part="weka"), only(rows, part="large")
    for some, rival, field, title in (
        (small, WEKA, "seconds", "times faster"),
        (large, LIGHTGBM, "total (s)", "LightGBM / ours"),
    ):
        theirs = {row["learner"]: row.get(field) for row in some}.get(rival)
        for row in some if theirs else ():
            if row["learner"] != rival:
                row[title] = theirs / row[field]
    return [
        Table(
            f"Weka: bags of 10 × 50, {WEKA_ROUNDS} rounds, preparation included",
            small,
            "Wall-clock seconds; Weka's own 'time taken to build model', reading not included.",
        ),
        Table(
            "Instances × 50 features in bags of ten, one thread, 255 bins",
            large,
            "Seconds of processor time. Peak memory is what the process grew by beyond its earlier "
            "peak, over the size of the instances.",
        ),
    ]
