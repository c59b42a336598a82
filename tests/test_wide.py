"""Single precision: no copy of the table, sums as in double precision."""

import tracemalloc
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.utils import get_tags

from mixedbag import Bags, _wide
from mixedbag._pairs import same_rows
from mixedbag._solvers import newton_system, proximal_newton
from mixedbag.aggregate import (
    AggregateEasyLLPClassifier,
    AggregateForestRegressor,
    AggregateLogisticRegression,
    AggregateMeanMapClassifier,
    AggregateMLPClassifier,
    AggregateMLPRegressor,
    AggregatePoissonRegressor,
    AggregateRBFClassifier,
    AggregateRidgeClassifier,
    AggregateRidgeRegressor,
    AggregateSVR,
    AggregateTreeRegressor,
)
from mixedbag.boosting import (
    ExpBinBoost,
    ExpRegBoost,
    ISRBoost,
    NoisyOrBoost,
    OWABoost,
    PooledBoostingClassifier,
)
from mixedbag.classics import (
    EMDD,
    DirichletMixtureClassifier,
    DiverseDensity,
    MILogisticRegression,
    SetKernelSVC,
    TwoLevelClassifier,
    diverse_density,
    two_level,
)
from mixedbag.embeddings import (
    DissimilarityClassifier,
    FisherVectorClassifier,
    MeanNetworkClassifier,
    MINetworkClassifier,
    PrototypeClassifier,
    VLADClassifier,
    VocabularyClassifier,
    dissimilarity,
)
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC
from mixedbag.wrappers import BagFeatures


@pytest.mark.kernel
@pytest.mark.parametrize("X", [np.float32, np.float64, sparse.csr_array])
def test_products_are_those_of_double_precision(X, monkeypatch):
    monkeypatch.setattr(_wide, "_PIECE", 50)
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((37, 11)).astype(np.float32).astype(np.float64)
    table = X(dense) if X is sparse.csr_array else dense.astype(X)
    w, r = rng.standard_normal((11, 2)), rng.standard_normal(37)
    assert_allclose(_wide.times(table, w), dense @ w, rtol=1e-12)
    assert_allclose(_wide.times(table, w[:, 0]), dense @ w[:, 0], rtol=1e-12)
    assert_allclose(_wide.times(table, w[:, :1]), dense @ w[:, :1], rtol=1e-12)
    assert_allclose(_wide.transposed_times(table, r), dense.T @ r, rtol=1e-12)
    assert_allclose(_wide.transposed_times(table, r[:, None]), dense.T @ r[:, None], rtol=1e-12)
    assert np.all(_wide.transposed_times(table[:0], np.empty((0, 2))) == 0)


@pytest.mark.kernel
def test_products_with_every_second_column_where_they_lie():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((37, 22)).astype(np.float32)[:, ::2]
    w, r = rng.standard_normal(11), rng.standard_normal(37)
    assert_allclose(_wide.times(X, w), X.astype(np.float64) @ w, rtol=1e-12)
    assert_allclose(_wide.transposed_times(X, r), X.astype(np.float64).T @ r, rtol=1e-12)


