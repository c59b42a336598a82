"""MILES: the embedding by definition, the optimality of the machine, and what it keeps."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from mixedbag._kernels import settled_gamma
from mixedbag.classics import MILES
from mixedbag.classics._rows import feature_moments, sample_rows
from mixedbag.datasets import make_any


def embedding(bags, concepts, gamma):
    return np.array([np.exp(-gamma * cdist(b, concepts, "sqeuclidean")).max(axis=0) for b in bags])


def test_scores_are_linear_in_similarities():
    data = make_any(n_bags=40, n_features=3, random_state=0)
    model = MILES(random_state=0).fit(data.bags, data.y)
    expected = embedding(data.bags, model.concepts_, model.gamma_) @ model.coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(data.bags), expected, atol=1e-9)
    assert (model.coef_ != 0).all()
    rows = {tuple(x) for x in data.bags.instances}
    assert all(tuple(c) in rows for c in model.concepts_)


def test_machine_is_optimal():
    """Optimality of Σ|w| + C Σ max(0, 1 − t(w·s + b))²: gradients balance the penalty."""
    data = make_any(n_bags=40, n_features=3, separation=4.0, random_state=0)
    model = MILES(C=2.0, random_state=0, tol=1e-6).fit(data.bags, data.y)
    sign = np.where(data.y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sign * model.decision_function(data.bags))
    everything = embedding(data.bags, data.bags.instances, model.gamma_)
    gradient = -2.0 * 2.0 * everything.T @ (sign * slack)
    assert np.abs(gradient).max() <= 1.0 + 1e-2
    chosen = -4.0 * embedding(data.bags, model.concepts_, model.gamma_).T @ (sign * slack)
    np.testing.assert_allclose(chosen, -np.sign(model.coef_), atol=1e-2)
    assert (sign * slack).sum() == pytest.approx(0.0, abs=1e-3)  # the intercept is free


def test_few_concepts_when_capped():
    data = make_any(n_bags=40, n_features=3, random_state=0)
    model = MILES(max_concepts=15, random_state=0).fit(data.bags, data.y)
    assert len(model.concepts_) <= 15
    assert model.score(data.bags, data.y) > 0.6


def test_sample_does_not_depend_on_order_or_copies():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    order = np.random.default_rng(1).permutation(50)

    def drawn(table):
        rng = np.random.RandomState(0)
        picked = np.asarray(table)[sample_rows(np.asarray(table), 10, rng)]
        return {tuple(r) for r in np.round(picked, 9)}

    assert len(drawn(rows)) == 10
    assert drawn(rows) == drawn(rows[order])
    assert drawn(rows) == drawn(np.vstack([rows, rows[:20]]))


def test_weights_count_as_copies():
    data = make_any(n_bags=10, n_features=3, random_state=0)
    weight = np.arange(10) % 3 + 1.0
    copies = data.bags[np.repeat(np.arange(10), weight.astype(int))]
    thin = data.bags.with_instances(sparse.csr_array(data.bags.instances))
    for bags in (data.bags, thin):
        mean, variance = feature_moments(bags, weight)
        np.testing.assert_allclose(mean, copies.instances.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(variance, copies.instances.var(axis=0))
        assert settled_gamma("scale", bags.instances, bags.spread(weight)) == pytest.approx(
            1 / (3 * copies.instances.var())
        )


def test_bad_parameters_are_refused():
    data = make_any(n_bags=10, random_state=0)
    for bad in ({"C": 0}, {"gamma": "wide"}, {"gamma": -1.0}, {"max_concepts": 0}):
        with pytest.raises(ValueError):
            MILES(**bad).fit(data.bags, data.y)
