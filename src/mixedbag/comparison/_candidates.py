"""The learners that suit a rule and the data, each ready to fit with its preparation and grid."""

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from mixedbag.comparison._baselines import Offer, baselines
from mixedbag.comparison._effort import UNKNOWN, Known, known
from mixedbag.comparison._scaling import scaling
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners
from mixedbag.wrappers import InstanceWise

# Learners of sums and counts learn means and shares too: they are told so.
_SUM_OF = {"mean": "sum", "proportion": "count"}

_FEW = 200  # bags that every learner that takes part can digest
_LONG, _LONGEST = 5.0, 60.0  # expected seconds of a fit that is worth it, of one on few bags
_MANY = 10_000  # instances, to who compares all with all
_PAIRS = 1.3  # the growth that tells so
_ANSWERING = 0.04  # of the seconds of a fit, to answer about as many bags as were learned from
_DEAR, _ENOUGH = 10, 5  # times the seconds of so many others that are as good


@dataclass(frozen=True)
class Candidate:
    """A learner with the preparation it needs, and the settings to try.

    `effort` is what the table knows of it; on larger data it learns from a sample of `max_bags`.
    """

    name: str
    estimator: BaseEstimator
    grid: dict = field(default_factory=dict)
    effort: Known = UNKNOWN
    max_bags: int | None = None


def first_choice(rule, from_disk=False, exposure=None):
    """The learner to take where none is named: quick, and good at instances where labels add up."""
    if exposure is not None:
        return "AggregatePoissonRegressor"
    if rule in ("count", "proportion"):
        return "AggregateLogisticRegression"
    if rule in ("sum", "mean"):
        return "AggregateRidgeRegressor" if from_disk else "AggregateMLPRegressor"
    return "MILogisticRegression" if from_disk else "bag statistics + extra trees"


def find_candidates(rule, bags, names=None, random_state=0, y=None, exposure=None):
    """Every learner for `rule` that can digest `bags`, and why the others cannot.

    Parameters
    ----------
    rule : str
    bags : Bags
    names : sequence of str, optional
        Only learners whose name contains one of these, whatever the case.
    random_state : int
    y : array, optional
        The labels, where they decide as well: some learners take no negative amounts.
    exposure : str, optional
        The feature that holds the exposure of instances, for learners that know what that is.

    Returns
    -------
    candidates : list of Candidate
    skipped : dict
        Name of the learner to the reason.

    Raises
    ------
    InputError
        If that leaves none, with the reasons.
    """
    skipped: dict[str, str] = {}
    offers = [*baselines(rule), *_own_learners(rule, skipped)]
    if exposure is not None:
        _expose(offers, exposure, rule, bags)
    if names is not None:
        offers = _named(offers, names, rule)
    if exposure is not None and not any(map(_takes_exposure, offers)):
        told = ", ".join(offer.name for offer in offers)
        raise InputError(f"AggregatePoissonRegressor takes an exposure; {told} does not")
    candidates, scaled, kept = [], scaling(rule, bags), scaling(rule, bags, exposure)
    for offer in offers:
        if bags.is_sparse and not _first(offer.learner)._accepts_sparse:
            skipped[offer.name] = "needs dense data, and these are sparse"
            continue
        if _refuses_negative(offer.learner) and y is not None and np.min(y) < 0:
            skipped[offer.name] = "needs amounts that are not negative"
            continue
        before = _preparation(offer, bags, kept if _takes_exposure(offer) else scaled)
        estimator = Pipeline([*before, ("learner", offer.learner)])
        seeds = [name for name in estimator.get_params() if name.endswith("random_state")]
        estimator.set_params(**dict.fromkeys(seeds, random_state))
        grid = {f"learner__{key}": list(values) for key, values in offer.grid.items()}
        effort = known(rule, offer.name, bags.is_sparse)
        effort = effort._replace(law=effort.law.of_classes(_n_classes(rule, y)))
        if exposure is not None and _takes_exposure(offer):
            effort = effort._replace(merit=1.0)  # the table is of data without exposures
        max_bags = digestible(effort.law, bags)
        if max_bags == 0:
            skipped[offer.name] = "the table of efforts expects its fits not to end on such data"
            continue
        candidates.append(Candidate(offer.name, estimator, grid, effort, max_bags))
    if not candidates:
        told = "; ".join(f"{name}: {why}" for name, why in skipped.items())
        raise InputError(f"no learner is left to try ({told})")
    return candidates, skipped