def test_averages_are_those_of_double_precision(monkeypatch):
    monkeypatch.setattr(_wide, "_PIECE", 50)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((37, 11)).astype(np.float32)
    average = sparse.random_array((9, 37), density=0.2, rng=rng, format="csr")
    expected = average @ X.astype(np.float64)
    assert_allclose(_wide.averaged(average, X), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(_wide.averaged(average, X.astype(np.float64)), expected, rtol=1e-12)


def test_a_sum_that_single_precision_would_lose():
    X = np.full((2**20, 1), 0.1, dtype=np.float32)
    assert_allclose(_wide.transposed_times(X, np.ones(2**20)), np.float64(X[0, 0]) * 2**20)


def test_pieces_are_whole_bags(monkeypatch):
    monkeypatch.setattr(_wide, "_PIECE", 30)
    bags = Bags(np.arange(60, dtype=np.float32).reshape(20, 3), [0, 4, 5, 12, 20])
    parts = list(_wide.in_double(bags))
    assert [len(piece) for _, piece in parts] != [len(bags)]
    assert_allclose(np.vstack([piece.instances for _, piece in parts]), bags.instances)
    assert sum(part.stop - part.start for part, _ in parts) == len(bags)


def test_tables_are_compared_without_a_table_of_answers():
    X = wide_bags().instances
    other = X.copy()
    tracemalloc.start()
    try:
        assert same_rows(X, other)
        assert tracemalloc.get_traced_memory()[1] < 0.1 * X.nbytes
    finally:
        tracemalloc.stop()
    other[-1, -1] += 1.0
    assert not same_rows(X, other)
    assert not same_rows(X, X[:-1])
    assert not same_rows(X, X[:, :-1])
    assert not same_rows(X, sparse.csr_array(X[:3]))


LEARNERS = [
    MILogisticRegression(max_iter=3),
    AggregateLogisticRegression(max_iter=3),
    AggregatePoissonRegressor(max_iter=3),
    AggregateRidgeRegressor(),
    AggregateRidgeClassifier(),
    AggregateEasyLLPClassifier(max_iter=3),
    AggregateMeanMapClassifier(max_iter=3),
    AggregateSVR(kernel="linear", max_iter=3),
    AggregateMLPClassifier(hidden=2, n_networks=1, max_iter=3, smoothing=0.0, random_state=0),
    AggregateMLPRegressor(hidden=2, n_networks=1, max_iter=3, random_state=0),
    BagFeatures(),
    BagMarginSVC(kernel="linear", max_iter=1, tol=0.1),
    InstanceMarginSVC(kernel="linear", max_iter=1, tol=0.1),
    ExpRegBoost(n_rounds=2),
    ExpBinBoost(n_rounds=1),
    ISRBoost(n_rounds=1),
    NoisyOrBoost(n_rounds=1),
    OWABoost(n_rounds=1),
    PooledBoostingClassifier(n_rounds=1),
    MINetworkClassifier(max_iter=3, n_init=1, random_state=0),
    MeanNetworkClassifier(hidden=8, max_iter=3, n_init=1, random_state=0),
    *(
        DissimilarityClassifier(distance, max_prototypes=2)
        for distance in ("meanmin", "minmin", "maxmin", "transport")
    ),
    SetKernelSVC(method="statistics"),
    TwoLevelClassifier(n_estimators=4, random_state=0),
    EMDD(n_init=2, max_iter=2, random_state=0),
    DiverseDensity(n_init=2, max_iter=2, random_state=0),
]


@cache
def wide_bags():
    rng = np.random.default_rng(0)
    X = (0.1 * rng.standard_normal((20_000, 256))).astype(np.float32)
    return Bags(X, np.arange(0, 20_001, 400))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_wide_single_precision_is_not_copied(learner, monkeypatch):
    # What is worked on at a time is small against wide tables; here the table is small, too.
    monkeypatch.setattr(proximal_newton, "_MOST", 256)
    monkeypatch.setattr(newton_system, "_BLOCK", 256)
    monkeypatch.setattr(diverse_density, "_ROWS", 256)
    monkeypatch.setattr(diverse_density, "_MAX_CANDIDATES", 50)
    monkeypatch.setattr(two_level, "_LEAVES", 2**14)
    monkeypatch.setattr(_wide, "_PIECE", 2**16)
    monkeypatch.setattr(dissimilarity, "_SINKHORN_STEPS", 2)
    bags = wide_bags()
    y = np.arange(50) % 2 if get_tags(learner).estimator_type != "regressor" else np.arange(50.0)
    # A copy in double precision would be twice the table.
    assert peak(learner, bags, y) < 0.8 * bags.instances.nbytes


def peak(learner, bags, y):
    """The most memory that a fit and answers take."""
    learner.fit(bags[:6], y[:6])  # what is compiled is not counted
    tracemalloc.start()
    try:
        learner.fit(bags, y)
        (learner.predict if hasattr(learner, "predict") else learner.transform)(bags)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


CLUSTERED = [
    DirichletMixtureClassifier(n_components=2, max_iter=3, random_state=0),
    AggregateRBFClassifier(n_centers=4, max_iter=3, random_state=0),
    FisherVectorClassifier(random_state=0),
    PrototypeClassifier(max_iter=3, random_state=0),
    VLADClassifier(random_state=0),
    VocabularyClassifier(n_words=4, random_state=0),
]


@pytest.mark.parametrize("learner", CLUSTERED, ids=lambda learner: type(learner).__name__)
def test_clusters_of_single_precision_are_made_of_single_precision(learner, monkeypatch):
    """Rows are clustered in an order of their own: one copy, in the precision that they have."""
    monkeypatch.setattr(_wide, "_PIECE", 2**16)
    rng = np.random.default_rng(0)
    axes = rng.standard_normal((3, 256))
    X = wide_bags().instances + (rng.standard_normal((20_000, 3)) @ axes).astype(np.float32)
    bags = wide_bags().with_instances(X)
    assert peak(learner, bags, np.arange(50) % 2) < 1.4 * X.nbytes


def test_vectors_of_instances_are_made_in_parts(monkeypatch):
    """Each instance is a bag of its own, with a vector that is longer than its row."""
    monkeypatch.setattr(_wide, "_PIECE", 2**16)
    bags = wide_bags()
    learner = VLADClassifier(random_state=0).fit(bags[:6], np.arange(6) % 2)
    tracemalloc.start()
    try:
        learner.predict_proba_instances(bags)
        assert tracemalloc.get_traced_memory()[1] < 0.8 * bags.instances.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("learner", "most"),
    [
        (AggregateTreeRegressor(max_depth=1), 2.0),
        (AggregateForestRegressor(n_estimators=1, max_depth=1, bootstrap=False), 3.0),
    ],
    ids=["tree", "forest"],
)
def test_sorted_rows_are_a_table_of_columns_and_one_of_places(learner, most):
    bags = wide_bags()
    assert peak(learner, bags, np.arange(50.0)) < 1.1 * most * bags.instances.nbytes


@pytest.mark.parametrize("learner", LEARNERS[1:4], ids=lambda learner: type(learner).__name__)
def test_single_precision_gives_the_model_of_double(learner):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 4)).astype(np.float32)
    single, double = (Bags(x, np.arange(0, 601, 6)) for x in (X, X.astype(np.float64)))
    y = rng.integers(0, 7, 100)
    assert_allclose(learner.fit(single, y).coef_, learner.fit(double, y).coef_, atol=1e-8)
