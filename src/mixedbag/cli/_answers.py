"""What a saved model says, as named columns: of bags, or of their instances."""

from contextlib import contextmanager

import numpy as np

from mixedbag import _evidence
from mixedbag.exceptions import InputError, reading_input


def needed_features(model):
    """The columns that the model was fitted on, or None where they had no names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


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
    """Predictions of the bags: column names, and rows."""
    _refuse_other_features(model, bags)
    if _evidence.speaks_of_amounts(model):
        values = _evidence.amount_evidence(model, bags)
        return _amount_names(values), values.tolist()
    predicted = np.asarray(model.predict(bags)).tolist()
    if hasattr(model, "predict_proba"):
        names = [f"probability {label}" for label in model.classes_.tolist()]
        values = model.predict_proba(bags)
    else:
        values = _evidence.class_evidence(model, bags)
        names = _score_names(model, values)
    return ["predicted", *names], [[p, *row] for p, row in zip(predicted, values.tolist())]


def instance_answers(model, bags):
    """Predictions of the instances: column names, and rows in the order of the instances."""
    _refuse_other_features(model, bags)
    if _evidence.speaks_of_amounts(model):
        values = _evidence.amount_evidence_of_instances(model, bags)
        return _amount_names(values), values.tolist()
    values = _evidence.class_evidence_of_instances(model, bags)
    if values.shape[1] == 1:
        codes = (values[:, 0] > 0).astype(int)
    else:
        codes = values.argmax(axis=1)
    predicted = model.classes_[codes].tolist()
    names = _score_names(model, values)
    return ["predicted", *names], [[p, *row] for p, row in zip(predicted, values.tolist())]


def _refuse_other_features(model, bags):
    n_features = getattr(model, "n_features_in_", bags.n_features)
    if n_features != bags.n_features:
        raise InputError(f"{bags.n_features} features where the model learned from {n_features}")


def _amount_names(values):
    return ["amount"] if values.shape[1] == 1 else [f"amount {k}" for k in range(values.shape[1])]


def _score_names(model, values):
    if values.shape[1] == 1:
        return ["score"]
    return [f"score {label}" for label in model.classes_.tolist()]
