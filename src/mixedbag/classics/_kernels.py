"""Support vector machines on kernels between bags that sum a kernel between their instances."""

from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils import check_scalar

from mixedbag._gamma import settled_gamma
from mixedbag.base import BagClassifier, check_choice
from mixedbag.classics._pairs import all_pairs, reduce_pairs

KERNELS = ("rbf", "linear", "poly")


def kernel_width(gamma, bags, weight):
    """`gamma` as a number; "scale" is one over the features' number times their variance."""
    if not isinstance(gamma, str):
        return float(check_scalar(gamma, "gamma", Real, min_val=0, include_boundaries="neither"))
    check_choice("gamma", gamma, ("scale",))
    return settled_gamma(gamma, bags.instances, bags.spread(weight))


class _BagKernelSVC(BagClassifier):
    """What the kernel machines share: ``K(A, B) = Σ_a Σ_b u_a u_b k(a, b)``, then an SVM.

    Subclasses say how much an instance counts in its bag, ``u`` (`_shares`), and may turn the bags
    into others first (`_represent`).
    """

    _rules = ("any",)
    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0]}

    def _fit(self, bags, sign, weight):
        check_choice("kernel", self.kernel, KERNELS)
        check_scalar(self.C, "C", Real, min_val=0, include_boundaries="neither")
        bags = self._represent(bags)
        self.gamma_ = kernel_width(self.gamma, bags, weight)
        svc = SVC(C=self.C, kernel="precomputed", tol=self.tol, cache_size=500)
        svc.fit(self._gram(bags, bags), sign, sample_weight=weight)
        self.support_ = svc.support_
        self.support_bags_ = bags[svc.support_]
        self.dual_coef_, self.intercept_ = svc.dual_coef_[0], svc.intercept_[0]
        self.n_iter_ = int(svc.n_iter_[0])

    def _score_bags(self, bags):
        gram = self._gram(self._represent(bags), self.support_bags_)
        return gram @ self.dual_coef_ + self.intercept_

    def _represent(self, bags):
        return bags

    def _gram(self, left, right):
        u, v = self._shares(left), self._shares(right)

        def compare(a, b):
            rows, columns = left[a], right[b]
            table = self._instance_kernel(rows.instances, columns.instances)
            table *= _part(u, left, a)[:, None]
            table *= _part(v, right, b)
            return reduce_pairs(np.add, table, rows, columns)

        return all_pairs(left, right, compare, self.n_jobs)

    def _instance_kernel(self, X, Z):
        given = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        table = pairwise_kernels(X, Z, metric=self.kernel, filter_params=True, **given)
        return table.toarray() if sparse.issparse(table) else table


def _part(values, bags, part):
    return values[bags.offsets[part.start] : bags.offsets[part.stop]]
