"""Logistic regression on few rows: scikit-learn's own answer, to its tolerance."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from mixedbag._logistic import fit_logistic


@pytest.mark.parametrize("n_features", [3, 200])
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_a_first_order_method(n_features, store, weighted):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, n_features))
    rows[1] = rows[0]  # rows that do not span as much as there are of them
    labels = np.where(rows[:, 0] + rng.normal(size=40) > 0, "yes", "no")
    weight = rng.uniform(0.5, 2.0, 40) if weighted else None
    given = {"C": 2.0, "tol": 1e-10, "max_iter": 10_000}
    expected = LogisticRegression(**given).fit(rows, labels, weight)
    found = fit_logistic(LogisticRegression(**given), store(rows), labels, weight)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    new = rng.normal(size=(5, n_features))
    np.testing.assert_allclose(found.predict_proba(new), expected.predict_proba(new), atol=1e-6)


def test_more_classes_are_left_to_scikit_learn():
    rows = np.random.default_rng(0).normal(size=(30, 40))
    labels = np.arange(30) % 3
    expected = LogisticRegression().fit(rows, labels)
    found = fit_logistic(LogisticRegression(), rows, labels, None)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
