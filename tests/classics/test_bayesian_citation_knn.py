"""Bayesian citation-kNN against a transcription of its definition, pair by pair."""

import numpy as np
from scipy.spatial.distance import cdist

from mixedbag.classics import BayesianCitationKNN
from mixedbag.datasets import make_any


def by_definition(train, y, query, n_references, n_citers):
    n = len(train)
    among = np.array([[cdist(a, b).min() for b in train] for a in train])
    np.fill_diagonal(among, np.inf)
    seen = np.ones((2, n_references + 1))
    for i in range(n):
        seen[y[i], y[np.argsort(among[i])[:n_references]].sum()] += 1
    given = seen / seen.sum(axis=1, keepdims=True)
    prior = np.log((np.sum(y == 1) + 1) / (np.sum(y == 0) + 1))
    reach = np.sort(among, axis=1)[:, n_citers - 1]
    unit = np.mean(reach**2)
    scores = []
    for bag in query:
        distance = np.array([cdist(bag, b).min() for b in train])
        r = y[np.argsort(distance)[:n_references]].sum()
        votes = np.ones(2)
        for i in np.flatnonzero(distance <= reach):
            votes[y[i]] += unit / (distance[i] ** 2 + 1e-6 * unit)
        scores.append(prior + np.log(given[1, r] / given[0, r]) + np.log(votes[1] / votes[0]))
    return np.array(scores)


def test_log_odds_are_those_of_the_definition():
    data = make_any(n_bags=40, size=(1, 4), n_features=3, random_state=0)
    train, y, query = data.bags[:28], data.y[:28], data.bags[28:]
    model = BayesianCitationKNN(3, n_citers=4).fit(train, y)
    expected = by_definition(train, y, query, 3, 4)
    np.testing.assert_allclose(model.decision_function(query), expected, rtol=1e-4)


def test_references_mean_what_they_have_meant():
    """Where positive bags have negative neighbours, having them is a sign of being positive."""
    places = np.repeat(np.arange(12) * 10.0, 3)[:, None] + np.tile([[0.0], [1.0], [2.1]], (12, 1))
    y = np.tile([0, 1, 0], 12)  # a positive bag between two negative ones, far from the others
    model = BayesianCitationKNN(2, n_citers=0).fit(places, y)
    assert model.log_odds_[0] > model.log_odds_[1]
    two_negative, one_of_each = model.decision_function([[36.05], [30.5]])
    assert two_negative > one_of_each
