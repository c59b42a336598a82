"""Linear models of counts and totals: laws by brute force, gradients, classical limits."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array
from scipy.special import expit
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge

from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateEasyLLPClassifier,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregatePoissonRegressor,
    AggregateRidgeClassifier,
    AggregateRidgeRegressor,
)
from mixedbag.aggregate._network import ExactCounts, MeanShares, Shares
from mixedbag.aggregate._poisson_binomial import log_likelihood


def brute_force(p, count):
    """The probability of a count, over all labelings."""
    total = 0.0
    for labels in product([0, 1], repeat=len(p)):
        if sum(labels) == count:
            total += np.prod(np.where(labels, p, 1 - p))
    return total


def as_of_bags(offsets):
    """Read-only, as those of bags: the same compiled kernel."""
    offsets.flags.writeable = False
    return offsets


@pytest.mark.parametrize("seed", range(4))
def test_poisson_binomial_is_the_sum_over_all_labelings(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 6)
    offsets = as_of_bags(np.concatenate([[0], np.cumsum(sizes)]))
    z = 2 * rng.standard_normal(offsets[-1])
    counts = rng.integers(0, sizes + 1)
    value, counted = log_likelihood(z, offsets, counts)
    p = expit(z)
    expected = [brute_force(p[a:b], c) for a, b, c in zip(offsets[:-1], offsets[1:], counts)]
    assert_allclose(np.exp(value), expected, rtol=1e-12)
    assert_allclose(np.add.reduceat(counted, offsets[:-1]), counts, atol=1e-10)
    numeric = approx_fprime(z, lambda at: log_likelihood(at, offsets, counts)[0].sum(), 1e-7)
    assert_allclose(counted - p, numeric, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("count", [0, 1, 1_000, 1_900, 2_000])
def test_poisson_binomial_of_large_unlikely_counts_is_the_binomial_law(count):
    z = np.full(2_000, -13.0)
    value, counted = log_likelihood(z, as_of_bags(np.array([0, 2_000])), np.array([count]))
    assert_allclose(value, binom.logpmf(count, 2_000, expit(-13.0)), rtol=1e-9)
    assert_allclose(counted, count / 2_000, atol=1e-9)


@pytest.mark.parametrize("head", [MeanShares(), ExactCounts(), Shares()])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gradients_of_the_losses(head, n_outputs):
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 4, 9])
    z = rng.standard_normal((9, n_outputs))
    labels = rng.integers(0, max(2, n_outputs), 9)
    counts = np.add.reduceat(np.eye(max(2, n_outputs))[labels], offsets[:-1])
    target = counts[:, 1:] if n_outputs == 1 else counts
    weight = np.array([1.0, 2.0, 0.5])

    def value(flat):
        return head.loss(flat.reshape(z.shape), offsets, target, weight)[0]

    numeric = approx_fprime(z.ravel(), value, 1e-7)
    assert_allclose(head.loss(z, offsets, target, weight)[1].ravel(), numeric, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("likelihood", ["mean", "exact"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_bags_of_one_are_logistic_regression(likelihood, n_classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(200), [0.0, 0.7][: n_classes - 1])
    ours = AggregateLogisticRegression(2.0, likelihood=likelihood, tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=2.0, tol=1e-9, max_iter=10_000).fit(X, y)
    if likelihood == "exact" and n_classes == 3:
        # Class by class, a label is scored with the log-odds of its class and of the others.
        agreement = np.mean(ours.predict(X) == theirs.predict(X))
        assert agreement > 0.95
    else:
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def counted(rng, n_bags=400, size=6, slope=(2.0, -1.0)):
    X = rng.standard_normal((n_bags * size, 2))
    chance = 1 / (1 + np.exp(-(X @ slope) + 0.5))
    labels = rng.uniform(size=len(X)) < chance
    bags = Bags(X, np.arange(n_bags + 1) * size)
    return bags, np.add.reduceat(labels.astype(int), bags.offsets[:-1]), labels


@pytest.mark.parametrize("likelihood", ["mean", "exact"])
def test_the_weights_behind_the_counts_are_found(likelihood):
    bags, counts, _ = counted(np.random.default_rng(2), n_bags=3_000)
    model = AggregateLogisticRegression(100.0, likelihood=likelihood).fit(bags, counts)
    assert_allclose(model.coef_[:, 0], [2.0, -1.0], atol=0.3)
    assert_allclose(model.intercept_, -0.5, atol=0.2)
    assert (np.diff(model.objective_) <= 1e-9 * abs(model.objective_[0])).all()


def test_exact_counts_make_more_of_small_bags_than_mean_probabilities():
    errors = {"mean": [], "exact": []}
    for seed in range(6):
        bags, counts, _ = counted(np.random.default_rng(seed), n_bags=300, size=3)
        for likelihood, found in errors.items():
            model = AggregateLogisticRegression(100.0, likelihood=likelihood).fit(bags, counts)
            found.append(np.linalg.norm(model.coef_[:, 0] - [2.0, -1.0]))
    assert np.mean(errors["exact"]) < np.mean(errors["mean"])


def test_shares_are_counts_over_size():
    bags, counts, _ = counted(np.random.default_rng(3))
    a = AggregateLogisticRegression().fit(bags, counts)
    b = AggregateLogisticRegression(aggregate="mean").fit(bags, counts / bags.sizes)
    assert_allclose(a.coef_, b.coef_, rtol=1e-6)


def test_exact_refuses_counts_that_are_not_whole():
    bags, counts, _ = counted(np.random.default_rng(3))
    model = AggregateLogisticRegression(likelihood="exact", aggregate="mean")
    with pytest.raises(ValueError, match="no whole number"):
        model.fit(bags, np.clip(counts / bags.sizes * 0.97, 0, 1))


@pytest.mark.parametrize(
    "kind",
    [
        AggregateEasyLLPClassifier,
        AggregateLogisticRegression,
        AggregateMeanMapClassifier,
        AggregatePoissonRegressor,
    ],
)
def test_sparse_single_and_threaded_agree_with_dense(kind):
    bags, counts, _ = counted(np.random.default_rng(4))
    dense = kind().fit(bags, counts)
    sparse = kind().fit(bags.with_instances(csr_array(bags.instances)), counts)
    threads = kind(n_jobs=2).fit(bags, counts)
    single = kind().fit(bags.with_instances(bags.instances.astype(np.float32)), counts)
    for other, atol in ((sparse, 1e-5), (threads, 1e-5), (single, 1e-3)):
        assert_allclose(other.coef_, dense.coef_, atol=atol)


def test_poisson_bags_of_one_are_poisson_regression():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 3))
    y = rng.poisson(np.exp(X @ [0.5, -0.3, 0.0] + 0.2))
    ours = AggregatePoissonRegressor(0.1, tol=1e-10).fit(X, y)
    theirs = PoissonRegressor(alpha=1 / (0.1 * 300), tol=1e-10, max_iter=10_000).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_rates_times_exposure_are_found_and_add_up():
    rng = np.random.default_rng(6)
    exposure = rng.uniform(0.5, 20, 8_000)
    X = np.column_stack([rng.standard_normal((8_000, 2)), exposure])
    events = rng.poisson(exposure * np.exp(X[:, :2] @ [0.8, -0.4] - 1.0))
    bags = Bags(X, np.arange(0, 8_001, 8), feature_names=["a", "b", "people"])
    totals = np.add.reduceat(events, bags.offsets[:-1])
    model = AggregatePoissonRegressor(100.0, exposure="people").fit(bags, totals)
    assert_allclose(model.coef_, [0.8, -0.4, 0.0], atol=0.05)
    assert_allclose(model.intercept_, -1.0, atol=0.05)
    values = model.predict_instances(bags)
    assert_allclose(np.add.reduceat(values, bags.offsets[:-1]), model.predict(bags))
    twice = bags.with_instances(X * [1, 1, 2], bags.feature_names)
    assert_allclose(model.predict(twice), 2 * model.predict(bags))


def test_poisson_gradient_and_refusals():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 2))
    bags = Bags(X, np.arange(0, 31, 3))
    with pytest.raises(ValueError, match="negative"):
        AggregatePoissonRegressor().fit(bags, np.r_[-1.0, np.ones(9)])
    with pytest.raises(ValueError, match="exposure 'people' is not a column"):
        AggregatePoissonRegressor(exposure="people").fit(bags, np.ones(10))
    with pytest.raises(ValueError, match="exposure is column 5"):
        AggregatePoissonRegressor(exposure=5).fit(bags, np.ones(10))
    with pytest.raises(ValueError, match="it must be positive"):
        AggregatePoissonRegressor(exposure=0).fit(bags, np.ones(10))


# Quick guesses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AggregateEasyLLPClassifier, AggregateMeanMapClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_of_bags_of_one_are_known_sums(kind, n_classes):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((150, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(150), [0.0, 0.7][: n_classes - 1])
    ours = kind(0.7, tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=0.7, tol=1e-9, max_iter=10_000).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_the_means_of_classes_are_found_from_bags_that_are_not_random():
    rng = np.random.default_rng(9)
    share = rng.uniform(size=300)
    labels = (rng.uniform(size=(300, 20)) < share[:, None]).ravel()
    X = rng.standard_normal((6_000, 2)) + np.where(labels[:, None], [2.0, 0.0], [0.0, 1.0])
    bags = Bags(X, np.arange(0, 6_001, 20))
    counts = np.add.reduceat(labels.astype(int), bags.offsets[:-1])
    model = AggregateMeanMapClassifier().fit(bags, counts)
    assert_allclose(model.means_, [[0.0, 1.0], [2.0, 0.0]], atol=0.15)
    assert np.mean(model.predict_instances(bags) == labels) > 0.85


def test_debiased_labels_are_right_on_average():
    """Over many random fillings, the sums of the debiased labels are those of the true ones."""
    from mixedbag.aggregate.easy_llp import _counts_and_instances, _debiased_sums
    from mixedbag.engines.local import Labelled

    rng = np.random.default_rng(10)
    X = rng.standard_normal((600, 2))
    y = X[:, 0] > 0.3
    found = []
    for _ in range(400):
        order = rng.permutation(600)
        bags = Bags(X[order], np.arange(0, 601, 3))
        counts = np.add.reduceat(np.eye(2)[y[order].astype(int)], bags.offsets[:-1])
        block = Labelled(bags, counts, np.ones(200))
        total = _counts_and_instances(block)
        found.append(_debiased_sums(block, total[:-1] / total[-1]))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    truth = X.T @ np.eye(2)[y.astype(int)]
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * error + 0.01 * np.abs(truth)).all()


def test_ridge_on_means():
    rng = np.random.default_rng(11)
    X, y = rng.standard_normal((80, 3)), rng.standard_normal(80)
    ours, theirs = AggregateRidgeRegressor(2.0).fit(X, y), Ridge(2.0).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
    sizes = rng.integers(1, 6, 30)
    bags = Bags(rng.standard_normal((sizes.sum(), 3)), np.r_[0, np.cumsum(sizes)])
    totals = rng.standard_normal(30)
    means = np.add.reduceat(bags.instances, bags.offsets[:-1]) / sizes[:, None]
    theirs = Ridge(2.0).fit(means, totals / sizes, sample_weight=sizes)
    ours = AggregateRidgeRegressor(2.0).fit(bags, totals)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
    assert_allclose(ours.predict(bags), theirs.predict(means) * sizes)
    counts = rng.integers(0, sizes + 1)
    shares = AggregateRidgeClassifier(2.0).fit(bags, counts)
    theirs = Ridge(2.0).fit(means, counts / sizes, sample_weight=sizes)
    assert_allclose(shares.coef_[:, 1], theirs.coef_, rtol=1e-8)
