"""Aggregate support vector regression against LIBSVM, a general solver and its own conditions."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR

from mixedbag import Bags
from mixedbag.aggregate import AggregateSVR

pytestmark = pytest.mark.kernel


def problem(seed=0, n_bags=25, n_features=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=n_bags)
    X = rng.normal(size=(sizes.sum(), n_features))
    bags = Bags(X, np.r_[0, np.cumsum(sizes)])
    value = X @ rng.normal(size=n_features) + 0.5 + 0.3 * rng.normal(size=len(X))
    return bags, np.add.reduceat(value, bags.offsets[:-1]), rng.uniform(0.5, 2.0, size=n_bags)


def spread_of_values(bags, total, weight):
    """The σ that C is multiplied with."""
    mean = (weight @ total) / (weight @ bags.sizes)
    return np.sqrt(weight @ (total - mean * bags.sizes) ** 2 / (weight @ bags.sizes))


def objective(bags, total, weight, C, epsilon, w, b):
    error = np.add.reduceat(bags.instances @ w + b, bags.offsets[:-1]) - total
    return 0.5 * w @ w + C * weight @ np.maximum(0.0, np.abs(error) - epsilon)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_bags_of_one_are_the_ordinary_machine(kernel, epsilon):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=120)
    weight = rng.uniform(0.5, 2.0, size=120)
    ours = AggregateSVR(C=2.0, epsilon=epsilon, kernel=kernel, gamma=0.3, tol=1e-6)
    spread = np.sqrt(np.cov(y, aweights=weight, ddof=0))
    theirs = SVR(C=2.0 * spread, epsilon=epsilon, kernel=kernel, gamma=0.3, tol=1e-6)
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_adding_a_constant_to_every_feature_changes_no_answer(epsilon):
    bags, total, weight = problem(4)
    moved = bags.with_instances(bags.instances + 10.0)
    here, there = (AggregateSVR(C=2.0, epsilon=epsilon, tol=1e-9) for _ in range(2))
    here.fit(bags, total, sample_weight=weight)
    there.fit(moved, total, sample_weight=weight)
    np.testing.assert_allclose(there.predict(moved), here.predict(bags), atol=1e-6)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_equals_a_general_solver_on_unequal_bags(epsilon):
    bags, total, weight = problem(1, n_bags=8, n_features=2)
    C, n = 0.7, len(bags)
    design = np.add.reduceat(np.c_[bags.instances, np.ones(bags.n_instances)], bags.offsets[:-1])

    def constraints(v):  # w, b, ξ, z
        error = design @ v[:3] - total
        return np.r_[epsilon + v[3 : 3 + n] - error, epsilon + v[3 + n :] + error]

    found = minimize(
        lambda v: 0.5 * v[:2] @ v[:2] + C * (weight @ v[3 : 3 + n] + weight @ v[3 + n :]),
        np.r_[np.zeros(3), np.abs(total), np.abs(total)],
        constraints={"type": "ineq", "fun": constraints},
        bounds=[(None, None)] * 3 + [(0, None)] * (2 * n),
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    in_spreads = C / spread_of_values(bags, total, weight)
    model = AggregateSVR(C=in_spreads, epsilon=epsilon).fit(bags, total, sample_weight=weight)
    ours = objective(bags, total, weight, C, epsilon, model.coef_, model.intercept_)
    assert ours == pytest.approx(found.fun, rel=1e-6)
    np.testing.assert_allclose(model.coef_, found.x[:2], atol=1e-4)


@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_linear_kernel_and_feature_solvers_agree(epsilon):
    """The interior point method and the pairwise solver solve the same problem."""
    bags, total, weight = problem(2)
    linear = AggregateSVR(C=1.5, epsilon=epsilon)
    pairwise = AggregateSVR(C=1.5, epsilon=epsilon, kernel=lambda X, Z: X @ Z.T, tol=1e-7)
    linear.fit(bags, total, sample_weight=weight)
    pairwise.fit(bags, total, sample_weight=weight)
    np.testing.assert_allclose(
        linear.predict_instances(bags), pairwise.predict_instances(bags), atol=1e-4
    )


def test_optimality_conditions():
    """w = Σ β_c Σ_{i∈c} x_i with |β_c| = C outside the tube, 0 inside, and Σ n_c β_c = 0."""
    bags, total, weight = problem(3, n_bags=60)
    C, epsilon = 0.5, 0.4
    in_spreads = C / spread_of_values(bags, total, weight)
    model = AggregateSVR(C=in_spreads, epsilon=epsilon).fit(bags, total, sample_weight=weight)
    sums = np.add.reduceat(bags.instances, bags.offsets[:-1])
    error = total - model.predict(bags)
    outside, inside = np.abs(error) > epsilon + 1e-6, np.abs(error) < epsilon - 1e-6
    free = ~outside & ~inside
    beta = np.zeros(len(bags))
    beta[outside] = C * weight[outside] * np.sign(error[outside])
    rest = np.r_[model.coef_ - sums.T @ beta, -bags.sizes @ beta]
    design = np.vstack([sums[free].T, bags.sizes[free]])
    beta[free] = np.linalg.lstsq(design, rest, rcond=None)[0]
    np.testing.assert_allclose(sums.T @ beta, model.coef_, atol=1e-5)
    assert bags.sizes @ beta == pytest.approx(0.0, abs=1e-5)
    assert (np.abs(beta[free]) <= C * weight[free] * (1 + 1e-4)).all()
    assert (np.sign(beta[free]) == np.sign(error[free])).all()
    assert inside.any()
    assert outside.any()
    assert free.sum() == 5  # as many as there are unknowns


def test_kernels_enter_as_means_over_pairs():
    bags, total, _ = problem(4)
    model = AggregateSVR(C=10.0, kernel="rbf", gamma=0.2).fit(bags, total)
    K = np.exp(-0.2 * ((bags.instances[:, None] - bags.instances[None]) ** 2).sum(axis=2))
    averaged = np.add.reduceat(np.add.reduceat(K, bags.offsets[:-1]), bags.offsets[:-1], axis=1)
    averaged /= np.outer(bags.sizes, bags.sizes)
    from mixedbag._kernels import Kernel

    np.testing.assert_allclose(Kernel("rbf", 0.2, 3, 0.0).between_bags(bags), averaged)
    assert model.score(bags, total) > 0.9


def test_means_in_place_of_totals_and_sparse_rows():
    bags, total, _ = problem(5)
    by_total = AggregateSVR().fit(bags, total)
    by_mean = AggregateSVR(aggregate="mean").fit(bags, total / bags.sizes)
    np.testing.assert_allclose(by_total.coef_, by_mean.coef_, atol=1e-8)
    np.testing.assert_allclose(by_mean.predict(bags), by_total.predict(bags) / bags.sizes)
    for kernel in ("linear", "rbf", "poly"):
        thin = bags.with_instances(sparse.csr_array(bags.instances))
        dense = AggregateSVR(kernel=kernel).fit(bags, total).predict(bags)
        np.testing.assert_allclose(
            AggregateSVR(kernel=kernel).fit(thin, total).predict(thin), dense, atol=2e-3
        )


def test_giving_up_is_said():
    bags, total, _ = problem(6)
    with pytest.warns(ConvergenceWarning, match="short of"):
        AggregateSVR(C=100.0, kernel="rbf", max_iter=3).fit(bags, total)
