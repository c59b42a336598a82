"""Guarded Newton steps, line searches and the choice of candidates."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from mixedbag.boosting import steps
from mixedbag.boosting._grid import Grid
from mixedbag.boosting._search import exact_lengths, falling_lengths


def eigen_step(v, U, longest=4.0):
    """Promised decrease and step, by eigenvectors and the size of eigenvalues."""
    values, vectors = np.linalg.eigh(U)
    slopes = vectors.T @ v
    lengths = -np.sign(slopes) * np.minimum(np.abs(slopes) / np.abs(values), longest)
    return -(slopes * lengths + np.abs(values) * lengths**2 / 2).sum(), vectors @ lengths


def as_sums(v, U):
    """One slot with one threshold, whose system is (v, U): its cell, and the cell of everything."""
    return np.array([[v[0], U[0, 0], U[0, 1]], [v.sum(), U.sum(), 0.0]])


def gains(sums):
    cells, is_cut = np.arange(0, len(sums) + 1, 2), np.tile([True, False], len(sums) // 2)
    return steps.newton_gains(sums, cells, is_cut, 4.0)


@pytest.mark.parametrize("shift", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(20))
def test_guarded_newton_is_newton_on_absolute_eigenvalues(seed, shift):
    """Indefinite systems, and definite ones that need no guard."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(2, 2))
    U = U + U.T + shift * np.eye(2)
    v = rng.normal(size=2)
    gain, step = eigen_step(v, U)
    found = gains(as_sums(v, U))
    assert found[0] == pytest.approx(gain)
    assert found[1] == -np.inf
    system = (np.array([x]) for x in (*v, U[0, 0], U[0, 1], U[1, 1]))
    np.testing.assert_allclose(np.ravel(steps.guarded_steps(*system, 4.0)), step, atol=1e-10)


def test_singular_curvature_gives_a_finite_step():
    for v, U in [
        ([1.0, 0.0], [[0.0, 0.0], [0.0, 0.0]]),
        ([0.0, 0.0], [[1.0, 0.0], [0.0, 0.0]]),
        ([1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]]),
    ]:
        v, U = np.array(v), np.array(U)
        assert np.isfinite(gains(as_sums(v, U))[0])
        system = (np.array([x]) for x in (*v, U[0, 0], U[0, 1], U[1, 1]))
        assert np.isfinite(steps.guarded_steps(*system, 4.0)).all()


def test_ties_go_to_the_first_cell():
    gain = np.array([1.0, 2.0, 2.0 + 1e-13, -np.inf, 5.0, 5.0, -np.inf])
    grid = Grid.from_thresholds([[0.0, 1.0, 2.0], [0.0, 1.0]], [False, False])
    np.testing.assert_array_equal(steps.best_cells(gain, grid.cells), [1, 4])
    nothing = np.full(7, -np.inf)
    np.testing.assert_array_equal(steps.best_cells(nothing, grid.cells), [0, 4])


def exponentials(rng, n):
    """Sums of exponentials, as the loss of AdaBoost along a stump: a, b and the derivatives."""
    a, b = rng.uniform(0.1, 2, n), rng.uniform(0.1, 2, n)
    b = np.minimum(a * 0.9, b)

    def follow(x):
        up, down = b * np.exp(x), a * np.exp(-x)
        return np.stack([up + down, up - down, up + down], axis=1)

    return a, b, follow


def test_exact_lengths_are_exact():
    a, b, follow = exponentials(np.random.default_rng(0), 50)
    lengths, losses = exact_lengths(follow, np.full(50, 0.3), 10.0)
    np.testing.assert_allclose(lengths, 0.5 * np.log(a / b), rtol=1e-9)
    np.testing.assert_allclose(losses, 2 * np.sqrt(a * b), rtol=1e-12)


def test_exact_lengths_of_a_bumpy_loss_fall():
    def loss(x):
        return np.cos(3 * x) + 0.3 * (x - 1) ** 2

    def follow(x):
        slope = -3 * np.sin(3 * x) + 0.6 * (x - 1)
        return np.stack([loss(x), slope, -9 * np.cos(3 * x) + 0.6], axis=1)

    for start in (0.05, 0.5, 3.0):
        (length,), (found,) = exact_lengths(follow, np.array([start]), 10.0)
        assert found < loss(0.0)
        assert found == pytest.approx(minimize(lambda z: loss(z[0]), length).fun)


def test_a_loss_that_falls_forever_stops_at_the_longest_step():
    def follow(x):
        return np.stack([np.exp(-x), -np.exp(-x), np.exp(-x)], axis=1)

    lengths, _ = exact_lengths(follow, np.array([0.1, 10.0]), 10.0)
    np.testing.assert_array_equal(lengths, 10.0)


def test_agrees_with_an_independent_search():
    a, b, follow = exponentials(np.random.default_rng(3), 5)
    lengths, _ = exact_lengths(follow, np.ones(5), 10.0)
    for k in range(5):
        other = minimize_scalar(lambda x, k=k: a[k] * np.exp(-x) + b[k] * np.exp(x)).x
        assert lengths[k] == pytest.approx(other, abs=1e-6)


def test_lengths_are_halved_until_the_loss_falls():
    def follow(x):
        # Falls within 0.3, within 1e-4, never.
        loss = np.array([x[0] * (x[0] - 0.3), x[1] * (x[1] - 1e-4), x[2]])
        return np.stack([loss, loss, loss], axis=1)

    lengths, losses = falling_lengths(follow, np.ones(3), 0.0)
    np.testing.assert_array_equal(lengths, [0.25, 0.0, 0.0])  # the second got too few chances
    assert losses[0] < 0
    alone, _ = falling_lengths(lambda x: follow(np.array([1.0, x[0], 1.0]))[1:2], np.ones(1), 0.0)
    assert 0 < alone[0] < 1e-4
