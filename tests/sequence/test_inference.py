"""Posteriors along a sequence: enumeration, exact recursion, tilted passes, windows of counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixedbag.sequence._exponential import shortest_sum
from mixedbag.sequence._independent import Independent
from tests.sequence.worlds import enumerate_paths, random_chain

POSTERIORS = ("ones", "zeros", "moves")


def one_bag(n):
    return np.array([0, n])


@pytest.mark.kernel
@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("omega", [-6.0, -1.0, 0.0, 2.0, 8.0])
@pytest.mark.parametrize(("n", "n_states"), [(1, 3), (2, 1), (4, 3), (6, 2)])
def test_exact_recursion_equals_enumeration(n, n_states, omega, positive):
    rng = np.random.default_rng(n + 10 * n_states)
    chain, theta = random_chain(rng, n_states)
    log_emission = rng.normal(scale=2, size=(n, n_states))
    ones, zeros, moves, expected, evidence, log_likelihood = enumerate_paths(
        log_emission, chain, theta, omega, positive
    )
    smoothed = chain.smooth(log_emission, one_bag(n))
    label = np.array([positive])
    found = chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), drop=0.0)
    assert_allclose(smoothed.log_likelihood, log_likelihood, rtol=1e-12)
    assert_allclose(found.ones, ones, atol=1e-12)
    assert_allclose(found.zeros, zeros, atol=1e-12)
    assert_allclose(found.moves, moves, atol=1e-12)
    assert_allclose(found.evidence, evidence, rtol=1e-12)
    assert_allclose(found.expected, expected, rtol=1e-10, atol=1e-15)
    if shortest_sum(omega, 1e-6) is None:
        return
    tilted = chain.condition(smoothed, theta, omega, label, np.ones(1), 1e-6)
    assert_allclose(tilted.ones, ones, rtol=2 * tilted.error.max(), atol=1e-15)
    assert_allclose(tilted.moves, moves, rtol=2 * tilted.error.max(), atol=1e-15)
    assert_allclose(tilted.expected, expected, rtol=1e-4, atol=1e-15)


def within_certificate(found, exact):
    """Evidence within its certificate, posteriors within twice it."""
    assert (np.abs(found.evidence / exact.evidence - 1) <= found.error).all()
    for name in POSTERIORS:
        ours, truth = getattr(found, name), getattr(exact, name)
        bound = 2 * found.error.max()
        assert np.abs(ours - truth).max() <= bound * max(1.0, truth.max())


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize("omega", [-6.0, -3.0, -0.7, 0.0, 1.0, 2.5, 4.0, 6.0])
@pytest.mark.parametrize("n", [17, 400])
def test_tilted_passes_keep_their_certificate(n, omega, sharp, positive):
    rng = np.random.default_rng(int(n + 10 * abs(omega)))
    chain, theta = random_chain(rng, 4, sharp)
    log_emission = rng.normal(scale=3, size=(n, 4))
    label = np.array([positive])
    smoothed = chain.smooth(log_emission, one_bag(n))
    exact = chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), 0.0)
    for precision in (1e-6, 1e-7):
        found = chain.condition(smoothed, theta, omega, label, np.ones(1), precision)
        within_certificate(found, exact)
        evidence = chain.evidence(smoothed, theta, omega, label, precision)
        assert_allclose(evidence, found.evidence, rtol=1e-12)


@pytest.mark.parametrize("sharp", [False, True])
@pytest.mark.parametrize(("omega", "positive"), [(-6.0, True), (6.0, False), (2.0, True)])
def test_tilted_passes_on_long_sequences(omega, positive, sharp):
    n, rng = 3200, np.random.default_rng(3)
    chain, theta = random_chain(rng, 2, sharp)
    log_emission = rng.normal(scale=2, size=(n, 2))
    label = np.array([positive])
    smoothed = chain.smooth(log_emission, one_bag(n))
    exact = chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), 0.0)
    within_certificate(chain.condition(smoothed, theta, omega, label, np.ones(1), 1e-6), exact)
    within_certificate(
        chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), 1e-9), exact
    )


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("omega", [-9.0, -2.0, 0.5, 7.0, 10.0])
def test_windows_of_counts_keep_their_certificate(omega, positive):
    n, rng = 300, np.random.default_rng(5)
    chain, theta = random_chain(rng, 3)
    log_emission = rng.normal(scale=2, size=(n, 3))
    label = np.array([positive])
    smoothed = chain.smooth(log_emission, one_bag(n))
    exact = chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), 0.0)
    for drop in (1e-12, 1e-8, 1e-4):
        found = chain.condition_by_counts(smoothed, theta, omega, label, np.ones(1), drop)
        within_certificate(found, exact)
        assert_allclose(found.expected, exact.expected, rtol=4 * found.error.max())


def test_a_steep_link_falls_back_to_windows():
    rng = np.random.default_rng(0)
    chain, theta = random_chain(rng, 3)
    smoothed = chain.smooth(rng.normal(size=(50, 3)), one_bag(50))
    label, weight = np.array([False]), np.ones(1)
    exact = chain.condition_by_counts(smoothed, theta, 8.0, label, weight, 0.0)
    within_certificate(chain.condition(smoothed, theta, 8.0, label, weight, 1e-8), exact)
    assert_allclose(chain.evidence(smoothed, theta, 8.0, label, 1e-8), exact.evidence, rtol=1e-4)


def test_bags_of_a_block_are_independent_and_weighted():
    rng = np.random.default_rng(1)
    chain, theta = random_chain(rng, 3)
    starts = np.array([0, 1, 8, 30])
    log_emission = rng.normal(scale=2, size=(30, 3))
    label, weight = np.array([True, False, True]), np.array([1.0, 2.0, 0.5])
    together = chain.condition(chain.smooth(log_emission, starts), theta, 1.5, label, weight, 1e-9)
    moves = 0.0
    for b in range(3):
        part = slice(starts[b], starts[b + 1])
        alone = chain.smooth(log_emission[part], one_bag(starts[b + 1] - starts[b]))
        found = chain.condition(alone, theta, 1.5, label[[b]], weight[[b]], 1e-9)
        assert_allclose(together.ones[part], found.ones, rtol=1e-10)
        assert_allclose(together.evidence[b], found.evidence[0], rtol=1e-12)
        moves = moves + found.moves
    assert_allclose(together.moves, moves, rtol=1e-10)
    unlabelled = chain.unconditional_moves(chain.smooth(log_emission, starts), weight)
    assert_allclose(unlabelled.sum(), weight @ (np.diff(starts) - 1), rtol=1e-10)


@pytest.mark.kernel
def test_both_labels_exhaust_the_possibilities():
    rng = np.random.default_rng(2)
    chain, theta = random_chain(rng, 5)
    smoothed = chain.smooth(rng.normal(scale=3, size=(200, 5)), one_bag(200))
    for omega in (-3.0, 0.0, 2.0):
        total = sum(
            chain.evidence(smoothed, theta, omega, np.array([y]), 1e-9)[0] for y in (True, False)
        )
        assert_allclose(total, 1.0, rtol=1e-8)


@pytest.mark.parametrize("omega", [-4.0, 0.0, 3.0, 9.0])
def test_a_mixture_is_a_chain_that_forgets(omega):
    rng = np.random.default_rng(4)
    n_states, starts = 3, np.array([0, 40, 41, 100])
    mixture = Independent(rng.dirichlet(np.ones(n_states)))
    theta = rng.uniform(0.05, 0.95, n_states)
    log_emission = rng.normal(scale=2, size=(100, n_states))
    label, weight = np.array([True, False, False]), np.array([1.0, 3.0, 2.0])
    smoothed = mixture.smooth(log_emission, starts)
    chain, steps = mixture._as_chain(smoothed)
    found = mixture.condition(smoothed, theta, omega, label, weight, 1e-8)
    exact = chain.condition_by_counts(steps, theta, omega, label, weight, 0.0)
    assert (np.abs(found.evidence / exact.evidence - 1) <= found.error).all()
    assert_allclose(found.ones, exact.ones, atol=2 * found.error.max())
    assert_allclose(found.zeros, exact.zeros, atol=2 * found.error.max())
    assert_allclose(found.expected, exact.expected, rtol=1e-5)
    assert_allclose(
        mixture.evidence(smoothed, theta, omega, label, 1e-8), found.evidence, rtol=1e-12
    )
    per_step = np.repeat(weight, np.diff(starts))
    assert_allclose(found.moves, per_step @ (exact.ones + exact.zeros), rtol=1e-5)
    chain_likelihood = chain.smooth(log_emission, starts).log_likelihood
    assert_allclose(smoothed.log_likelihood, chain_likelihood, rtol=1e-10)
