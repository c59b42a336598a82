"""Where the steepness of `known_link` was chosen: bags mixed of other activities, of all people.

Bags as in `mixed`, of activities that it does not ask for (sitting at a computer, talking while
standing). Nothing here is a result about methods: it is where they were made.
"""

import numpy as np
from scipy.stats import wilcoxon

from benchmarks._tables import Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._averaged import FIGURES, MODELS, mean_of_models
from benchmarks.arhmm._purity import of_joined

ACTIVITIES = (1, 7)
OMEGAS = (None, 4.0)  # None: learned
TINY = {"person": "1", "activity": 1, "mixture": "1 of 4", "omega": 4.0}


def cases():
    return [
        {"person": person, "activity": activity, "mixture": mixture, "omega": omega}
        for mixture in ("1 of 4",)
        for person in mixed.PEOPLE
        for activity in ACTIVITIES
        for omega in OMEGAS
    ]


def run(case):
    """Areas by bags and by samples; the first of three folds."""
    problem = {key: case[key] for key in ("person", "activity", "mixture")}
    return mean_of_models(problem, n_folds=1, omega=case["omega"])


def table(rows):
    lines = []
    for (mixture, omega), mine in grouped(rows, "mixture", "omega").items():
        line = {"own stretches": mixture, "ω": "learned" if omega is None else f"{omega:g}"}
        line |= {"problems": len(mine), "purity": of_joined(mine)}
        for figure in FIGURES:
            line[figure] = float(np.mean([row[figure] for row in mine]))
            line[f"{figure}: above learned for"] = above(rows, mine, figure)
        lines.append(line)
    return [Table("Areas under the curve by the steepness of the link", lines, NOTES)]


def above(rows, mine, figure):
    """For how many people, and the p of a signed-rank test over people."""
    learned = {problem(row): row[figure] for row in rows if row["omega"] is None}
    gains = [
        np.mean([row[figure] - learned[problem(row)] for row in some if problem(row) in learned])
        for some in grouped(mine, "person").values()
    ]
    if mine[0]["omega"] is None or len(gains) < 2 or not np.any(gains):
        return ""
    return f"{sum(g > 0 for g in gains)} of {len(gains)}, p {wilcoxon(gains).pvalue:.2g}"


def problem(row):
    return row["person"], row["activity"], row["mixture"]


NOTES = (
    f"The mean of {MODELS} models, otherwise as in `several`; the first of three folds of each "
    "problem. Why a learned ω stays near 0: under a steep "
    "link the states of both sides need θ of about e^−ω, and the prior of θ, four steps of an "
    "average bag for each state, charges more for that than labels of forty bags can bring, which "
    "is 28 nats. A known ω has a prior of e^−ω times as many steps."
)
