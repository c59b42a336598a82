"""SMILE: candidates, prices by similarity against scikit-learn, and bags of one."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixedbag.datasets import make_any
from mixedbag.margin import BagMarginSVC, SimilarityMarginSVC

GAMMA = 0.2


def test_the_first_machine_is_an_svm_with_prices_by_similarity():
    data = make_any(n_bags=24, n_features=3, random_state=0)
    model = SimilarityMarginSVC(2.0, gamma=GAMMA, max_iter=1, tol=1e-8).fit(data.bags, data.y)
    X, inside = data.bags.instances, data.bags.spread(data.y) == 1
    negative = X[~inside]
    to_negative = rbf_kernel(X, negative, GAMMA).mean(axis=1)
    candidates = []
    for i in np.flatnonzero(data.y):
        rows = np.flatnonzero(data.bags.bag_of == i)
        candidates.append(rows[to_negative[rows].argmin()])
    to_positive = rbf_kernel(X, X[candidates], GAMMA).mean(axis=1)
    rest = np.setdiff1d(np.flatnonzero(inside), candidates)
    rows = np.vstack([X[candidates], X[rest], X[rest], negative])
    label = np.repeat([1, 1, -1, -1], [len(candidates), len(rest), len(rest), len(negative)])
    ones = np.ones(len(candidates)), np.ones(len(negative))
    price = np.concatenate([ones[0], to_positive[rest], to_negative[rest], ones[1]])
    plain = SVC(C=2.0, gamma=GAMMA, tol=1e-8).fit(rows, label, sample_weight=price)
    np.testing.assert_allclose(
        model.decision_function_instances(data.bags), plain.decision_function(X), atol=2e-3
    )


def test_bags_of_one_leave_nothing_ambiguous():
    data = make_any(n_bags=60, size=(1, 1), n_features=3, random_state=0)
    one = SimilarityMarginSVC().fit(data.bags, data.y)
    other = BagMarginSVC().fit(data.bags, data.y)
    np.testing.assert_allclose(
        one.decision_function(data.bags), other.decision_function(data.bags), atol=1e-3
    )
