"""The network of counts as it is by default, smoothed, on the problems of `side_by_side`."""

import numpy as np

from benchmarks._measure import cpu_timed
from benchmarks._tables import Table
from benchmarks.counts._contest import FIGURES, figures, problem, problems
from mixedbag.aggregate import AggregateMLPClassifier

NAME = "smoothed network"
cases = problems
TINY = {"data": "ionosphere", "kind": "random 32", "seed": 0}


def run(case):
    bags, counts, new, truth = problem(case)
    learner = AggregateMLPClassifier(random_state=case["seed"])
    model, seconds = cpu_timed(lambda: learner.fit(bags, counts))
    return figures(NAME, truth, model.predict_proba_instances(new)[:, 1], seconds)


def table(rows):
    means = {name: float(np.mean([row[f"{NAME}: {name}"] for row in rows])) for name in FIGURES}
    note = f"{len(rows)} problems; its place among other methods is in `side_by_side`."
    return [Table("The smoothed network", [{"method": NAME} | means], note)]