def _n_classes(rule, y):
    """How many classes labels tell apart, two where they are no classes."""
    if rule in ("count", "proportion"):
        return y.shape[1] if np.ndim(y) == 2 else 2
    return len(np.unique(y)) if rule in ("any", "majority") and y is not None else 2


def too_dear(candidates, bags):
    """Learners that nobody needs to wait for, and why.

    By the table, a whole stack of others is as good or better, each in a small part of the time.
    """
    seconds = {candidate.name: seconds_of_fit(candidate, bags) for candidate in candidates}
    found = {}
    for candidate in candidates:
        name, merit = candidate.name, candidate.effort.merit
        others = sum(
            other.effort.merit >= merit and _DEAR * seconds[other.name] < seconds[name]
            for other in candidates
        )
        if others >= _ENOUGH:
            found[name] = (
                f"others that the table of efforts has as good take less than a {_DEAR}th of the "
                "time; takes part when named"
            )
    return found


def seconds_of_fit(candidate, bags):
    """What one fit on these bags and its answers are expected to take.

    Who learns from a sample has to answer about all bags nevertheless.
    """
    share = min(1.0, (candidate.max_bags or len(bags)) / len(bags))
    shape = share * len(bags), share * bags.n_instances, bags.n_features
    seconds = candidate.effort.law.seconds(*shape)
    return seconds if share == 1.0 else seconds * (1.0 + _ANSWERING / share)


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


def for_bags(candidate, bags):
    """The candidate with a sample of as many of these bags as it can digest."""
    return replace(candidate, max_bags=digestible(candidate.effort.law, bags))


def digestible(law, bags):
    """How many bags a learner can learn from in good time; None for all, 0 for too few."""
    a_bag = bags.n_instances / len(bags)
    # What compares all with all fills the memory before it takes its time.
    most = _MANY / a_bag if law.bags + law.instances > _PAIRS else len(bags)
    n_bags = int(min(len(bags), max(most, 2 * _FEW)))

    def takes(n):
        return law.seconds(n, n * a_bag, bags.n_features)

    if takes(min(_FEW, n_bags)) > _LONGEST:
        return 0
    if takes(n_bags) > _LONG:
        low, n_bags = _FEW, n_bags
        while n_bags - low > 1:
            middle = (low + n_bags) // 2
            low, n_bags = (middle, n_bags) if takes(middle) <= _LONG else (low, middle)
        n_bags = low
    return None if n_bags >= len(bags) else n_bags


def samples(candidates, names):
    """Which of some learners, by name, learn from a part of the bags: a sentence each."""
    return [
        f"{c.name} learns from {c.max_bags} bags at a time, drawn at random: more take too long"
        for c in candidates
        if c.name in names and c.max_bags is not None
    ]


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


def _expose(offers, exposure, rule, bags):
    """Tell the learners that have one which feature is the exposure."""
    known = bags.feature_names or []
    if exposure not in known:
        told = ", ".join(map(repr, known[:12]))
        raise InputError(f"exposure {exposure!r} is none of the features {told or '(no names)'}")
    if rule not in ("sum", "mean"):
        raise InputError(
            f"an exposure is for totals or means of events, and the rule is {rule!r}: say 'sum'"
        )
    for offer in offers:
        if _takes_exposure(offer):
            offer.learner.set_params(exposure=exposure)


def _takes_exposure(offer):
    return "exposure" in offer.learner.get_params(deep=False)


def _preparation(offer, bags, scaled):
    """Steps that fill gaps and scale features, where the data and the learner need them."""
    steps = []
    values = bags.instances.data if bags.is_sparse else bags.instances
    if np.isnan(values).any() and not _first(offer.learner)._accepts_nan:
        steps.append(("impute", InstanceWise(SimpleImputer(strategy="median"))))
    if offer.scaled:
        steps += [(name, clone(step)) for name, step in scaled]
    return steps


def _first(learner):
    return learner.steps[0][1] if isinstance(learner, Pipeline) else learner


def _refuses_negative(learner):
    return get_tags(learner).target_tags.positive_only
