"""Our learners of counts beside llp-learn's, on the same problems.

Settings are the defaults; these were decided on the development tables. The network is shown
without smoothing, too. Rows of llp-learn and of the smoothed network come from the benchmarks
`rivals` and `smoothed`.
"""

from benchmarks._measure import cpu_timed
from benchmarks._store import Store
from benchmarks._tables import RESULTS
from benchmarks.counts._contest import (
    figures,
    joined,
    leaderboard,
    methods,
    places,
    problem,
    problems,
)
from mixedbag.aggregate import (
    AggregateEasyLLPClassifier,
    AggregateForestClassifier,
    AggregateGradientBoostingClassifier,
    AggregateKNeighborsClassifier,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregateMLPClassifier,
    AggregateRBFClassifier,
    AggregateRidgeClassifier,
)

cases = problems
TINY = {"data": "ionosphere", "kind": "random 32", "seed": 0}


def learners(seed):
    return {
        "logistic": AggregateLogisticRegression(),
        "network": AggregateMLPClassifier(smoothing=0.0, random_state=seed),
        "boosting": AggregateGradientBoostingClassifier(),
        "forest": AggregateForestClassifier(random_state=seed),
        "radial bases": AggregateRBFClassifier(random_state=seed),
        "neighbours": AggregateKNeighborsClassifier(),
        "MeanMap": AggregateMeanMapClassifier(),
        "EasyLLP": AggregateEasyLLPClassifier(),
        "ridge": AggregateRidgeClassifier(),
    }


def run(case):
    bags, counts, new, truth = problem(case)
    result = {}
    for name, learner in learners(case["seed"]).items():
        model, seconds = cpu_timed(lambda learner=learner: learner.fit(bags, counts))
        result |= figures(name, truth, model.predict_proba_instances(new)[:, 1], seconds)
    return result


def found(benchmark):
    """What another benchmark found of the same problems, as far as it was run."""
    return [row.figures for row in Store(RESULTS / "counts.jsonl").latest(benchmark).values()]


def table(rows):
    ours = joined(rows, found("smoothed"))
    both = joined(ours, found("rivals"))
    together = [leaderboard(both, "Ours and llp-learn's, by place")] if both else []
    return [*together, leaderboard(ours or rows, "Ours among themselves")]


def check(rows):
    ours = joined(rows, found("smoothed"))
    both = joined(ours, found("rivals"))
    names = methods(both)
    place = places(both, names)
    mean, error = place.mean(axis=0), place.std(axis=0, ddof=1) / len(both) ** 0.5
    ours = min(methods(ours), key=lambda name: mean[names.index(name)])
    k = names.index(ours)
    assert mean[k] <= mean.min() + error[k], (
        f"{ours} is at {mean[k]:.2f}, the best {mean.min():.2f}"
    )
