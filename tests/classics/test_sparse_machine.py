"""Machines with a 1-norm penalty: conditions of optimality, and LIBLINEAR's answer."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from mixedbag._solvers.sparse_machine import sparse_machine


def problem(seed=0, n_rows=30, n_features=200):
    rng = np.random.default_rng(seed)
    table = np.exp(-rng.uniform(0.0, 4.0, (n_rows, n_features)))
    table[:, 1] = table[:, 0]  # features that are the same
    sign = np.where(np.arange(n_rows) % 3, 1.0, -1.0)
    return table, sign, rng.uniform(0.5, 2.0, n_rows)


TOL = 1e-12


def solved(table, sign, cost):
    w, b, _ = sparse_machine(table, sign, cost, TOL, 1000)
    return w, b


def objective(w, b, table, sign, cost):
    return np.abs(w).sum() + cost @ np.maximum(1.0 - sign * (table @ w + b), 0.0) ** 2


# Features are more than rows, and fewer; some come in later than others.
@pytest.mark.parametrize(
    ("n_rows", "n_features", "C"),
    [(30, 200, C) for C in (1e-3, 0.1, 1.0, 100.0, 1e6)]
    + [(n_rows, n, C) for n_rows, n in ((90, 40), (300, 350)) for C in (0.1, 1.0, 100.0)],
)
def test_slopes_balance_the_penalty(C, n_rows, n_features):
    table, sign, weight = problem(0, n_rows, n_features)
    cost = C * weight
    w, b = solved(table, sign, cost)
    pull = 2.0 * cost * sign * np.maximum(1.0 - sign * (table @ w + b), 0.0)
    slope = table.T @ pull
    # The loss is curved by 2 cost: what is left of the gap moves pulls by no more than this.
    left = 2.0 * np.sqrt(cost.max() * TOL * objective(w, b, table, sign, cost))
    near = max(1e-3, left * np.linalg.norm(table, axis=0).max())
    assert np.abs(slope).max() <= 1.0 + near
    np.testing.assert_allclose(slope[w != 0.0], np.sign(w[w != 0.0]), atol=near)
    assert abs(pull.sum()) <= 1e-3 * max(1.0, np.abs(pull).sum())  # the intercept is free


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_coordinates_find_nothing_better(C):
    """Those of LIBLINEAR, whose intercept costs its tenth: each is best by its own measure."""
    table, sign, weight = problem(1, n_features=12)
    svc = LinearSVC(
        C=C, penalty="l1", dual=False, intercept_scaling=10.0, tol=1e-9, max_iter=1_000_000,
        random_state=0,
    ).fit(table, sign, weight)  # fmt: skip
    about = table, sign, C * weight
    w, b = solved(*about)
    ours, theirs = (objective(*one, *about) for one in ((w, b), (svc.coef_[0], svc.intercept_[0])))
    assert ours <= theirs * (1.0 + 1e-9)
    assert theirs + abs(svc.intercept_[0]) / 10.0 <= (ours + abs(b) / 10.0) * (1.0 + 1e-6)


def test_a_constant_added_to_a_feature_changes_no_answer():
    table, sign, cost = problem(2, n_features=12)
    w, b = solved(table, sign, cost)
    moved, level = solved(table + 5.0, sign, cost)
    for weights in (moved, w):  # how two features that are the same share a weight, nothing tells
        weights[:2] = weights[:2].mean()
    np.testing.assert_allclose(moved, w, atol=1e-4)
    np.testing.assert_allclose((table + 5.0) @ moved + level, table @ w + b, atol=1e-4)


def test_nothing_is_selected_where_nothing_tells():
    sign, cost = np.array([1.0, 1.0, 1.0, -1.0]), np.ones(4)
    w, b = solved(np.zeros((4, 3)) + 1e-9, sign, cost)
    assert not w.any()
    assert b == pytest.approx(0.5)  # the least of 3 (1 − b)² + (1 + b)²


def test_rows_that_cost_nothing_do_not_count():
    table, sign, cost = problem(3, n_features=12)
    cost[::4] = 0.0
    rest = cost > 0.0
    w, b = solved(table, sign, cost)
    alone, level = solved(table[rest], sign[rest], cost[rest])
    np.testing.assert_allclose(w, alone)
    assert b == level
