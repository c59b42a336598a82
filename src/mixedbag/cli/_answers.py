"""What a saved model says, as named columns: of bags, or of their instances."""

from contextlib import contextmanager

import numpy as np

from mixedbag import _evidence
from mixedbag.base import BagClassifier
from mixedbag.datasets._formats.columns import listed
from mixedbag.exceptions import InputError, reading_input


def needed_features(model):
    """The columns that the model was fitted on, or None where they had no names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def remembered(model, role, given=None):
    """The column of a role: the one that was given, or that the model learned from."""
    origin = getattr(model, "origin", None)
    return given if given is not None or origin is None else origin.columns.get(role)


def outside(model, bags):
    """Marks of what is far from the data that the model learned from; none for older models."""
    origin = getattr(model, "origin", None)
    return {} if origin is None else {"outside": origin.outside(bags)}


def outside_by_bits(model, far):
    """The same from bits of the features that are far."""
    origin = getattr(model, "origin", None)
    if origin is None:
        return {}
    names = needed_features(model)
    some = np.flatnonzero(far)
    bags, features = np.nonzero(far[some, None] >> np.arange(len(names)) & 1)
    return {"outside": origin.marks(len(far), some[bags], features, names)}


def span(model):
    """The least and the largest value of each feature that is not far, where the model knows."""
    origin = getattr(model, "origin", None)
    return None if origin is None else origin.span()


@contextmanager
def asking(path):
    """Ask the model at `path`; one that cannot answer is wrong input, and so is what it refuses."""
    try:
        with reading_input():
            yield
    except (InputError, OSError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"{path} cannot answer ({type(error).__name__}: {error}): the model is damaged"
        ) from error


def bag_answers(model, bags):
    """Predictions of the bags: an array a named column."""
    _refuse_other_features(model, bags)
    if _evidence.speaks_of_amounts(model):
        return _amounts(_evidence.amount_evidence(model, bags))
    if hasattr(model, "predict_proba"):
        return _probable(model, bags, "answers", "predict_proba", "predict")
    return _classes(model, _evidence.class_evidence(model, bags))


def instance_answers(model, bags, amounts=None):
    """Predictions of the instances, in their order: an array a named column.

    Where the `amounts` of the bags are known, those of their instances add up to them; from counts
    and shares, so do labels.
    """
    _refuse_other_features(model, bags)
    if amounts is not None:
        from mixedbag.comparison._models import AmountModel

        if not isinstance(model, AmountModel):
            raise InputError("--amount is for models of counts, shares, totals or means")
        values = model.predict_instances(bags, amounts).reshape(bags.n_instances, -1)
        labels = {}
        if model.origin.rule in ("count", "proportion"):
            labels = {"predicted": _labels_that_add_up(values, bags.offsets)}
        return labels | _amounts(values)
    if _evidence.speaks_of_amounts(model):
        return _amounts(_evidence.amount_evidence_of_instances(model, bags))
    if hasattr(model, "predict_proba_instances") and hasattr(model, "predict_instances"):
        asked = "instance_answers", "predict_proba_instances", "predict_instances"
        return _probable(model, bags, *asked)
    return _classes(model, _evidence.class_evidence_of_instances(model, bags))


def of_parts(model):
    """Whether a model learned counts or shares of bags, so that the others are the rest."""
    return getattr(getattr(model, "origin", None), "rule", None) in ("count", "proportion")


def scaled_amounts(model, data):
    """The bags of `data` whose known amounts, its labels, do not add up to them, in words."""
    from mixedbag.cli._tables import as_numbers
    from mixedbag.comparison._models import AmountModel

    return (
        model.scaled_amounts(data.bags, as_numbers(data.y))
        if isinstance(model, AmountModel)
        else []
    )


def _refuse_other_features(model, bags):
    n_features = getattr(model, "n_features_in_", bags.n_features)
    if n_features == bags.n_features:
        return
    reason = f"{bags.n_features} features where the model learned from {n_features}"
    needed, found = needed_features(model) or [], bags.feature_names or []
    absent = [name for name in needed if name not in found]
    if absent and found:  # numbers there, text here
        others = listed([name for name in found if name not in needed])
        reason += f": {listed(absent)} there, {others} here"
    raise InputError(reason)


def _labels_that_add_up(chances, offsets):
    """0 or 1 of each instance (or the number of its class), so many as the chances of a bag are."""
    from mixedbag.counts import labels_that_add_up

    if chances.shape[1] == 1:
        chances = np.hstack([1.0 - chances, chances])
    scores = np.log(np.maximum(chances, np.finfo(float).tiny))
    runs = map(slice, offsets, offsets[1:])
    return np.concatenate([labels_that_add_up(scores[run], chances[run].sum(0)) for run in runs])


def _amounts(values):
    if values.shape[1] == 1:
        return {"amount": values[:, 0]}
    return {f"amount {k}": column for k, column in enumerate(values.T)}


def _probable(model, bags, both, proba, predict):
    """Classes and probabilities; models that can are asked for both at once."""
    if hasattr(model, both):
        predicted, values = getattr(model, both)(bags)
    else:
        values = getattr(model, proba)(bags)
        # Of a learner of ours, the most probable class is the predicted one.
        own = isinstance(model, BagClassifier)
        predicted = model.classes_[values.argmax(axis=1)] if own else getattr(model, predict)(bags)
    names = [f"probability {label}" for label in model.classes_.tolist()]
    return {"predicted": np.asarray(predicted), **dict(zip(names, values.T))}


def _classes(model, values):
    if values.shape[1] == 1:
        return {"predicted": model.classes_[(values[:, 0] > 0).astype(int)], "score": values[:, 0]}
    names = [f"score {label}" for label in model.classes_.tolist()]
    predicted = model.classes_[values.argmax(axis=1)]
    return {"predicted": predicted, **dict(zip(names, values.T))}
