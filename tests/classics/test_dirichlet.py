"""Dirichlet-process mixtures against scikit-learn's, and the hidden labels they find."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.mixture import BayesianGaussianMixture

from mixedbag.classics import DirichletMixtureClassifier
from mixedbag.classics._dirichlet_mixture import DirichletMixture, Prior, SquaredRows
from mixedbag.datasets import make_any


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 1.0], [-5.0, 4.0]])
    return np.vstack([c + rng.normal(size=(n, 2)) for c, n in zip(centres, (60, 30, 15))])


def converged(rows, weight, n_components, prior, steps=200):
    belongs = np.random.default_rng(1).dirichlet(np.ones(n_components), size=len(rows))
    rows = SquaredRows.of(rows)
    mixture = DirichletMixture.of(rows, weight[:, None] * belongs, prior)
    for _ in range(steps):
        mixture = DirichletMixture.updated(rows, mixture.log_joint(rows), weight, prior)
    return mixture


def test_the_posterior_is_that_of_scikit_learn(rows):
    theirs = BayesianGaussianMixture(
        n_components=3,
        covariance_type="diag",
        weight_concentration_prior_type="dirichlet_process",
        weight_concentration_prior=1.0,
        mean_precision_prior=1.0,
        mean_prior=rows.mean(axis=0),
        degrees_of_freedom_prior=2.0,
        covariance_prior=rows.var(axis=0),
        reg_covar=0.0,
        max_iter=500,
        tol=1e-10,
        random_state=0,
    ).fit(rows)
    prior = Prior(rows.mean(axis=0), rows.var(axis=0), 1.0)
    belongs = theirs.predict_proba(rows)
    ours = DirichletMixture.of(SquaredRows.of(rows), belongs, prior)
    order = np.argsort(-belongs.sum(axis=0))
    np.testing.assert_allclose(ours.mean, theirs.means_[order], atol=1e-3)
    np.testing.assert_allclose(ours.precision, theirs.mean_precision_[order], rtol=1e-3)


def test_a_weight_of_two_is_a_row_twice(rows):
    copies = np.random.default_rng(2).integers(1, 3, size=len(rows))
    prior = Prior(rows.mean(axis=0), rows.var(axis=0), 1.0)
    belongs = np.random.default_rng(1).dirichlet(np.ones(4), size=len(rows))
    twice = SquaredRows.of(np.repeat(rows, copies, axis=0))
    rows = SquaredRows.of(rows)
    weighted = DirichletMixture.of(rows, copies[:, None] * belongs, prior)
    repeated = DirichletMixture.of(twice, np.repeat(belongs, copies, axis=0), prior)
    np.testing.assert_allclose(weighted.log_joint(rows), repeated.log_joint(rows))


def test_few_components_are_used_where_few_will_do(rows):
    prior = Prior(rows.mean(axis=0), rows.var(axis=0), 0.1)
    mixture = converged(rows, np.ones(len(rows)), 8, prior)
    assert np.sum(mixture.precision - 1.0 > 2.0) <= 4


def test_hidden_labels_are_found():
    data = make_any(n_bags=80, n_features=4, separation=4.0, random_state=0)
    model = DirichletMixtureClassifier(random_state=0).fit(data.bags, data.y)
    scores = model.decision_function_instances(data.bags)
    assert roc_auc_score(data.instance_labels, scores) > 0.95
    assert np.mean(data.instance_labels[model.witness_]) > 0.9
