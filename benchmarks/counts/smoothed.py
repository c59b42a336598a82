"""The network of counts as it is by default, smoothed, on the problems of `side_by_side`."""

from benchmarks._measure import cpu_timed
from benchmarks.counts._contest import figures, leaderboard, problem, problems
from mixedbag.aggregate import AggregateMLPClassifier

cases = problems
TINY = {"data": "ionosphere", "kind": "random 32", "seed": 0}


def run(case):
    bags, counts, new, truth = problem(case)
    learner = AggregateMLPClassifier(random_state=case["seed"])
    model, seconds = cpu_timed(lambda: learner.fit(bags, counts))
    return figures("smoothed network", truth, model.predict_proba_instances(new)[:, 1], seconds)


def table(rows):
    return [leaderboard(rows, "The smoothed network")]
