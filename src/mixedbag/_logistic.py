"""Logistic regression with a ridge on few rows: scikit-learn's, sooner.

Of many features only the span of the rows matters to a ridge: the weights are a sum of rows. So the
rows are turned to as many axes as they span, where a few Newton steps do what takes first-order
methods hundreds.
"""

import numpy as np
from scipy import sparse

from mixedbag._once import once

_FEW = 500  # rows, or features: beyond, Newton steps cost more than they save
_NOTHING = 1e-14  # of the longest axis, squared: the rest is rounding


def fit_logistic(model, table, labels, weight):
    """``model.fit(table, labels, weight)`` of a `LogisticRegression`, up to its tolerance."""
    if min(table.shape) > _FEW or len(np.unique(labels)) > 2:
        return model.fit(table, labels, weight)
    model.set_params(solver="newton-cholesky")
    if table.shape[0] >= table.shape[1]:
        table = table.toarray() if sparse.issparse(table) else table
        return model.fit(table, labels, weight)
    turned, axes = once(lambda: _turned(table), "axes of rows", table)
    model.fit(turned, labels, weight)
    model.coef_ = (table.T @ (axes @ model.coef_[0]))[None]
    model.n_features_in_ = table.shape[1]
    return model


def _turned(table):
    """The rows along axes that span them, and each axis as a sum of rows."""
    gram = table @ table.T
    gram = gram.toarray() if sparse.issparse(gram) else gram
    squares, vectors = np.linalg.eigh(gram)
    kept = squares > _NOTHING * squares[-1]
    lengths, vectors = np.sqrt(squares[kept]), vectors[:, kept]
    return vectors * lengths, vectors / lengths
