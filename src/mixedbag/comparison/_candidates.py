"""The learners that suit a rule and the data, each ready to fit with its preparation and grid."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mixedbag.comparison._baselines import Offer, baselines
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners
from mixedbag.wrappers import InstanceWise

# Learners of sums and counts learn means and shares too: they are told so.
_SUM_OF = {"mean": "sum", "proportion": "count"}


@dataclass(frozen=True)
class Candidate:
    """A learner with the preparation it needs, and the settings to try.

    `is_slow` marks those known to take their time: they begin when the others are done.
    """

    name: str
    estimator: BaseEstimator
    grid: dict = field(default_factory=dict)
    is_slow: bool = False


def find_candidates(rule, bags, names=None, random_state=0):
    """Every learner for `rule` that can digest `bags`, and why the others cannot.

    Parameters
    ----------
    rule : str
    bags : Bags
    names : sequence of str, optional
        Only learners whose name contains one of these, whatever the case.
    random_state : int

    Returns
    -------
    candidates : list of Candidate
    skipped : dict
        Name of the learner to the reason.
    """
    skipped = {}
    offers = [*baselines(rule), *_own_learners(rule, skipped)]
    if names is not None:
        offers = _named(offers, names, rule)
    candidates = []
    for offer in offers:
        if bags.is_sparse and not _first(offer.learner)._accepts_sparse:
            skipped[offer.name] = "needs dense data, and these are sparse"
            continue
        estimator = Pipeline([*_preparation(offer, bags), ("learner", offer.learner)])
        seeds = [name for name in estimator.get_params() if name.endswith("random_state")]
        estimator.set_params(**dict.fromkeys(seeds, random_state))
        grid = {f"learner__{key}": list(values) for key, values in offer.grid.items()}
        candidates.append(Candidate(offer.name, estimator, grid, _is_slow(offer.learner)))
    return candidates, skipped


def _own_learners(rule, skipped):
    """The package's own learners for a rule."""
    told = {"aggregate": "mean"} if rule in _SUM_OF else {}
    rule = _SUM_OF.get(rule, rule)
    kinds = [kind for kind in all_learners(broken=skipped) if rule in kind._rules]
    return [
        Offer(kind.__name__, kind(**told), dict(kind._search_space), kind._needs_scaling)
        for kind in kinds
        if kind._compared
    ]


def _is_slow(learner):
    """Learners that solve mathematical programs take their time."""
    return type(learner).__module__.startswith("mixedbag.disjunctive")


def _named(offers, names, rule):
    """Offers called exactly like one of `names`, whatever the case, or else containing it."""
    chosen = set()
    for wanted in names:
        if not wanted.strip():
            raise InputError("the name of a learner is empty")
        found = [o.name for o in offers if o.name.lower() == wanted.lower()]
        found = found or [o.name for o in offers if wanted.lower() in o.name.lower()]
        if not found:
            known = ", ".join(offer.name for offer in offers)
            raise InputError(f"no learner for the rule {rule!r} is called {wanted!r}: {known}")
        chosen.update(found)
    return [offer for offer in offers if offer.name in chosen]


def _preparation(offer, bags):
    """Steps that fill gaps and scale features, where the data and the learner need them."""
    steps = []
    values = bags.instances.data if bags.is_sparse else bags.instances
    if np.isnan(values).any() and not _first(offer.learner)._accepts_nan:
        steps.append(("impute", InstanceWise(SimpleImputer(strategy="median"))))
    if offer.scaled:
        scaler = MaxAbsScaler() if bags.is_sparse else StandardScaler()
        steps.append(("scale", InstanceWise(scaler)))
    return steps


def _first(learner):
    return learner.steps[0][1] if isinstance(learner, Pipeline) else learner
