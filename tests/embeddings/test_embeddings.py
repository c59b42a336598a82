"""Embeddings: formulas by hand, exact instance scores of means, gradients, transport costs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.mixture import GaussianMixture

from mixedbag import Bags
from mixedbag.datasets import make_any
from mixedbag.embeddings import (
    DissimilarityClassifier,
    FisherVectorClassifier,
    MeanNetworkClassifier,
    MINetworkClassifier,
    VLADClassifier,
    VocabularyClassifier,
    network,
    prototypes,
)
from mixedbag.embeddings._mixture import Mixture
from mixedbag.embeddings._transport import sinkhorn
from mixedbag.embeddings.fisher import Principal
from mixedbag.pooling import LogMeanExp, Mean


@pytest.fixture(scope="module")
def data():
    return make_any(n_bags=60, random_state=0)


def test_fisher_vectors_are_the_gradients_of_the_likelihood(data):
    """By means and deviations, over the square root of the Fisher information, up to √n."""
    model = FisherVectorClassifier(3, variance=1.0, random_state=0).fit(data.bags, data.y)
    bag = data.bags[:1]
    X = (bag.instances - model.mean_) @ model.axes_
    share, mean, deviation = model.shares_, model.means_, np.sqrt(model.variances_)

    def likelihood(mean, deviation):
        parts = [
            w * multivariate_normal.pdf(X, m, np.diag(s**2)).reshape(-1)
            for w, m, s in zip(share, mean, deviation)
        ]
        return np.log(np.sum(parts, axis=0)).mean()

    expected = []
    for k in range(3):
        by_mean = approx_fprime(
            mean[k], lambda m, k=k: likelihood(_with(mean, k, m), deviation), 1e-7
        )
        by_dev = approx_fprime(
            deviation[k], lambda s, k=k: likelihood(mean, _with(deviation, k, s)), 1e-7
        )
        expected += [by_mean * deviation[k] / np.sqrt(share[k])]
        expected += [by_dev * deviation[k] / np.sqrt(2 * share[k])]
    expected = np.concatenate(expected)
    expected = np.sign(expected) * np.sqrt(np.abs(expected))
    assert_allclose(model._vectors(bag)[0], expected / np.linalg.norm(expected), atol=2e-3)


def _with(rows, k, row):
    changed = rows.copy()
    changed[k] = row
    return changed


def test_the_mixture_climbs_as_high_as_scikit_learn(data):
    X = data.bags.instances
    ours = Mixture.fit(X, np.ones(len(X)), 2, np.random.RandomState(0))
    theirs = GaussianMixture(2, covariance_type="diag", n_init=5, random_state=0).fit(X)
    log_joint = ours._log_joint(X)
    assert np.logaddexp.reduce(log_joint, axis=1).mean() > theirs.score(X) - 0.05


def test_principal_axes_hold_the_variance(data):
    X, weight = data.bags.instances, np.ones(data.bags.n_instances)
    assert Principal.fit(X, weight, 1.0).axes.shape[1] == X.shape[1]
    rows = Principal.fit(X, weight, 0.5)(X)
    assert rows.var(axis=0).sum() >= 0.5 * X.var(axis=0).sum()
    assert_allclose(np.cov(rows.T, bias=True), np.diag(rows.var(axis=0)), atol=1e-9)


def test_vlad_by_hand(data):
    model = VLADClassifier(3, random_state=0).fit(data.bags, data.y)
    bag = data.bags[2]
    nearest = cdist(bag, model.centers_).argmin(axis=1)
    parts = []
    for k in range(3):
        near = bag[nearest == k]
        parts.append(np.append((near - model.centers_[k]).sum(axis=0), len(near) * model.width_))
    expected = np.concatenate(parts)
    expected = np.sign(expected) * np.sqrt(np.abs(expected))
    assert_allclose(model._vectors(data.bags[[2]])[0], expected / np.linalg.norm(expected))


@pytest.mark.parametrize(
    "kind", [VocabularyClassifier, MeanNetworkClassifier, DissimilarityClassifier]
)
def test_the_score_of_a_bag_is_the_mean_of_its_instances_scores(kind, data):
    model = kind(random_state=0).fit(data.bags, data.y)
    scores = model.decision_function_instances(data.bags)
    means = np.add.reduceat(scores, data.bags.offsets[:-1]) / data.bags.sizes
    assert_allclose(model.decision_function(data.bags), means, atol=1e-9)


@pytest.mark.parametrize(
    ("distance", "reduce"), [("meanmin", np.mean), ("minmin", np.min), ("maxmin", np.max)]
)
def test_dissimilarities_by_hand(distance, reduce, data):
    model = DissimilarityClassifier(distance).fit(data.bags, data.y)
    kept = Bags(model.prototypes_, model.offsets_)
    found = model._vectors(data.bags) * model.scale_
    for i, k in ((0, 5), (7, 7), (30, 2)):
        table = cdist(data.bags[i], kept[k], "sqeuclidean")
        assert_allclose(found[i, k], reduce(table.min(axis=1)), atol=1e-9)


def test_transport_comes_down_to_the_best_matching():
    rng = np.random.default_rng(0)
    table = cdist(rng.normal(size=(6, 2)), rng.normal(size=(6, 2)), "sqeuclidean")
    rows, columns = linear_sum_assignment(table)
    exact = table[rows, columns].mean()
    offsets = np.array([0, 6])
    offsets.flags.writeable = False  # as those of bags: the same compiled kernel
    soft = sinkhorn(table, offsets, offsets, 0.01, 5_000)[0, 0]
    assert exact * (1 - 1e-6) <= soft <= exact * 1.02


def test_transport_and_subspaces_learn(data):
    model = DissimilarityClassifier("transport", n_subspaces=5, random_state=0)
    assert model.fit(data.bags, data.y).score(data.bags, data.y) > 0.8


def test_any_classifier_may_stand_behind_a_vector(data):
    trees = ExtraTreesClassifier(20, random_state=0)
    model = FisherVectorClassifier(estimator=trees, random_state=0).fit(data.bags, data.y)
    assert_allclose(model.predict_proba(data.bags).sum(axis=1), 1.0)
    assert model.score(data.bags, data.y) == 1.0


@pytest.mark.parametrize(
    ("module", "pooling"),
    [(network, Mean()), (network, LogMeanExp(3.0)), (prototypes, None)],
)
def test_gradients(module, pooling, data):
    rng = np.random.default_rng(0)
    bags = data.bags[:8]
    sign = np.where(np.arange(8) % 2, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, 8)
    d = bags.n_features
    if module is network:
        flat, args = rng.normal(size=d * 3 + 3 + 3 + 1), (3, 0.1, pooling)
    else:
        flat, args = rng.normal(size=2 * d + 2 + 1), (0.05, 0.1)

    def objective(at):
        if module is prototypes:
            return module.objective(at, bags, sign, weight, *args)
        # Networks come several at a time, none of which knows of the others.
        values, slopes = module.objective(np.stack([-at, at]), bags, sign, weight, *args)
        return values[1], slopes[1]

    slope = approx_fprime(flat, lambda at: objective(at)[0], 1e-7)
    assert_allclose(objective(flat)[1], slope, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("pooling", [Mean(), LogMeanExp(3.0)])
def test_the_objective_of_networks_by_hand(pooling, data):
    rng = np.random.default_rng(1)
    bags, sign, weight = data.bags[:8], np.tile([1.0, -1.0], 4), rng.uniform(0.5, 2.0, 8)
    d, points = bags.n_features, rng.normal(size=(2, 3 * data.bags.n_features + 7))
    values, _ = network.objective(points, bags, sign, weight, 3, 0.1, pooling)
    for point, value in zip(points, values):
        W, (b, v), c = point[: 3 * d].reshape(d, 3), point[3 * d : -1].reshape(2, 3), point[-1]
        pooled = pooling.value(np.maximum(bags.instances @ W + b, 0.0) @ v + c, bags.offsets)
        loss = weight @ np.logaddexp(0.0, -sign * pooled) / weight.sum()
        assert_allclose(value, loss + 0.05 * ((W**2).sum() + v @ v))


@pytest.mark.parametrize("kind", [MeanNetworkClassifier, MINetworkClassifier])
def test_networks_of_large_tables_end_as_low_in_single_precision(kind, data, monkeypatch):
    model = kind(4, alpha=0.1, n_init=2, tol=1e-7, random_state=0)
    reached = []
    for large in (np.inf, 0):
        monkeypatch.setattr(network, "_LARGE", large)
        reached.append(model.fit(data.bags, data.y).objective_[-1])
    assert reached[0] != reached[1]
    assert_allclose(*reached, rtol=1e-3)


def test_prototypes_find_the_nearest_instance_of_each_bag(data):
    places = np.random.default_rng(0).normal(size=(3, data.bags.n_features))
    close, nearest = prototypes._closeness(data.bags, places, 0.2)
    for i, (bag, first) in enumerate(zip(data.bags, data.bags.offsets)):
        squared = cdist(bag, places, "sqeuclidean")
        assert_array_equal(nearest[i] - first, squared.argmin(axis=0))
        assert_allclose(close[i], np.exp(-0.2 * squared.min(axis=0)))
