"""Support vector machines on kernels between bags that sum a kernel between their instances."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.svm import SVC

from mixedbag._kernels import KERNEL_PARAMETERS, Kernel, settled_gamma, tiles
from mixedbag._once import once
from mixedbag._pairs import SELF_ROWS, cut
from mixedbag._parameters import above, one_of
from mixedbag.base import BagClassifier
from mixedbag.pooling import bag_sum

# Steps of the solver, which would never end on features so large that nothing can be separated.
MAX_STEPS = 10_000_000
_LARGE = 2**24  # bytes
_LONG = 16  # instances: sums over longer bags are products
_OF_MACHINE = ("C", "tol", "n_jobs")  # parameters that the kernel does not depend on


class BagKernelSVC(BagClassifier):
    """What the kernel machines share: ``K(A, B) = Σ_a Σ_b u_a u_b k(a, b)``, then an SVM.

    Subclasses say how much an instance counts in its bag, ``u`` (`_shares`), and may turn the bags
    into others first (`_represent`).
    """

    _rules = ("any",)
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0]}
    _parameter_constraints = {
        "C": [above(0)],
        "kernel": [one_of("rbf", "linear", "poly")],
        **KERNEL_PARAMETERS,
        "tol": [above(0)],
    }

    def _fit(self, bags, sign, weight):
        bags = self._represent(bags)
        gamma = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        self.gamma_ = min(gamma, np.finfo(bags.instances.dtype).max / 1e6)
        svc = SVC(C=self.C, kernel="precomputed", tol=self.tol, cache_size=500, max_iter=MAX_STEPS)
        gram = once(lambda: self._gram(bags, bags), *self._kernel_of, self.gamma_, bags)
        svc.fit(gram, sign, sample_weight=weight)
        self.support_, self.dual_coef_ = svc.support_, svc.dual_coef_[0]
        if _costly(bags, svc.support_):
            self.support_, self.dual_coef_ = np.arange(len(bags)), np.zeros(len(bags))
            self.dual_coef_[svc.support_] = svc.dual_coef_[0]
        self.intercept_ = svc.intercept_[0]
        self.n_iter_ = int(svc.n_iter_[0])
        self._keep_support(bags)

    def _keep_support(self, bags):
        self.support_bags_ = bags[self.support_]
        self.support_shares_ = self._shares(bags)[bags.rows_of(self.support_)]

    @property
    def _kernel_of(self):
        """The kernel's name, and the parameters that it depends on."""
        parameters = self.get_params(deep=False)
        return type(self).__name__, {k: v for k, v in parameters.items() if k not in _OF_MACHINE}

    def _score_bags(self, bags):
        """``Σ_a u_a f(a) + b``: what an instance adds is the same in its bag and alone."""
        bags, support = self._represent(bags), self.support_bags_
        shares = vars(self).get("support_shares_")  # a model of an earlier version has none
        if shares is None:
            shares = self._shares(support)
        coef = support.spread(self.dual_coef_) * shares
        about = bags.instances, support.instances, coef
        added = once(
            lambda: self._settled.expand(*about), "adds", *self._kernel_of, self.gamma_, *about
        )
        return bag_sum(self._shares(bags) * added, bags.offsets) + self.intercept_

    def _represent(self, bags):
        return bags

    def _gram(self, left, right):
        of_left = self._shares(left)
        shares = of_left, of_left if right is left else self._shares(right)
        return weighted_gram(self._settled, left, right, shares, self.n_jobs)

    @property
    def _settled(self):
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)


def _costly(bags, support):
    """Whether a copy of the support would be most of a large table: rather keep it where it is."""
    large = not bags.is_sparse and bags.instances.nbytes > _LARGE
    return large and 2 * bags.sizes[support].sum() > bags.n_instances


def weighted_gram(kernel, left, right, shares, n_jobs=None):
    """``Σ_a Σ_b u_a v_b k(a, b)`` for every pair of bags; `shares` are u and v.

    Tiles of pairs of rows become pairs of bags at once, in double precision. They begin and end
    anywhere: a large bag takes no more memory than small ones.
    """
    gram = np.zeros((len(left), len(right)))
    (u, v), own = shares, left is right
    if not (u.any() and v.any()):
        return gram
    values = kernel.pairs(left.instances, right.instances)

    def compare(rows, columns):
        (a, starts), (b, others) = _touched(left, rows), _touched(right, columns)
        table = values(rows, columns)
        if len(others) * _LONG > table.shape[1]:
            sums = np.add.reduceat(table * u[rows, None], starts, axis=0)
            part = np.add.reduceat(sums * v[columns], others, axis=1)
        else:
            sums = _row_sums(table, v[columns], others)
            part = np.add.reduceat(sums * u[rows, None], starts, axis=0)
        return a, b, rows == columns, part

    parts = tiles(left.n_instances, right.n_instances, own)
    at_once = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    for a, b, whole, part in at_once(delayed(compare)(*tile) for tile in parts):
        gram[a, b] += part
        if own and not whole:
            gram[b, a] += part.T
    return gram


def own_sums(kernel, bags, share):
    """``Σ_a Σ_b u_a u_b k(a, b)`` of every bag with itself."""

    def squares(part):
        block, u = bags[part], _part(share, bags, part)
        if block.n_instances > 2 * SELF_ROWS:
            return np.diag(weighted_gram(kernel, block, block, (u, u)))
        same = block.bag_of[:, None] == block.bag_of
        table = kernel.of(block.instances, block.instances)
        return bag_sum((table * same) @ u * u, block.offsets)

    return np.concatenate([squares(part) for part in cut(bags, SELF_ROWS)])


def _part(values, bags, part):
    return values[bags.offsets[part.start] : bags.offsets[part.stop]]


def _touched(bags, rows):
    """The bags of a slice of rows, and where they begin in it."""
    ends = np.searchsorted(bags.offsets, [rows.start, rows.stop - 1], side="right")
    part = slice(ends[0] - 1, ends[1])
    return part, np.maximum(bags.offsets[part] - rows.start, 0)


def _row_sums(table, weights, starts):
    """Weighted sums of the columns from each start to the next, as products."""
    stops = [*starts[1:], table.shape[1]]
    return np.column_stack([table[:, i:j] @ weights[i:j] for i, j in zip(starts, stops)])
