"""How long the disjunctive program takes, beside HiGHS's own mixed-integer solver.

CPU seconds of one thread (the machine may be shared). MUSK1 folds, inputs standardised, C = 1,
sigma = 9; λ = 7 with 30 positive bags for DPBoost.
"""

import time

import highspy
import numpy as np

from benchmarks._tables import Table, only
from benchmarks.thesis._disjunctive import fit_on_cpu_time, fold_of, gamma_of
from benchmarks.thesis.synthetic import SHARED, make_bags
from mixedbag.disjunctive import DPBoost, ExactBagMarginSVC, LNPBoost, SparseBagMarginSVC
from mixedbag.disjunctive._features import LinearFeatures

PATIENCE = 3.2  # HiGHS's MILP is stopped after this many times our own time
TINY = {"part": "dpboost", "seed": 0}


def cases():
    return [
        *({"part": "learners", "fold": k} for k in range(10)),
        *({"part": "exact", "fold": k} for k in range(10)),
        *({"part": "dpboost", "seed": seed} for seed in range(3)),
    ]


def run(case):
    if case["part"] == "dpboost":
        bags, y, _ = make_bags(np.random.default_rng(case["seed"]), 30, 7)
        model = DPBoost(**SHARED)
        return {"CPU s": fit_on_cpu_time(model, bags, y), "gap": model.gap_}
    train, y, _, _ = fold_of("musk1", case["fold"])
    return (learners if case["part"] == "learners" else exact)(train, y)


def learners(train, y):
    rbf = {"features": "rbf", "gamma": gamma_of("musk1"), "random_state": 0}
    row = {
        "1-norm MI-SVM, linear": fit_on_cpu_time(SparseBagMarginSVC(random_state=0), train, y),
        "1-norm MI-SVM, rbf": fit_on_cpu_time(SparseBagMarginSVC(**rbf), train, y),
    }
    model = LNPBoost(n_rounds=50, tol=0.0, gap_tol=0.1, n_init=10, **rbf)
    total = fit_on_cpu_time(model, train, y)
    gaps = 1 - model.history_[:, 1] / model.history_[:, 2]
    reached = model.history_[np.flatnonzero(gaps <= 0.2)[:1], 0]
    row["LNPBoost rbf to a gap of 20%"] = float(reached[0]) if len(reached) else None
    row["LNPBoost rbf to a gap of 10%"], row["its gap"] = total, model.gap_
    return row


def exact(train, y):
    model = ExactBagMarginSVC(fit_intercept=False, random_state=0, time_limit=300)
    seconds = fit_on_cpu_time(model, train, y)
    program = model._program(LinearFeatures(train.n_features), train, 2.0 * y - 1, np.ones(len(y)))
    milp, low, high = big_m(program, model.upper_bound_, PATIENCE * seconds)
    return {
        "CPU s": seconds,
        "objective": model.upper_bound_,
        "gap": model.gap_,
        "nodes": model.n_nodes_,
        "HiGHS MILP CPU s": milp,
        "HiGHS MILP gap": (high - low) / high if np.isfinite(high) else 1.0,
    }


def big_m(program, upper, limit):
    """The same program as a MILP: (CPU seconds, lower, upper) of HiGHS."""
    m, e = program.n_features, program.n_examples
    positives = np.concatenate(program.bags)
    rows = np.concatenate([positives, program.negatives])
    width = 2 * m + e + len(positives)
    matrix = np.zeros((len(rows) + len(program.bags), width))
    matrix[: len(rows), : 2 * m] = program.full_rows(rows)
    matrix[np.arange(len(rows)), 2 * m + program.example[rows]] = 1.0
    # |<w, x>| <= ‖w‖₁ max|x| <= upper max|x| switches a row off.
    big = 1.0 + upper * np.abs(program.values[positives]).max(axis=1)
    k = np.arange(len(positives))
    matrix[k, 2 * m + e + k] = -big
    lower = np.concatenate([1.0 - big, np.ones(len(rows) - len(k)), np.ones(len(program.bags))])
    matrix[len(rows) + program.example[positives], 2 * m + e + k] = 1.0
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = width, len(lower)
    lp.col_cost_ = np.concatenate([np.ones(2 * m), program.slack_cost, np.zeros(len(k))])
    lp.col_lower_ = np.zeros(width)
    lp.col_upper_ = np.concatenate([np.full(2 * m + e, highspy.kHighsInf), np.ones(len(k))])
    lp.row_lower_, lp.row_upper_ = lower, np.full(len(lower), highspy.kHighsInf)
    i, j = np.nonzero(matrix)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.searchsorted(i, np.arange(len(lower) + 1))
    lp.a_matrix_.index_, lp.a_matrix_.value_ = j, matrix[i, j]
    kinds = [highspy.HighsVarType.kContinuous] * (2 * m + e)
    lp.integrality_ = kinds + [highspy.HighsVarType.kInteger] * len(k)
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1)):
        solver.setOptionValue(option, value)
    solver.setOptionValue("mip_rel_gap", 1e-6)
    solver.passModel(lp)
    start = time.process_time()

    def stop_late(event):  # HiGHS's own limit counts seconds of the wall
        if time.process_time() - start > limit:
            event.interrupt()

    solver.cbMipInterrupt += stop_late
    solver.cbSimplexInterrupt += stop_late
    solver.run()
    seconds = time.process_time() - start
    info = solver.getInfo()
    return seconds, info.mip_dual_bound, info.objective_function_value


def table(rows):
    return [
        Table("MUSK1, CPU seconds a fold", only(rows, part="learners")),
        Table(
            "MUSK1 linear, no bias: proven optimal",
            only(rows, part="exact"),
            f"HiGHS solves the big-M form of the same program, in the same run, and is stopped "
            f"after {PATIENCE} times our seconds: a gap left there means that it is slower than "
            "that.",
        ),
        Table("DPBoost, λ = 7, 30 positive bags", only(rows, part="dpboost")),
    ]
