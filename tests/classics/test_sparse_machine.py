"""Machines with a 1-norm penalty: conditions of optimality, and LIBLINEAR's answer."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from mixedbag._solvers.sparse_machine import sparse_machine


def problem(seed=0, n_rows=30, n_features=200):
    rng = np.random.default_rng(seed)
    table = np.exp(-rng.uniform(0.0, 4.0, (n_rows, n_features)))
    table[:, 1] = table[:, 0]  # features that are the same
    sign = np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return table, sign, rng.uniform(0.5, 2.0, n_rows)


@pytest.mark.parametrize("C", [1e-3, 0.1, 1.0, 100.0, 1e6])
def test_slopes_balance_the_penalty(C):
    table, sign, weight = problem()
    rows, cost = sign[:, None] * table, C * weight
    w, _ = sparse_machine(rows, cost, 1e-12)
    slope = rows.T @ (2.0 * cost * np.maximum(1.0 - rows @ w, 0.0))
    assert np.abs(slope).max() <= 1.0 + 1e-3
    np.testing.assert_allclose(slope[w != 0.0], np.sign(w[w != 0.0]), atol=1e-3)


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_objective_is_that_of_coordinates(C):
    table, sign, weight = problem(1, n_features=12)
    rows, cost = sign[:, None] * table, C * weight
    w, _ = sparse_machine(rows, cost, 1e-12)
    svc = LinearSVC(
        C=C, penalty="l1", dual=False, fit_intercept=False, tol=1e-8, max_iter=1_000_000,
        random_state=0,
    ).fit(table, sign, weight)  # fmt: skip

    def objective(w):
        return np.abs(w).sum() + cost @ np.maximum(1.0 - rows @ w, 0.0) ** 2

    assert objective(w) == pytest.approx(objective(svc.coef_[0]), rel=1e-6)
    np.testing.assert_allclose(rows @ w, rows @ svc.coef_[0], atol=1e-3)


def test_nothing_is_selected_where_nothing_tells():
    w, _ = sparse_machine(np.zeros((4, 3)) + 1e-9, np.ones(4), 1e-10)
    assert not w.any()
