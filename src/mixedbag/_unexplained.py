"""How far bags lie from what models that have not seen them expect of them."""

import copy
from typing import NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold

from mixedbag._laws import expected, last_step, law_of
from mixedbag._validation import labelled
from mixedbag.bags import Bags
from mixedbag.pooling import bag_sum

_FOLDS, _FEWEST = 5, 4
ENOUGH = 50  # models that tell a variance


class Unexplained(NamedTuple):
    """What is left of the totals of the bags that were learned from.

    Parameters
    ----------
    spread : float
        Standard deviation of what a model cannot know of one instance, over that of its law.
    bags : Bags
        All that were learned from.
    told : mask
        The bags whose total is known; what follows is of these.
    missed : array
        By how much a model of others misses each.
    variance : array
        As much of that as comes from weights that are not well known.
    """

    spread: float
    bags: Bags
    told: np.ndarray
    missed: np.ndarray | None = None
    variance: np.ndarray | None = None


def unexplained(model, models, bags, y):
    """The standard deviation of what a model cannot know of one instance, and where it is from.

    Bags are left out in turn, and what the others expect of them is compared with what they are:
    to the bags that it was fitted on, a model is nearer than to any other. As much of this as comes
    from weights that are not well known is in the plausible models already, and taken off. Of
    chances and events it is told over that of independent draws: above one, the instances of a bag
    have something in common that features do not tell.
    """
    told, y = labelled(y)
    some = bags[told]
    total = _totals(model, some, y)
    if total is None:
        return Unexplained(1.0, bags, told)
    value = expected(model, some)
    missed = total - bag_sum(value, some.offsets)
    left, variance = np.sum(missed**2), np.zeros(len(some))
    if len(some) >= _FEWEST:
        answers = [bag_sum(expected(one, some), some.offsets) for one in models[:ENOUGH]]
        variance = np.var(answers, axis=0) if answers else variance
        missed = _left_out(model, some, y, total)
        left = max(left, np.sum(missed**2) - variance.sum())
    chance = law_of(model).variance(value).sum()
    spread = float(np.sqrt(left / chance)) if chance > 0 else 1.0
    return Unexplained(spread, bags, told, missed, variance)


def unexplained_of_block(block, place, model, models, times_drawn, random_state):
    """Sums over the bags of a block, from which `spread_of_blocks` tells how far they lie.

    Those of squares that the model of all bags misses, that refits miss which have not seen the bag
    (on average), and of the variances of refits and of chance.
    """
    bags, y, _ = block
    total = _totals(model, bags, y)
    if total is None:
        return np.zeros(4)
    value = expected(model, bags)
    some = models[:ENOUGH]
    answers = np.array([bag_sum(expected(one, bags), bags.offsets) for one in some])
    draws = range(len(some))
    unseen = np.array([times_drawn(len(bags), random_state, d, place) == 0 for d in draws])
    n_unseen = unseen.sum(axis=0)
    own = total - bag_sum(value, bags.offsets)
    others = total - (answers * unseen).sum(axis=0) / np.maximum(n_unseen, 1)
    missed = np.where(n_unseen > 0, others, own)
    variance = answers.var(axis=0)
    return np.array(
        [part.sum() for part in (own**2, missed**2, variance, law_of(model).variance(value))]
    )


def spread_of_blocks(own, missed, variance, chance):
    """As the spread of `unexplained`, from sums over all bags."""
    return float(np.sqrt(max(own, missed - variance) / chance)) if chance > 0 else 1.0


def _left_out(model, bags, y, total):
    """By how much each bag is missed by a model of others."""
    error = np.empty(len(bags))
    folds = KFold(min(_FOLDS, len(error)), shuffle=True, random_state=0)
    for train, test in folds.split(error):
        one = clone(model).fit(bags[train], y[train])
        error[test] = total[test] - bag_sum(expected(one, bags[test]), bags[test].offsets)
    return error


def _totals(model, bags, y):
    """Counts of the last class, or totals; None where there are none but labels."""
    learner = last_step(model)
    if not is_classifier(model):
        return y * bags.sizes if getattr(learner, "aggregate", "sum") == "mean" else y
    if not hasattr(learner, "predict_counts") or bags.n_instances == len(bags):
        return None
    return copy.copy(learner)._read_targets(bags, y)[:, -1]
