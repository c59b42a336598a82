"""The batched optimiser against SciPy's, start by start."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from mixedbag._solvers.batch_lbfgs import BatchLBFGS, _turn


def rosenbrock(points):
    return np.array([rosen(p) for p in points]), np.array([rosen_der(p) for p in points])


def run(search, n_steps=500):
    for _ in range(n_steps):
        if search.converged:
            break
        search.step()
    return search


def test_finds_the_minima_that_scipy_finds():
    starts = np.random.default_rng(0).uniform(-2, 2, size=(8, 4))
    search = run(BatchLBFGS(rosenbrock, starts, tol=1e-14))
    for start, value in zip(starts, search.values):
        reference = minimize(rosen, start, jac=rosen_der, method="L-BFGS-B")
        assert value <= reference.fun + 1e-6


def test_values_never_rise_and_belong_to_the_points():
    starts = np.random.default_rng(1).uniform(-2, 2, size=(5, 3))
    search = run(BatchLBFGS(rosenbrock, starts), 40)
    assert (np.diff(np.array(search.history), axis=0) <= 0).all()
    np.testing.assert_allclose(search.values, rosenbrock(search.points)[0])


def test_starts_do_not_disturb_each_other():
    starts = np.random.default_rng(2).uniform(-2, 2, size=(6, 3))
    together = run(BatchLBFGS(rosenbrock, starts), 15)
    for k, start in enumerate(starts):
        alone = run(BatchLBFGS(rosenbrock, start[None]), 15)
        np.testing.assert_allclose(alone.points[0], together.points[k], rtol=1e-6)


def test_a_quadratic_takes_few_steps():
    scales = np.linspace(1.0, 10.0, 6)
    search = BatchLBFGS(lambda p: ((scales * p**2).sum(axis=1), 2 * scales * p), np.ones((1, 6)))
    run(search, 20)
    assert search.values[0] == pytest.approx(0.0, abs=1e-8)


def test_worse_half_leaves():
    starts = np.array([[0.9, 0.9], [-1.9, 1.9], [1.9, -1.9], [1.1, 1.2]])
    search = BatchLBFGS(rosenbrock, starts)
    before = search.values.copy()
    search.drop_worse_half()
    search.step()
    moved = search.values < before
    np.testing.assert_array_equal(moved, before <= np.median(before))


def test_a_start_at_the_minimum_stays_there():
    search = run(BatchLBFGS(rosenbrock, np.ones((1, 2))))
    assert search.converged
    np.testing.assert_array_equal(search.points, np.ones((1, 2)))


@pytest.mark.kernel
@pytest.mark.parametrize("n_pairs", [0, 2, 4, 7])
def test_directions_by_the_matrix_that_the_recursion_stands_for(n_pairs):
    """H ← (1 − ρ s yᵀ) H (1 − ρ y sᵀ) + ρ s sᵀ, from the oldest of four pairs to the newest."""
    rng = np.random.default_rng(n_pairs)
    pairs, inverses = rng.normal(size=(2, 4, 3, 5)), rng.uniform(0.1, 1.0, (4, 3))
    curvature, gradients = rng.uniform(0.5, 2.0, 3), rng.normal(size=(3, 5))
    found = gradients.copy()
    _turn(found, pairs, inverses, n_pairs, curvature)
    for row in range(3):
        H = curvature[row] * np.eye(5)
        for k in range(max(0, n_pairs - 4), n_pairs):
            (s, y), rho = pairs[:, k % 4, row], inverses[k % 4, row]
            right = np.eye(5) - rho * np.outer(y, s)
            H = right.T @ H @ right + rho * np.outer(s, s)
        np.testing.assert_allclose(found[row], -H @ gradients[row], rtol=1e-9)
