"""Set kernels and both graph kernels against sums over pairs, and scikit-learn on bags of one."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.svm import SVC

from mixedbag import Bags, _kernels
from mixedbag._kernels import Kernel
from mixedbag.classics import EdgeGraphSVC, MIGraphSVC, SetKernelSVC
from mixedbag.classics import _kernels as kernels
from mixedbag.datasets import make_any

GAMMA = 0.3


def rbf_kernel(A, B, gamma):
    return np.exp(-gamma * cdist(A, B, "sqeuclidean"))


def graph_votes(bag):
    distance = np.sqrt(((bag[:, None] - bag) ** 2).sum(axis=2))
    n = len(bag)
    limit = distance.sum() / max(n * (n - 1), 1)
    joined = (distance < limit) | np.eye(n, dtype=bool)
    return 1.0 / joined.sum(axis=1)


def graph_kernel(A, B):
    u, v = graph_votes(A), graph_votes(B)
    return u @ rbf_kernel(A, B, GAMMA) @ v / (u.sum() * v.sum())


def edges(bag):
    """Edges as the docstring of `EdgeGraphSVC` describes them, one by one."""
    n = len(bag)
    distance = np.sqrt(((bag[:, None] - bag) ** 2).sum(axis=2))
    limit = distance.sum() / max(n * (n - 1), 1)
    joined = [[v for v in range(n) if v != u and distance[u, v] < limit] for u in range(n)]

    def share(u, v):
        close = {w: np.exp(-GAMMA * distance[u, w] ** 2) for w in joined[u]}
        return close[v] / sum(close.values())

    found = [
        [len(joined[u]) / (n - 1), share(u, v), len(joined[v]) / (n - 1), share(v, u)]
        for u in range(n)
        for v in joined[u]
    ]
    return np.array(found).reshape(-1, 4)


def edge_graph_kernel(A, B):
    def total(P, Q):
        nodes, (e, f) = rbf_kernel(P, Q, GAMMA).sum(), (edges(P), edges(Q))
        return nodes + (rbf_kernel(e, f, 1.0).sum() / 4 if len(e) and len(f) else 0.0)

    return total(A, B) / np.sqrt(total(A, A) * total(B, B))


def normalised_kernel(A, B):
    def total(P, Q):
        return rbf_kernel(P, Q, GAMMA).sum()

    return total(A, B) / np.sqrt(total(A, A) * total(B, B))


def mean_kernel(A, B):
    return rbf_kernel(A, B, GAMMA).mean()


def statistics_kernel(A, B):
    def describe(P):
        return np.concatenate([P.min(axis=0), P.max(axis=0)])[None]

    return rbf_kernel(describe(A), describe(B), GAMMA).item()


CASES = [
    (MIGraphSVC(gamma=GAMMA), graph_kernel),
    (EdgeGraphSVC(gamma=GAMMA), edge_graph_kernel),
    (SetKernelSVC(gamma=GAMMA), normalised_kernel),
    (SetKernelSVC(gamma=GAMMA, method="mean"), mean_kernel),
    (SetKernelSVC(gamma=GAMMA, method="statistics"), statistics_kernel),
]


@pytest.mark.parametrize(("learner", "kernel"), CASES)
def test_machine_is_an_svm_on_the_kernel_of_the_paper(learner, kernel):
    data = make_any(n_bags=30, size=(1, 5), n_features=3, random_state=0)
    train, query = data.bags[:20], data.bags[20:]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, size=20)
    model = clone(learner).set_params(tol=1e-8).fit(train, data.y[:20], sample_weight=weight)
    gram = np.array([[kernel(a, b) for b in train] for a in train])
    svc = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(gram, data.y[:20], weight)
    test_gram = np.array([[kernel(a, b) for b in train] for a in query])
    expected = svc.decision_function(test_gram)
    np.testing.assert_allclose(model.decision_function(query), expected, atol=1e-6)
    instances = np.array([[kernel(x[None], b) for b in train] for x in query.instances])
    np.testing.assert_allclose(
        model.decision_function_instances(query), svc.decision_function(instances), atol=1e-6
    )


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("learner", [SetKernelSVC(method="mean"), MIGraphSVC()])
def test_bags_of_one_are_an_ordinary_svm(learner, kernel):
    data = make_any(n_bags=60, size=(1, 1), n_features=4, separation=1.5, random_state=0)
    X = data.bags.instances
    model = clone(learner).set_params(kernel=kernel, tol=1e-8).fit(X, data.y)
    svc = SVC(kernel=kernel, coef0=1.0, tol=1e-8).fit(X, data.y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-5)


def test_normalised_rbf_on_bags_of_one_is_an_ordinary_svm():
    data = make_any(n_bags=60, size=(1, 1), n_features=4, separation=1.5, random_state=0)
    X = data.bags.instances
    model, svc = SetKernelSVC(tol=1e-8).fit(X, data.y), SVC(tol=1e-8).fit(X, data.y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-5)


@pytest.mark.parametrize(("learner", "kernel"), CASES)
def test_blocks_threads_and_sparse_rows_change_nothing(learner, kernel, monkeypatch):
    data = make_any(n_bags=40, n_features=4, random_state=1)
    learner = clone(learner).set_params(tol=1e-8)  # else rounding decides where the solver stops
    whole = clone(learner).fit(data.bags, data.y).decision_function(data.bags)
    monkeypatch.setattr(_kernels, "_TILE", 31 * 31)
    monkeypatch.setattr(_kernels, "_WIDTH", 31)
    monkeypatch.setattr(kernels, "SELF_ROWS", 17)
    thin = data.bags.with_instances(sparse.csr_array(data.bags.instances))
    cut = clone(learner).set_params(n_jobs=2).fit(thin, data.y).decision_function(thin)
    np.testing.assert_allclose(whole, cut, atol=1e-5)


@pytest.mark.parametrize("sizes", [(1, 4), (30, 70)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiles_that_cut_bags_add_up_to_the_sums_over_pairs(sizes, dtype, monkeypatch):
    monkeypatch.setattr(_kernels, "_TILE", 24 * 24)
    monkeypatch.setattr(_kernels, "_WIDTH", 24)
    monkeypatch.setattr(kernels, "SELF_ROWS", 16)
    rng = np.random.default_rng(0)
    left, right = (
        Bags.from_list([rng.normal(size=(n, 3)).astype(dtype) for n in rng.integers(*sizes, 9)])
        for _ in range(2)
    )
    u, v = (rng.uniform(0.1, 1.0, bags.n_instances) for bags in (left, right))

    def exactly(a, b, p, q):
        return (
            p[a.bag_of == i] @ rbf_kernel(x, y, GAMMA) @ q[b.bag_of == j]
            for i, x in enumerate(a)
            for j, y in enumerate(b)
        )

    kernel, near = Kernel("rbf", GAMMA), {"rtol": 1e-12 if dtype == np.float64 else 1e-6}
    for a, b, p, q in ((left, right, u, v), (left, left, u, u)):
        expected = np.reshape(list(exactly(a, b, p, q)), (9, 9))
        for n_jobs in (None, 2):
            found = kernels.weighted_gram(kernel, a, b, (p, q), n_jobs)
            np.testing.assert_allclose(found, expected, **near)
    np.testing.assert_allclose(kernels.own_sums(kernel, left, u), np.diag(expected), **near)


def test_a_large_bag_takes_no_more_memory_than_its_tiles():
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(4_200, 2)).astype(np.float32), [0, 4_000, 4_100, 4_200])
    SetKernelSVC().fit(bags[1:], [0, 1])  # what is imported is not counted
    tracemalloc.start()
    try:
        SetKernelSVC().fit(bags, [0, 1, 1]).predict(bags)
        assert tracemalloc.get_traced_memory()[1] < 2**24  # all pairs of the first: 64 MB
    finally:
        tracemalloc.stop()


def test_copies_of_an_instance_share_one_vote():
    """What miGraph is for: repeating an instance of a bag many times hardly matters."""
    data = make_any(n_bags=30, size=(3, 5), n_features=3, random_state=0)
    model = MIGraphSVC().fit(data.bags, data.y)
    shares = model._shares(data.bags[:1])
    assert shares.sum() == pytest.approx(1.0)
    crowded = np.vstack([data.bags[0], np.repeat(data.bags[0][:1], 50, axis=0)])
    shares = model._shares(Bags.from_list([crowded]))
    copies = np.r_[0, np.arange(len(data.bags[0]), len(crowded))]
    assert shares[copies].sum() < 0.6


def test_most_of_a_large_table_is_kept_where_it_lies(monkeypatch):
    data = make_any(n_bags=60, random_state=0)
    copied = SetKernelSVC(C=5.0).fit(data.bags, data.y)
    assert 30 < len(copied.support_) < 60
    monkeypatch.setattr(kernels, "_LARGE", 0)
    kept = SetKernelSVC(C=5.0).fit(data.bags, data.y)
    assert np.shares_memory(kept.support_bags_.instances, data.bags.instances)
    assert np.array_equal(np.flatnonzero(kept.dual_coef_), np.sort(copied.support_))
    found = kept.decision_function(data.bags)
    np.testing.assert_allclose(found, copied.decision_function(data.bags), rtol=1e-12, atol=1e-12)


def test_only_support_bags_are_kept():
    data = make_any(n_bags=60, n_features=3, separation=6.0, random_state=0)
    model = SetKernelSVC(method="statistics").fit(data.bags, data.y)
    assert len(model.support_bags_) == len(model.dual_coef_) == len(model.support_) < 60


@pytest.mark.parametrize("learner", [SetKernelSVC(), MIGraphSVC()])
def test_a_model_without_shares_of_its_support_answers_the_same(learner):
    """As those were that an earlier version saved."""
    data = make_any(n_bags=40, n_features=3, random_state=0)
    model = clone(learner).fit(data.bags, data.y)
    scores = model.decision_function(data.bags)
    assert len(model.support_shares_) == model.support_bags_.n_instances
    del model.support_shares_
    np.testing.assert_allclose(model.decision_function(data.bags), scores, rtol=1e-12, atol=1e-12)
