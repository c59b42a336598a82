"""Scores of bags, of instances, and of predicted proportions, with ready scorers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, roc_auc_score

from mixedbag.bags import as_bags
from mixedbag.exceptions import InputError


def instance_accuracy(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Share of instances whose class is predicted right.

    Parameters
    ----------
    estimator : fitted bag classifier
    bags : Bags
    instance_labels : array of shape (n_instances,)
        The true classes, in the order of ``bags.instances``.
    """
    return accuracy_score(_aligned(bags, instance_labels), estimator.predict_instances(bags))


def instance_roc_auc(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Area under the ROC curve of the instance scores: how well witnesses are told apart."""
    scores = estimator.decision_function_instances(bags)
    return roc_auc_score(_aligned(bags, instance_labels), scores, multi_class="raise")


def proportion_error(y_true: ArrayLike, y_pred: ArrayLike, sizes: ArrayLike | None = None) -> float:
    """Mean absolute error of the proportions that counts stand for.

    Parameters
    ----------
    y_true, y_pred : array of shape (n_bags,) or (n_bags, n_classes)
        Counts (with `sizes`) or proportions.
    sizes : array of shape (n_bags,), optional
        Sizes of the bags, when the targets are counts.

    Returns
    -------
    float
        Of a table, half the sum over classes: the share of instances put in a wrong class.
    """
    error = np.abs(np.asarray(y_true, dtype=float) - np.asarray(y_pred, dtype=float))
    error = error.sum(axis=1) / 2 if error.ndim == 2 else error
    return float(np.mean(error if sizes is None else error / np.asarray(sizes)))


def proportion_scorer(estimator: Any, bags: Any, counts: ArrayLike) -> float:
    """Scorer for searches: minus the proportion error of predicted counts."""
    return -proportion_error(counts, estimator.predict(bags), as_bags(bags).sizes)


def bag_roc_auc_scorer(estimator: Any, bags: Any, y: ArrayLike) -> float:
    """Scorer for searches: area under the ROC curve of the bag scores, for two classes."""
    positive = np.asarray(y) == estimator.classes_[1]
    return roc_auc_score(positive, estimator.decision_function(bags))


def witness_hit_rate(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Share of positive bags whose highest-scored instance is truly positive.

    A bag is positive here if any of its instances is; labels are 0/1 or booleans.
    """
    from mixedbag.pooling import bag_argmax, bag_max

    bags = as_bags(bags)
    truth = np.asarray(_aligned(bags, instance_labels)).astype(bool)
    positive = bag_max(truth, bags.offsets)
    if not positive.any():
        raise InputError("no bag has a positive instance")
    top = bag_argmax(estimator.decision_function_instances(bags), bags.offsets)
    return float(truth[top][positive].mean())


def _aligned(bags, instance_labels):
    n = as_bags(bags).n_instances
    if len(instance_labels) != n:
        raise InputError(f"{len(instance_labels)} instance labels for {n} instances")
    return instance_labels
