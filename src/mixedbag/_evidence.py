"""What any model says of bags and of instances, as columns of numbers.

Evidence of a class is a score: one column, positive for the second class, or a column a class.
Evidence of an amount is the predicted amount itself.
"""

import sys

import numpy as np
from sklearn.base import is_regressor

from mixedbag.bags import Bags

_BLOCK = 16_384  # instances scored at a time, when each is a bag of its own


def class_evidence(model, bags):
    """Class scores of the bags, a row a bag."""
    if hasattr(model, "decision_function"):
        return _columns(model.decision_function(bags))
    return _log_odds(model.predict_proba(bags))


def class_evidence_of_instances(model, bags):
    """Class scores of all instances, a row an instance, on the scale of `class_evidence`."""
    return _of_instances(model, bags, "decision_function_instances", class_evidence)


def amount_evidence(model, bags):
    """Predicted amounts of the bags."""
    return _columns(model.predict(bags))


def amount_evidence_of_instances(model, bags):
    """Each instance's share of the predicted amount: a value, or the probability of the class."""
    final = final_step(model)
    # Calibrated probabilities do not add up to counts of named instances; a learner's own do.
    if getattr(final, "_own_proba", True) and hasattr(final, "predict_proba_instances"):
        values = _of_instances(model, bags, "predict_proba_instances", amount_evidence)
        # Of two classes, a model of one amount counts the second; one of a table counts both.
        return values[:, 1:] if values.shape[1] == 2 and _width(model, bags) == 1 else values
    answers = _asked(model, bags, "predict_instances", amount_evidence)
    if hasattr(final, "classes_") and answers.ndim == 1 and _width(model, bags) > 1:
        # An instance is one of its class, and none of the others.
        answers = answers[:, None] == final.classes_
    return _columns(answers)


def _width(model, bags):
    """How many amounts a model says of a bag."""
    return amount_evidence(model, bags[:1]).shape[1]


def speaks_of_amounts(model):
    """Whether a model predicts counts or totals, not classes."""
    final = final_step(model)
    return is_regressor(final) or "count" in getattr(final, "_rules", ())


def knows_instances(model):
    """Whether a model, fitted or not, has scores of its own for instances.

    One that only knows bags can still be asked about each instance as a bag of one.
    """
    final = final_step(model)
    return getattr(final, "_knows_instances", hasattr(final, "predict_instances"))


def is_pipeline(model):
    """Whether a model is a pipeline of scikit-learn, which is not imported to find out."""
    home = sys.modules.get("sklearn.pipeline")
    return home is not None and isinstance(model, home.Pipeline)


def final_step(model):
    """The learner at the end of a pipeline, or of pipelines inside it."""
    while is_pipeline(model):
        model = model.steps[-1][1]
    return model


def at_instances(model, bags, method):
    """The answers of a method about instances; a model that only knows bags sees each alone."""
    of_bags = method.removesuffix("_instances")
    return _asked(model, bags, method, lambda asked, alone: getattr(asked, of_bags)(alone))


def _of_instances(model, bags, method, as_bags_of_one):
    return _columns(_asked(model, bags, method, as_bags_of_one))


def _asked(model, bags, method, as_bags_of_one):
    """Ask the model about instances; one that only knows bags sees each as a bag of one."""
    if is_pipeline(model):
        final = model.steps[-1][1]
        inner = model[:-1].transform(bags) if len(model.steps) > 1 else bags
        if isinstance(inner, Bags):
            values = _asked(final, inner, method, as_bags_of_one)
            return (
                values if inner.n_instances == bags.n_instances else _nearest(values, inner, bags)
            )
    elif hasattr(model, method):
        return np.asarray(getattr(model, method)(bags))
    singles = bags.singletons()
    parts = [
        as_bags_of_one(model, singles[start : start + _BLOCK])
        for start in range(0, len(singles), _BLOCK)
    ]
    return np.concatenate(parts)


def _nearest(values, windows, bags):
    """From windows of a sequence to its samples: each takes the values of the nearest window."""
    place = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1]) + 0.5
    share = place / bags.spread(bags.sizes)
    nearest = np.floor(share * bags.spread(windows.sizes)).astype(np.int64)
    return values[bags.spread(windows.offsets[:-1]) + nearest]


def _columns(values):
    values = np.asarray(values, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def _log_odds(probability):
    """Log-odds, with certainty cut: a forest's unanimous vote is not infinite proof."""
    probability = np.clip(probability, 1e-3, 1.0 - 1e-3)
    if probability.shape[1] == 2:
        return np.log(probability[:, 1:] / probability[:, :1])
    return np.log(probability / (1.0 - probability))
