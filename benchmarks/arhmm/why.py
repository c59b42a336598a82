"""What ARHMM-MIL loses, and where: true parameters, known labels, the search, and the criterion.

In the sampled worlds of `own_world` an ARHMM makes the series, and its own parameters tell every
sample as well as anything can. From there on one thing after the other is taken away: the
parameters are learned from training samples whose labels are known; or by ARHMM-MIL from labels of
bags, climbing from the true parameters; or climbing from starts that know nothing. On recorded bags
the first and the third cannot be had: nobody knows a true parameter there.
"""

from dataclasses import replace

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store, case_key
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._own_world import (
    MIXTURE,
    SWITCH,
    World,
    areas,
    by_posterior,
    problem,
    problems,
)
from benchmarks.arhmm._purity import of_joined
from benchmarks.arhmm.stretches import LENGTH
from mixedbag.sequence import ARHMMClassifier
from mixedbag.sequence._direct import fit_labels
from mixedbag.sequence._start import LABEL_ITERATIONS

SEVERAL = 10
TRUE = "the world's own parameters"
TOLD = "learned from samples of known labels"
CLIMBED = "ARHMM-MIL from the world's own parameters"
ONE, HIGHEST = "ARHMM-MIL", f"ARHMM-MIL, highest of {SEVERAL}"
MEAN = f"ARHMM-MIL, mean of {SEVERAL}"
FOREST = "quantiles, MI-Forest"
TINY = {"world": "sampled", "activity": 4, "person": "1"}


def cases():
    return problems()


def run(case):
    """Areas by bags and by samples, and log posterior densities of models; means of three folds."""
    bags, y, truth, world = problem(case)
    found, nats = {}, {}
    for train, test in StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0).split(y, y):
        samples = np.concatenate([truth[i] for i in test])
        told = World(bags[train], [truth[i] for i in train])
        scores = {TOLD: by_posterior(told, bags[test])}
        if world is not None:
            scores[TRUE] = by_posterior(world, bags[test])
        for name, model in learners(bags[train], y[train], world).items():
            scores[name] = model.decision_function(bags[test]), model._positive(bags[test])
            nats.setdefault(name, []).append(density(model, bags[train]))
        for name, pair in scores.items():
            found.setdefault(name, []).append(areas(y[test], samples, *pair))
    return {
        "areas": {name: np.mean(pairs, axis=0).tolist() for name, pairs in found.items()},
        "nats": {name: float(np.mean(values)) for name, values in nats.items()},
    }


def learners(bags, y, world):
    """ARHMM-MIL fitted in several ways."""
    found = {
        ONE: settled().fit(bags, y),
        HIGHEST: settled(n_init=SEVERAL).fit(bags, y),
        MEAN: settled(n_models=SEVERAL).fit(bags, y),
    }
    if world is not None:
        found[CLIMBED] = climbed(settled().fit(bags, y), bags, y, world)
    return found


def settled(**more):
    fixed = {"order": ORDER, "stretch": LENGTH, "max_iter": 6, "n_init": 1, "random_state": 0}
    return ARHMMClassifier(STATES, **fixed | more)


def climbed(learner, bags, y, world):
    """The learner with the model that EM reaches from the world's own parameters."""
    blocks = learner._cut(bags, np.where(y, 1.0, -1.0), np.ones(len(y)))
    start = replace(world.together(SWITCH), rate=float(np.mean(y)))
    learner._climb(blocks, fit_labels(blocks, start, LABEL_ITERATIONS), learner)
    return learner


def density(model, bags):
    """The log posterior density that EM maximises, of series in the units they came in."""
    steps = (bags.sizes - model.order).sum()
    return float(model.objective_[-1] - steps * np.log(model.scale_).sum())


def table(rows):
    rows = with_forest(rows)
    lines = []
    for (activity, world), mine in grouped(rows, "activity", "world").items():
        for name in (TRUE, TOLD, CLIMBED, ONE, HIGHEST, MEAN, FOREST):
            some = [row for row in mine if name in row["areas"]]
            if some:
                told = {"activity": mixed.ACTIVITIES[activity], "world": world}
                told |= {"purity": of_joined(some, mixture=MIXTURE), "method": name}
                lines.append(told | figures(some, name))
    return [Table("Mean areas under the curve", lines, NOTES)]


