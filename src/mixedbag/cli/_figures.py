"""How good answers are: the figures that `evaluate` prints, by scikit-learn's functions."""

import numpy as np
from sklearn import metrics


def class_figures(truth, probability, decided, weight):
    """Figures of answers that name classes.

    Parameters
    ----------
    truth, decided : arrays of int, shape (n,)
        Codes of the true and of the answered classes.
    probability : array of shape (n, n_classes)
    weight : array of shape (n,)
    """
    n_classes = probability.shape[1]
    codes = np.arange(n_classes)
    right, weights = {"sample_weight": weight}, np.bincount(truth, weight, n_classes)
    figures = {
        "accuracy": metrics.accuracy_score(truth, decided, **right),
        "always the same answer": weights.max() / weights.sum(),
        "balanced accuracy": metrics.balanced_accuracy_score(truth, decided, **right),
        "F1": metrics.f1_score(
            *(truth, decided),
            labels=[1] if n_classes == 2 else codes,
            average="macro",
            zero_division=0.0,
            **right,
        ),
        "log loss": _log_loss(truth, probability, weight),
    }
    known = [k for k in ([1] if n_classes == 2 else codes) if 0 < weights[k] < weights.sum()]
    if known:  # a ranking needs bags of both kinds
        figures["ROC AUC"] = _mean(metrics.roc_auc_score, truth, probability, known, weight)
        figures["average precision"] = _mean(
            metrics.average_precision_score, truth, probability, known, weight
        )
    return {name: float(value) for name, value in figures.items()}


def amount_figures(truth, answer, weight, sizes=None):
    """Figures of answers that are amounts, a row a bag; with `sizes`, of counts."""
    right = {"sample_weight": weight}
    figures = {
        "R²": metrics.r2_score(truth, answer, **right) if len(truth) > 1 else np.nan,
        "mean absolute error": metrics.mean_absolute_error(truth, answer, **right),
        "root mean squared error": metrics.root_mean_squared_error(truth, answer, **right),
    }
    if sizes is not None:
        error = np.abs(truth - answer).sum(axis=1) / (2 if answer.shape[1] > 1 else 1)
        figures["counted right"] = 1.0 - np.average(error / sizes, weights=weight)
    return {name: float(value) for name, value in figures.items()}


def confusion(truth, decided, n_classes, weight):
    """Weight of bags by true (row) and answered class (column)."""
    return metrics.confusion_matrix(
        truth, decided, labels=np.arange(n_classes), sample_weight=weight
    )


def _log_loss(truth, probability, weight):
    chance = probability[np.arange(len(truth)), truth]
    return np.average(-np.log(np.clip(chance, 1e-6, None)), weights=weight)


def _mean(score, truth, probability, classes, weight):
    return np.mean([score(truth == k, probability[:, k], sample_weight=weight) for k in classes])
