"""Logistic regression with a ridge on few rows: scikit-learn's, sooner.

Of many features only the span of the rows matters to a ridge: the weights are a sum of rows. So the
rows are turned to as many axes as they span, where a few Newton steps do what takes first-order
methods hundreds.
"""

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dposv
from scipy.special import expit

from mixedbag._once import once

_FEW = 500  # rows, or features: beyond, Newton steps cost more than they save
_NOTHING = 1e-14  # of the longest axis, squared: the rest is rounding
_HALVINGS = 30


def fit_logistic(model, table, labels, weight):
    """``model.fit(table, labels, weight)`` of a `LogisticRegression`, up to its tolerance."""
    classes, codes = np.unique(labels, return_inverse=True)
    if min(table.shape) > _FEW or len(classes) > 2:
        return model.fit(table, labels, weight)
    weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=np.float64)
    given = 2.0 * codes - 1.0, model.C * weight, model.tol, model.max_iter
    if table.shape[0] >= table.shape[1]:
        table = table.toarray() if sparse.issparse(table) else table
        coef, intercept, n_iter = _newton(table, *given)
    else:
        turned, axes = once(lambda: _turned(table), "axes of rows", table)
        coef, intercept, n_iter = _newton(turned, *given)
        coef = table.T @ (axes @ coef)
    model.classes_, model.n_features_in_ = classes, table.shape[1]
    model.coef_, model.intercept_ = coef[None], np.array([intercept])
    model.n_iter_ = np.array([n_iter], dtype=np.int32)
    return model


def _newton(rows, sign, weight, tol, max_iter):
    """min ½ ‖w‖² + Σ_i weight_i log(1 + exp(−sign_i (⟨w, x_i⟩ + b))): w, b, number of steps.

    Stops as scikit-learn does: when no component of the gradient is larger than `tol` times the
    total weight, nor is half of what the last step promised.
    """
    columns = np.column_stack([rows, np.ones(len(rows))])
    point, ridge = np.zeros(columns.shape[1]), np.append(np.ones(rows.shape[1]), 0.0)
    margin, slope, n_steps, small = np.zeros(len(rows)), -np.inf, 0, tol * weight.sum()
    value = weight @ np.logaddexp(0.0, -margin)
    while n_steps < max_iter:
        miss = expit(-margin)
        gradient = ridge * point - columns.T @ (weight * sign * miss)
        if np.abs(gradient).max() <= small and -0.5 * slope <= small:
            break
        curve = columns.T @ ((weight * miss * (1.0 - miss))[:, None] * columns)
        curve[np.diag_indices_from(curve)] += ridge
        # Where all rows are certain, the constant has no curvature left.
        curve[-1, -1] += 1e-12 * weight.sum()
        _, step, failed = dposv(curve, -gradient)
        if failed:
            break
        slope, length = gradient @ step, 1.0
        for _ in range(_HALVINGS):
            trial = point + length * step
            margin = sign * (columns @ trial)
            now = weight @ np.logaddexp(0.0, -margin) + 0.5 * trial @ (ridge * trial)
            if now <= value + 1e-4 * length * slope:
                break
            length /= 2.0
        else:  # rounding decides: nothing is left to gain
            break
        point, value, n_steps = trial, now, n_steps + 1
    return point[:-1], point[-1], n_steps


def _turned(table):
    """The rows along axes that span them, and each axis as a sum of rows."""
    gram = table @ table.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    squares, vectors = np.linalg.eigh(gram)
    kept = squares > _NOTHING * squares[-1]
    lengths, vectors = np.sqrt(squares[kept]), vectors[:, kept]
    return vectors * lengths, vectors / lengths