def with_forest(rows):
    """The areas of the forest on the same bags and folds, from `own_world` and `mixed`."""
    store = Store(RESULTS / "arhmm.jsonl")
    sampled, recorded = store.latest("own_world"), store.latest("mixed")
    for row in rows:
        problem = {key: row[key] for key in ("activity", "person")}
        if row["world"] == "sampled":
            areas = sampled[case_key(problem | {"world": "sampled"})].result["areas"][FOREST]
        else:
            result = recorded[case_key(problem | {"mixture": MIXTURE})].result
            areas = [result[level][FOREST] for level in mixed.LEVELS]
        row["areas"][FOREST] = areas
    return rows


def figures(rows, name):
    found = {"people": len(rows)}
    for k, level in enumerate(("bags", "samples")):
        found[level] = float(np.mean([row["areas"][name][k] for row in rows]))
    if name in (ONE, HIGHEST) and CLIMBED in rows[0]["nats"]:
        higher = [row["nats"][name] - row["nats"][CLIMBED] for row in rows]
        found["density above the climb from the truth (nats)"] = float(np.mean(higher))
        found["above for"] = f"{sum(h > 0 for h in higher)} of {len(higher)}"
    return found


NOTES = (
    f"Areas over people, three folds each; a positive bag has {MIXTURE} stretches of the activity. "
    f"ARHMM-MIL has {STATES} states and order {ORDER}; all bags but the forest's are judged by "
    f"their best {LENGTH} samples in a row. '{TRUE}': the posterior probability under the model "
    "that made the series, which no score of samples can beat on average (the lemma of Neyman and "
    f"Pearson). '{TOLD}': the same two ARHMMs of {STATES // 2} states, fitted to the samples of "
    f"the training bags with their own labels, which ARHMM-MIL is never told. '{CLIMBED}': EM on "
    "labels of bags, as always, but from the parameters that made the series. Density: the log "
    "posterior density of the training bags, which EM maximises, a mean over folds.\n\n"
    "**What it shows.** (1) The true parameters tell nearly all: the model is able. (2) With the "
    "labels of all samples known, forty bags bring the parameters only so close: the first loss is "
    "one of estimation. (3) EM on labels of bags from the truth ends about as well: they would be "
    "enough, if EM began there. (4) From starts that know nothing it ends lower, for some people "
    f"by far, and the density is a poor guide: that of the highest of {SEVERAL} starts is below "
    "the climb's from the truth for most who walk and above it for most who stand, where the areas "
    "fall most. All labels of the training bags together are worth 40 log 2 = 28 nats, and "
    "densities of series differ by hundreds: one fitted ARHMM-MIL may lose to a forest there, "
    "though no score beats its true parameters. (5) Averaging over starts, which chooses none, "
    "wins back about half of that or more, and is ahead of the forest in its own world, by bags "
    "and by samples.\n\n"
    "**Why ARHMM-MIL is not first by bags on what people do** (the target, missed in `several`). "
    "On recorded bags the two ARHMMs that are told the label of every sample are hardly ahead of "
    "MI-Forest on quantiles by bags, which is told none. What two ARHMMs of this kind can learn "
    "from forty bags ends there; to be first, ARHMM-MIL would have to lose next to nothing by "
    "learning from labels of bags alone, and even in its own world, where the model is true, it "
    "loses four to ten times that. By samples the told ones are ahead by more, and there "
    "ARHMM-MIL is ahead of all forests on quantiles (`several`). It is evidence, not a theorem: of "
    "this model, these people, forty bags. What it bounds is two ARHMMs that judge by their "
    "likelihood: a forest that reads the states of ten models learns from labels of bags what the "
    "told ones know, and is first in both (`states`, `readings`).\n\n"
    "**What it does not show.** Whether another criterion would find the better start: the density "
    "holds the priors of the states, in units that differ a little between the two (some tens of "
    "nats), and in one fold that was looked at the likelihood alone was larger after the climb "
    "from the truth. Nor what levels beside the autoregressions (`level=1` in `several`) would "
    "add to those that are told."
)
