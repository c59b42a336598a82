"""MIGraph: bags as graphs, alike when their nodes and their edges are."""

import numpy as np

from mixedbag._kernels import Kernel
from mixedbag._once import once
from mixedbag._pairs import squared_distances
from mixedbag._parameters import above, at_least
from mixedbag.bags import Bags
from mixedbag.classics._kernels import BagKernelSVC, own_sums, weighted_gram

__all__ = ["EdgeGraphSVC"]

_AT_ONCE = 2**20  # pairs of instances looked at together


class EdgeGraphSVC(BagKernelSVC):
    """Support vector machine on a kernel between graphs with edges (Zhou, Sun and Li, 2009).

    Assumes that how the instances of a bag relate says something of its class. Two instances of a
    bag are joined by an edge when they are closer than the average distance in the bag. A bag is
    compared with another node by node and edge by edge::

        K(A, B) = Σ_{nodes a, b} k(a, b) + Σ_{edges e, f} k_edge(e, f),   then normalised

    An edge between u and v is described by four numbers: how many of the others u is joined to (as
    a share), how much of u's closeness to its neighbours falls to v, and the same of v; closeness
    is ``exp(−γ ‖u − v‖²)``. The kernel of edges is RBF. With bags of one it is `sklearn.svm.SVC`.

    Parameters
    ----------
    C : float, default=1.0
        Penalty of errors on training bags; large values fit more closely.
    kernel : {"rbf", "linear", "poly"}, default="rbf"
        Kernel between instances.
    threshold : float, default=1.0
        Two instances are joined when closer than this times the average distance in their bag.
    edge_gamma : float, default=1.0
        Width of the kernel between edges.
    gamma : float, "scale" or "auto", default="scale"
        Width of the "rbf" kernel and factor of "poly". "scale" is ``1 / (n_features · variance)``,
        "auto" is ``1 / n_features``.
    degree, coef0 : int, default=3, and float, default=1.0
        Of the kernel "poly".
    tol : float, default=1e-4
        Tolerance of the solver.
    n_jobs : int or None
        Threads that share the blocks of the kernel matrix.

    Attributes
    ----------
    support_ : array
        Indices of the support bags among the training bags.
    support_bags_ : Bags
        The support bags: all that prediction needs. Where most of a large table is support, it is
        not copied: all bags are kept then, some with a coefficient of zero.
    dual_coef_, intercept_ : array, float
    gamma_ : float

    See Also
    --------
    MIGraphSVC : The paper's other kernel, in which instances that are joined share one vote; it has
        no sum over pairs of edges and is much faster.
    SetKernelSVC : Compares instances alone, and forgets how they lie to each other.

    Examples
    --------
    >>> from mixedbag.classics import EdgeGraphSVC
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> EdgeGraphSVC(C=10.0).fit(data.bags, data.y).predict(data.bags).shape
    (60,)
    """

    _parameter_constraints = {"threshold": [at_least(0)], "edge_gamma": [above(0)]}

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        threshold=1.0,
        edge_gamma=1.0,
        gamma="scale",
        degree=3,
        coef0=1.0,
        tol=1e-4,
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.threshold = threshold
        self.edge_gamma = edge_gamma
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.n_jobs = n_jobs

    def _gram(self, left, right):
        graphs = self._parts(left), self._parts(right)
        if left is right:
            graphs = graphs[:1] * 2
        gram = sum(
            weighted_gram(kernel, a, b, (u, v), self.n_jobs)
            for (kernel, a, u), (_, b, v) in zip(*graphs)
        )
        squares = [np.diag(gram)] * 2 if left is right else map(self._squares, (left, right))
        # A bag of zeros has length zero under a linear kernel, and stays zero.
        u, v = (1.0 / np.sqrt(np.maximum(square, np.finfo(float).tiny)) for square in squares)
        return u[:, None] * gram * v

    def _keep_support(self, bags):
        self.support_bags_ = bags[self.support_]

    def _score_bags(self, bags):
        return self._gram(bags, self.support_bags_) @ self.dual_coef_ + self.intercept_

    def _squares(self, bags):
        """The kernel of every bag with itself."""

        def squares():
            return sum(own_sums(*part) for part in self._parts(bags))

        return once(squares, "squares", *self._kernel_of, self.gamma_, bags)

    def _parts(self, bags):
        """Nodes and edges: a kernel, the bags of such members, and the share of each in its sum."""
        made_of = bags, self.threshold, self.gamma_
        edges = once(lambda: _all_edges(*made_of), "edges", *made_of)
        nodes = bags, np.ones(bags.n_instances)
        return (self._settled, *nodes), (Kernel("rbf", self.edge_gamma), *edges)


def _all_edges(bags, threshold, gamma):
    # A bag without an edge has one that does not count: bags are never empty.
    tables, shares = [np.zeros((1, 4))] * len(bags), [np.zeros(1)] * len(bags)
    for size in np.unique(bags.sizes[bags.sizes > 1]):
        alike = np.flatnonzero(bags.sizes == size)
        n_parts = min(len(alike), -(-len(alike) * int(size) ** 2 // _AT_ONCE))
        for some in np.array_split(alike, n_parts):
            edges, counts = _edges(_within(bags, some), threshold, gamma)
            for i, found in zip(some, np.split(edges, np.cumsum(counts)[:-1])):
                if len(found):
                    # Either direction of an edge is half of it.
                    tables[i], shares[i] = found, np.full(len(found), 0.5)
    offsets = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    return Bags(np.vstack(tables), offsets), np.concatenate(shares)


def _within(bags, some):
    """Squared distances inside each of some bags of one size."""
    if bags.is_sparse:
        return np.stack([squared_distances(bags[i], bags[i]) for i in some])
    stack = bags.instances[bags.rows_of(some)].reshape(len(some), -1, bags.n_features)
    return squared_distances(stack, stack).astype(np.float64, copy=False)


def _edges(squared, threshold, gamma):
    """The edges of bags of one size, from their tables of squared distances.

    All edges in both directions, a row of four numbers each, and how many every bag has.
    """
    n = squared.shape[1]
    distance = np.sqrt(squared)
    # Rounding must not decide whether a pair at exactly the average distance is joined.
    limit = (1.0 - 1e-9) * threshold * distance.sum(axis=(1, 2), keepdims=True) / (n * (n - 1))
    joined = (distance < limit) & ~np.eye(n, dtype=bool)
    degree = joined.sum(axis=2) / (n - 1)
    # Closeness relative to the closest: far from everything it would vanish.
    nearest = np.where(joined, squared, np.inf).min(axis=2, keepdims=True)
    nearest = np.where(np.isfinite(nearest), nearest, 0.0)
    close = np.where(joined, np.exp(-gamma * np.maximum(squared - nearest, 0.0)), 0.0)
    share = close / np.maximum(close.sum(axis=2, keepdims=True), np.finfo(float).tiny)
    bag, u, v = np.nonzero(joined)
    columns = degree[bag, u], share[bag, u, v], degree[bag, v], share[bag, v, u]
    return np.column_stack(columns), joined.sum(axis=(1, 2))
