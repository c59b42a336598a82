"""What models expect of instances, and how far bags that they have not seen lie from it."""

import copy

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from mixedbag.pooling import bag_sum

_FOLDS = 5
_MODELS = 50  # are enough to tell a variance


def unexplained(model, models, bags, y):
    """The standard deviation of what a model cannot know of one instance.

    Bags are left out in turn, and what the others expect of them is compared with what they are:
    to the bags that it was fitted on, a model is nearer than to any other. As much of this as comes
    from weights that are not well known is in the plausible models already, and taken off. Of a
    classifier it is told over that of independent draws with its probabilities: above one, the
    instances of a bag have something in common that features do not tell.
    """
    total = _totals(model, bags, y)
    if total is None:
        return 1.0
    value = expected(model, bags)
    left = np.sum((total - bag_sum(value, bags.offsets)) ** 2)
    if len(bags) >= _FOLDS:
        told = [bag_sum(expected(one, bags), bags.offsets) for one in models[:_MODELS]]
        known = np.sum(np.var(told, axis=0)) if told else 0.0
        left = max(left, np.sum(_left_out(model, bags, y, total) ** 2) - known)
    chance = np.sum(value * (1.0 - value)) if is_classifier(model) else bags.n_instances
    return float(np.sqrt(left / chance)) if chance > 0 else 1.0


def _left_out(model, bags, y, total):
    """By how much each bag is missed by a model of others."""
    error = np.empty(len(bags))
    for train, test in KFold(_FOLDS, shuffle=True, random_state=0).split(error):
        one = clone(model).fit(bags[train], y[train])
        error[test] = total[test] - bag_sum(expected(one, bags[test]), bags[test].offsets)
    return error


def _totals(model, bags, y):
    """Counts of the last class, or totals; None where there are none but labels."""
    learner = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not is_classifier(model):
        return y * bags.sizes if getattr(learner, "aggregate", "sum") == "mean" else y
    if not hasattr(learner, "predict_counts") or bags.n_instances == len(bags):
        return None
    return copy.copy(learner)._read_targets(bags, y)[:, -1]


def tells_probabilities(model):
    own = getattr(model, "_own_proba", True)  # calibration would cost further fits a replicate
    return is_classifier(model) and own and hasattr(model, "predict_proba_instances")


def expected(model, bags):
    """Probability of the last class, or the value, of every instance."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            bags = step.transform(bags)
        model = model.steps[-1][1]
    if tells_probabilities(model):
        return model.predict_proba_instances(bags)[:, -1]
    told = model.predict_instances(bags)
    return (told == model.classes_[-1]).astype(float) if is_classifier(model) else told
