"""Scores of bags, of instances, and of predicted proportions, with ready scorers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score, roc_auc_score

from mixedbag.bags import as_bags
from mixedbag.exceptions import InputError

__all__ = [
    "bag_roc_auc_scorer",
    "instance_accuracy",
    "instance_roc_auc",
    "proportion_error",
    "proportion_scorer",
    "witness_hit_rate",
]


def instance_accuracy(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Share of instances whose class is predicted right.

    Parameters
    ----------
    estimator : fitted bag classifier
        The model that is asked about instances.
    bags : Bags
        The bags that hold them, or anything that `as_bags` reads.
    instance_labels : array of shape (n_instances,)
        The true classes, in the order of ``bags.instances``.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    instance_roc_auc : How well scores order the instances, whatever the threshold.
    witness_hit_rate : Asks about the one instance of each bag that scores highest.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.metrics import instance_accuracy
    >>> data = make_any(n_bags=60, separation=6.0, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> instance_accuracy(model, data.bags, data.instance_labels) > 0.9
    True
    """
    return accuracy_score(_aligned(bags, instance_labels), estimator.predict_instances(bags))


def instance_roc_auc(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Area under the ROC curve of the instance scores: how well witnesses are told apart.

    Parameters
    ----------
    estimator : fitted bag classifier
        The model that is asked about instances.
    bags : Bags
        The bags that hold them, or anything that `as_bags` reads.
    instance_labels : array of shape (n_instances,)
        The true classes, in the order of ``bags.instances``.

    Returns
    -------
    float
        1 when every positive instance scores above every negative one, one half for a guess.

    See Also
    --------
    instance_accuracy : The share of instances that are told right.
    bag_roc_auc_scorer : The same of bags.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.metrics import instance_roc_auc
    >>> data = make_any(n_bags=60, separation=6.0, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> bool(instance_roc_auc(model, data.bags, data.instance_labels) > 0.95)
    True
    """
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

    See Also
    --------
    proportion_scorer : The same as a scorer for searches.

    Examples
    --------
    >>> from mixedbag.metrics import proportion_error
    >>> proportion_error([2, 5], [3, 5], sizes=[10, 10])
    0.05
    >>> proportion_error([[0.5, 0.3, 0.2]], [[0.4, 0.4, 0.2]])
    0.1
    """
    error = np.abs(np.asarray(y_true, dtype=float) - np.asarray(y_pred, dtype=float))
    error = error.sum(axis=1) / 2 if error.ndim == 2 else error
    return float(np.mean(error if sizes is None else error / np.asarray(sizes)))


def proportion_scorer(estimator: Any, bags: Any, counts: ArrayLike) -> float:
    """Scorer for searches: minus the proportion error of predicted counts.

    Parameters
    ----------
    estimator : fitted learner of counts
        The model that is asked about bags.
    bags : Bags
        The bags, or anything that `as_bags` reads.
    counts : array of shape (n_bags,) or (n_bags, n_classes)
        How many instances of each class they have.

    Returns
    -------
    float
        Zero at best.

    See Also
    --------
    proportion_error : The error itself.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from mixedbag.aggregate import AggregateRidgeClassifier
    >>> from mixedbag.datasets import make_count
    >>> from mixedbag.metrics import proportion_scorer
    >>> from mixedbag.model_selection import BagStratifiedKFold
    >>> data = make_count(n_bags=40, random_state=0)
    >>> learner, grid = AggregateRidgeClassifier(), {"alpha": [0.1, 10.0]}
    >>> folds = BagStratifiedKFold(3, random_state=0)
    >>> search = GridSearchCV(learner, grid, scoring=proportion_scorer, cv=folds)
    >>> bool(-0.2 < search.fit(data.bags, data.y).best_score_ <= 0)
    True
    """
    return -proportion_error(counts, estimator.predict(bags), as_bags(bags).sizes)


def bag_roc_auc_scorer(estimator: Any, bags: Any, y: ArrayLike) -> float:
    """Scorer for searches: area under the ROC curve of the bag scores, for two classes.

    Parameters
    ----------
    estimator : fitted bag classifier
        The model that is asked about bags.
    bags : Bags
        The bags, or anything that `as_bags` reads.
    y : array of shape (n_bags,)
        Their classes, two of them.

    Returns
    -------
    float
        1 when every positive bag scores above every negative one, one half for a guess.

    See Also
    --------
    instance_roc_auc : The same of instances, where their labels are known.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.metrics import bag_roc_auc_scorer
    >>> data = make_any(n_bags=60, separation=6.0, random_state=0)
    >>> scores = cross_val_score(
    ...     MILogisticRegression(), data.bags, data.y, scoring=bag_roc_auc_scorer, cv=3
    ... )
    >>> bool(scores.mean() > 0.9)
    True
    """
    positive = np.asarray(y) == estimator.classes_[1]
    return roc_auc_score(positive, estimator.decision_function(bags))


def witness_hit_rate(estimator: Any, bags: Any, instance_labels: ArrayLike) -> float:
    """Share of positive bags whose highest-scored instance is truly positive.

    A bag is positive here if any of its instances is; labels are 0/1 or booleans.

    Parameters
    ----------
    estimator : fitted bag classifier
        The model that is asked about instances.
    bags : Bags
        The bags that hold them, or anything that `as_bags` reads.
    instance_labels : array of shape (n_instances,)
        The true labels, in the order of ``bags.instances``.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    instance_roc_auc : Asks about all instances, not only the best of each bag.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.metrics import witness_hit_rate
    >>> data = make_any(n_bags=60, separation=6.0, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> witness_hit_rate(model, data.bags, data.instance_labels) > 0.9
    True
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


def __dir__():
    return __all__
