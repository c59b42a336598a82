"""Neighbours, networks and boosting: gradients, classical limits, and what counts allow."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor

from mixedbag import Bags
from mixedbag._account.counts import sharpen
from mixedbag.aggregate import (
    AggregateGradientBoostingClassifier,
    AggregateGradientBoostingRegressor,
    AggregateKNeighborsClassifier,
    AggregateKNeighborsRegressor,
    AggregateMLPClassifier,
    AggregateMLPRegressor,
    AggregateRBFClassifier,
    AggregateRBFRegressor,
)
from mixedbag.aggregate._network import (
    Counts,
    ExactCounts,
    Network,
    Shares,
    Totals,
    broken_and_work,
    exact_suits,
)
from mixedbag.aggregate._smoothing import sharpness
from mixedbag.aggregate.rbf import activations


def problem(seed=0, n=600, size=4, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    label = np.digitize(X[:, 0] + 0.5 * X[:, 1], [0.0, 0.8])
    label = np.minimum(label, n_classes - 1)
    bags = Bags(X, np.unique(np.r_[np.arange(0, n, size), n]))
    return bags, np.add.reduceat(np.eye(n_classes)[label], bags.offsets[:-1]), label


# Neighbours ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbours_of_bags_of_one_are_the_ordinary_ones(weights):
    rng = np.random.default_rng(0)
    X, y, Z = rng.normal(size=(80, 2)), rng.normal(size=80), rng.normal(size=(40, 2))
    label = np.where(y > 0, "a", "b")
    ours = AggregateKNeighborsRegressor(3, weights=weights).fit(X, y)
    theirs = KNeighborsRegressor(3, weights=weights).fit(X, y)
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    ours = AggregateKNeighborsClassifier(3, weights=weights).fit(X, label)
    theirs = KNeighborsClassifier(3, weights=weights).fit(X, label)
    np.testing.assert_array_equal(ours.predict(Z), theirs.predict(Z))
    np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z))


def test_a_neighbour_brings_the_mean_of_its_bag():
    bags, counts, _ = problem(1)
    model = AggregateKNeighborsClassifier(5).fit(bags, counts)
    theirs = KNeighborsRegressor(5).fit(bags.instances, bags.spread(counts[:, 1] / bags.sizes))
    X = np.random.default_rng(2).normal(size=(50, 3))
    share = theirs.predict(X)
    plain = np.column_stack([1.0 - share, share])
    np.testing.assert_allclose(
        model.predict_proba_instances(X), sharpen(plain, model.sharpening_), atol=1e-12
    )


def test_light_neighbours_are_taken_until_their_weights_are_enough():
    X = np.arange(6.0).reshape(-1, 1)
    model = AggregateKNeighborsRegressor(2).fit(X, X[:, 0], sample_weight=np.full(6, 0.5))
    assert model.predict([[0.0]])[0] == pytest.approx(np.mean([0, 1, 2, 3]))


# Networks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "n_outputs"),
    [(head, k) for head in (Counts(), Shares(), ExactCounts()) for k in (1, 3)] + [(Totals(), 1)],
)
def test_gradient_is_the_finite_difference(head, n_outputs):
    rng = np.random.default_rng(0)
    bags, counts, _ = problem(0, n=30, size=4, n_classes=max(2, n_outputs))
    target = counts[:, 1:] if n_outputs == 1 else counts
    smoothing = 0.0 if isinstance(head, Totals) else 0.8
    network = Network(head, 3, 5, n_outputs, alpha=0.3, hidden_price=2.0, smoothing=smoothing)
    data = (bags.instances, bags.offsets, target, rng.uniform(0.5, 2.0, size=len(bags)))
    flat = network.start(rng)
    flat[-n_outputs:] = 0.2  # biases that are not zero
    difference = check_grad(
        lambda v: network.objective(v, *data)[0], lambda v: network.objective(v, *data)[1], flat
    )
    assert difference < 1e-5


@pytest.mark.parametrize(("head", "n_outputs"), [(Shares(), 1), (Shares(), 3)])
def test_sharpness_is_what_steps_do_to_answers(head, n_outputs):
    """The divergence of answers, of one step along each axis, far below what is not quadratic."""
    rng = np.random.default_rng(0)
    network = Network(head, 3, 5, n_outputs, alpha=0.0)
    flat, X, weight = (
        rng.normal(size=len(network.start(rng))),
        rng.normal(size=(8, 3)),
        rng.random(8),
    )
    hidden, _, output, _ = network.split(flat)

    def divergence(moved):
        z, there = (network.forward(flat, rows)[1] for rows in (X, moved))
        p, q = head.outputs(z), head.outputs(there)
        if n_outputs == 1:
            p, q = np.hstack([1 - p, p]), np.hstack([1 - q, q])
        return (p * np.log(p / q)).sum(axis=1)

    step = 1e-4
    told = sum(divergence(X + step * axis) for axis in np.eye(3)) / (step**2 / 2)
    active, z = network.forward(flat, X)
    value = sharpness(head, active, z, hidden, output, weight)[0]
    assert value == pytest.approx(weight @ told, rel=1e-3)


def test_one_score_is_changed_most_along_its_gradient():
    """So that the adversary of two classes need not be looked for."""
    rng = np.random.default_rng(1)
    network = Network(Shares(), 3, 5, 1, alpha=0.0)
    flat, x = rng.normal(size=len(network.start(rng))), rng.normal(size=(1, 3))
    steps = rng.normal(size=(4000, 3))
    steps *= 1e-5 / np.linalg.norm(steps, axis=1, keepdims=True)
    worst = np.abs(network.forward(flat, x + steps)[1] - network.forward(flat, x)[1]).max()
    hidden, _, output, _ = network.split(flat)
    active, z = network.forward(flat, x)
    value = sharpness(Shares(), active, z, hidden, output, np.ones(1))[0]
    p = Shares().outputs(z)[0, 0]
    assert p * (1 - p) * worst**2 == pytest.approx(1e-10 * value, rel=1e-2)


def flat_weights(model):
    return np.concatenate(
        [p.ravel() for pair in zip(model.coefs_, model.intercepts_) for p in pair]
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_bags_of_one_have_the_objective_of_ordinary_networks():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.sin(X[:, 0])
    settings = {
        "hidden_layer_sizes": (5,),
        "activation": "logistic",
        "solver": "lbfgs",
        "alpha": 0.7,
        "max_iter": 40,
        "random_state": 0,
    }
    offsets, ones = np.arange(91), np.ones(90)
    theirs = MLPRegressor(**settings).fit(X, y)
    network = Network(Totals(), 3, 5, 1, alpha=0.7)
    ours, _ = network.objective(flat_weights(theirs), X, offsets, y[:, None], ones)
    assert ours == pytest.approx(theirs.loss_, rel=1e-6)
    for label, n_outputs in ((y > 0, 1), (np.digitize(y, [-0.3, 0.3]), 3)):
        theirs = MLPClassifier(**settings).fit(X, label)
        table = np.eye(max(2, n_outputs))[label.astype(int)]
        target = table[:, 1:] if n_outputs == 1 else table
        network = Network(Shares(), 3, 5, n_outputs, alpha=0.7)
        ours, _ = network.objective(flat_weights(theirs), X, offsets, target, ones)
        assert ours == pytest.approx(theirs.loss_, rel=1e-6)


@pytest.mark.parametrize(
    ("counts", "sizes", "exact"),
    [
        ([1.0, 4.0], [3, 8], True),
        ([0.99, 4.0], [3, 8], True),  # a third, rounded
        ([1.3, 4.0], [3, 8], False),
        ([900.0], [2_000], False),  # would take too long
        ([2.0], [2_000], True),
    ],
)
def test_counts_are_exact_where_they_can_be(counts, sizes, exact):
    assert exact_suits(*broken_and_work(np.array(counts)[:, None], np.array(sizes))) == exact


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
@pytest.mark.parametrize("loss", ["likelihood", "cross_entropy", "squared"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_networks_find_the_labels_behind_the_counts(solver, loss, n_classes):
    bags, counts, label = problem(3, n_classes=n_classes)
    settings = {"alpha": 0.01, "random_state": 0, "solver": solver, "loss": loss}
    if solver == "adam":
        settings |= {"learning_rate": 0.02, "max_iter": 60, "batch_size": 100}
    model = AggregateMLPClassifier(**settings).fit(bags, counts)
    assert np.mean(model.predict_instances(bags) == label) > 0.93
    p = model.predict_proba_instances(bags)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert (model.predict_proba_instances(bags).argmax(axis=1) == label).mean() > 0.93
    if solver == "lbfgs":
        assert (np.diff(model.objective_) <= 1e-12).all()


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_network_regression_from_totals(solver):
    bags, _, _ = problem(4)
    value = np.sin(bags.instances[:, 0]) + bags.instances[:, 1]
    total = np.add.reduceat(value, bags.offsets[:-1])
    model = AggregateMLPRegressor(
        alpha=0.1, solver=solver, learning_rate=0.02, batch_size=100, random_state=0
    ).fit(bags, total)
    assert np.var(model.predict_instances(bags) - value) < 0.05 * np.var(value)


# RBF networks -------------------------------------------------------------------------------------


def test_rbf_of_bags_of_one_is_the_textbook_network():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    model = AggregateRBFRegressor(10, alpha=0.0, random_state=0).fit(X, y)
    clusters = KMeans(10, n_init=1, tol=0.0, random_state=0).fit(X[np.argsort(X[:, 0])])
    np.testing.assert_allclose(model.centers_, clusters.cluster_centers_)
    nearest = ((X[:, None] - model.centers_) ** 2).sum(axis=2) ** 0.5
    width = [nearest[nearest.argmin(axis=1) == j, j].mean() for j in range(10)]
    np.testing.assert_allclose(model.widths_, width)
    A = np.column_stack([np.ones(200), np.exp(-(nearest**2) / (2 * np.square(width)))])
    expected = A @ np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


def test_rbf_matches_summed_activations():
    bags, counts, label = problem(6)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=len(bags))
    model = AggregateRBFClassifier(alpha=0.5, random_state=0).fit(
        bags, counts, sample_weight=weight
    )
    A = np.add.reduceat(
        activations(bags.instances, model.centers_, model.widths_), bags.offsets[:-1]
    )
    penalty = 0.5 * np.diag(np.r_[0.0, np.ones(12)])
    left = A.T @ (weight[:, None] * A) + penalty
    np.testing.assert_allclose(left @ model.coef_, A.T @ (weight[:, None] * counts), atol=1e-6)
    assert np.mean(model.predict_instances(bags) == label) > 0.85


# Boosting -----------------------------------------------------------------------------------------


def test_boosting_of_totals_never_gets_worse_and_finds_the_values():
    bags, _, _ = problem(7)
    value = np.sin(2 * bags.instances[:, 0]) + bags.instances[:, 1]
    total = np.add.reduceat(value, bags.offsets[:-1])
    model = AggregateGradientBoostingRegressor(200).fit(bags, total)
    assert (np.diff(model.objective_) <= 0).all()
    assert np.var(model.predict_instances(bags) - value) < 0.15 * np.var(value)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_of_counts_never_gets_worse_and_finds_the_labels(n_classes):
    bags, counts, label = problem(8, n_classes=n_classes)
    model = AggregateGradientBoostingClassifier(60).fit(bags, counts)
    assert (np.diff(model.objective_) <= 0).all()
    assert np.mean(model.predict_instances(bags) == label) > 0.9
    mean = np.add.reduceat(model.predict_proba_instances(bags), bags.offsets[:-1])
    mean /= bags.sizes[:, None]
    assert model.objective_[-1] == pytest.approx(-np.sum(counts * np.log(mean)), rel=1e-9)


def test_first_boosting_round_on_bags_of_one_is_a_newton_step():
    """Without ridge a leaf moves by Σ(y − p) / Σ p(1 − p): LogitBoost."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(150, 2))
    y = X[:, 0] + rng.normal(size=150) > 0.3
    model = AggregateGradientBoostingClassifier(1, learning_rate=1.0, max_depth=1, ridge=0.0)
    model.fit(X, y)
    (tree,) = model.estimators_[0]
    p = softmax(model.baseline_)[1]
    leaf = tree.apply(X)
    for l in np.unique(leaf):
        inside = leaf == l
        step = np.sum(y[inside] - p) / (inside.sum() * p * (1 - p))
        assert tree.value[l] == pytest.approx(step, rel=1e-6)
