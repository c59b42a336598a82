"""Citation-kNN against a transcription of the paper's definition, pair by pair."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from mixedbag import _pairs
from mixedbag.bags import Bags
from mixedbag.classics import CitationKNN
from mixedbag.datasets import make_any

HAUSDORFF = {
    "minimal": lambda d: d.min(),
    "maximal": lambda d: max(d.min(axis=0).max(), d.min(axis=1).max()),
    "average": lambda d: np.concatenate([d.min(axis=0), d.min(axis=1)]).mean(),
}


def by_definition(train, y, query, n_references, n_citers, distance):
    """Balance of votes of references and citers; no ties are expected."""
    rule = HAUSDORFF[distance]
    scores = []
    among = np.array([[rule(cdist(a, b)) for b in train] for a in train])
    for bag in query:
        to_train = np.array([rule(cdist(bag, b)) for b in train])
        references = np.argsort(to_train)[:n_references]
        citers = []
        for i in range(len(train)):
            nearer = np.delete(among[i], i) < to_train[i]
            if nearer.sum() < n_citers:
                citers.append(i)
        votes = np.where(y[[*references, *citers]] == 1, 1, -1)
        scores.append(votes.mean() if len(votes) else 0.0)
    return np.array(scores)


@pytest.mark.parametrize("distance", ["minimal", "average", "maximal"])
def test_votes_are_those_of_the_paper(distance):
    data = make_any(n_bags=30, size=(1, 4), n_features=3, random_state=0)
    train, y, query = data.bags[:20], data.y[:20], data.bags[20:]
    model = CitationKNN(3, n_citers=4, distance=distance).fit(train, y)
    expected = by_definition(train, y, query, 3, 4, distance)
    np.testing.assert_allclose(model.decision_function(query), expected, atol=1e-6)


def test_without_citers_and_bags_of_one_it_is_nearest_neighbours():
    data = make_any(n_bags=60, size=(1, 1), n_features=3, random_state=0)
    rows = data.bags.instances
    model = CitationKNN(n_references=3, n_citers=0).fit(rows, data.y)
    other = KNeighborsClassifier(3).fit(rows, data.y)
    queries = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_array_equal(model.predict(queries), other.predict(queries))


def test_equal_distances_share_the_last_place():
    rows = np.array([[1.0], [-1.0], [5.0]])
    model = CitationKNN(n_references=1, n_citers=0).fit(rows, [1, 0, 0])
    assert model.decision_function([[0.0]])[0] == 0.0


def test_blocks_and_threads_change_nothing(monkeypatch):
    data = make_any(n_bags=50, n_features=4, random_state=0)
    whole = CitationKNN().fit(data.bags, data.y).decision_function(data.bags)
    monkeypatch.setattr(_pairs, "_BLOCK_ROWS", 37)
    monkeypatch.setattr("mixedbag.classics.citation_knn._ENTRIES", 350)
    cut = CitationKNN(n_jobs=2).fit(data.bags, data.y).decision_function(data.bags)
    np.testing.assert_array_equal(whole, cut)


def test_blocks_cover_all_bags_in_order():
    bags = Bags.from_list([np.ones((n, 1)) for n in (3, 900, 1, 1, 5, 2000, 2)])
    for rows in (1, 4, 10, 1000, 10_000):
        parts = _pairs.cut(bags, rows)
        assert [i for p in parts for i in range(p.start, p.stop)] == list(range(7))


def test_squared_distances_of_equal_rows_are_zero():
    rows = 1e4 + np.random.default_rng(0).normal(size=(20, 5))
    rows -= rows.mean(axis=0)
    for form in (np.asarray, sparse.csr_array):
        table = _pairs.squared_distances(form(rows), form(rows))
        assert (np.diag(table) == 0).all()
        np.testing.assert_allclose(table, cdist(rows, rows, "sqeuclidean"), atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n_rows", [3, 37, 1000])
def test_own_instances_are_as_near_as_any_rows(form, n_rows, monkeypatch):
    monkeypatch.setattr(_pairs, "_BLOCK_ROWS", n_rows)
    made = make_any(n_bags=20, n_features=4, random_state=0).bags
    bags = Bags(form(made.instances), made.offsets)
    expected = np.minimum.reduceat(
        cdist(made.instances, made.instances, "sqeuclidean"), made.offsets[:-1], axis=1
    )
    for some in (slice(None), slice(5, 50)):
        rows = bags.instances[some] if some.start else bags.instances
        found = _pairs.rows_to_nearest(rows, bags)
        np.testing.assert_allclose(found, expected[some], atol=1e-9)
