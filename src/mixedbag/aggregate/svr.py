"""Support vector regression on bag totals."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mixedbag._kernels import KERNEL_PARAMETERS, Kernel, bag_means, settled_gamma
from mixedbag._parameters import above, at_least, one_of, whole
from mixedbag._solvers.interior_point import Box, solve_boxes
from mixedbag._solvers.smo import fit_tube
from mixedbag._wide import times
from mixedbag.aggregate._standard import Standard
from mixedbag.base import BagRegressor
from mixedbag.exceptions import InputError

__all__ = ["AggregateSVR"]


class AggregateSVR(BagRegressor):
    """Support vector regression that learns from the total of a bag.

    The label of a bag is assumed to be the sum (or mean) of unknown values of its instances. A
    smooth function f is sought whose sums match the totals up to a tube of width ε (eq. 11 of the
    aggregate-outputs paper)::

        min ½‖w‖² + C σ Σ_c w_c max(0, |Σ_{i∈c} f(x_i) − y_c| − ε),    f(x) = w·φ(x) + b

    σ is the spread of an instance's value as the totals show it, so that C means the same whatever
    the totals are counted in.

    Dividing a bag's constraint by its size makes this an ordinary support vector regression on
    bag *means*, with weight ``n_c`` and tube ``ε / n_c``; kernels enter as means over pairs of
    instances. With bags of one it is :class:`sklearn.svm.SVR` on standardised targets. The linear
    machine also learns from `mixedbag.engines.DistributedBags`, by the same interior point method.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error of σ in a total. Large values follow the totals, small ones prefer a flat
        function.
    epsilon : float, default=0.0
        Error in a total that costs nothing, in the units of the totals.
    kernel : {"linear", "rbf", "poly"} or callable, default="linear"
        Similarity of two instances.
    gamma : "scale", "auto" or float, default="scale"
        Width of the rbf and poly kernels, as in :class:`sklearn.svm.SVR`.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    tol : float, default=1e-4
        Largest violation of the optimality conditions, in units of σ; kernels other than linear,
        which is solved to rounding.
    max_iter : int, default=1_000_000
        Steps of the kernel solver before it gives up with a warning.

    Attributes
    ----------
    coef_ : array (n_features,)
        Weights of the features; linear kernel only.
    dual_coef_ : array (n_support_instances,)
        Weight of each support instance; other kernels only.
    support_instances_ : array (n_support_instances, n_features)
        The instances of bags whose total touches the tube; other kernels only.
    intercept_ : float
    gamma_ : float
        The kernel's width, a number; kernels other than linear only.
    n_iter_ : int
        Steps of the solver.

    See Also
    --------
    AggregateRidgeRegressor : Linear, by least squares: the plain first answer.
    AggregateRBFRegressor : A few Gaussians, by least squares: quicker with many bags.
    AggregateSVC : For counts of classes.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateSVR
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> bags = Bags(X, [0, 2, 5, 9, 12])
    >>> totals = np.add.reduceat(3 * X[:, 0] + 1, bags.offsets[:-1])
    >>> model = AggregateSVR(C=100.0).fit(bags, totals)
    >>> model.predict_instances([[[20.0]]]).round(2)
    array([61.])
    """

    _search_space = {"C": [0.1, 1.0, 10.0, 100.0], "kernel": ["linear", "rbf"]}
    _needs_scaling = True
    _accepts_sparse = True

    _parameter_constraints = {
        "C": [above(0)],
        "epsilon": [at_least(0)],
        "kernel": [one_of("linear", "rbf", "poly"), callable],
        **KERNEL_PARAMETERS,
        "max_iter": [whole(1)],
    }

    def __init__(
        self,
        C=1.0,
        *,
        epsilon=0.0,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        aggregate="sum",
        tol=1e-4,
        max_iter=1_000_000,
    ):
        self.C = C
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.aggregate = aggregate
        self.tol = tol
        self.max_iter = max_iter

    def _fit(self, bags, total, weight):
        blocks = self._cut(bags, total, weight)
        if self.kernel == "linear":
            self._fit_blocks(blocks)
            return
        standard = Standard.of(blocks)
        block = standard.inside(blocks.blocks[0])
        mean, tube, upper = _tubes(block, self.C, self.epsilon / standard.spread)
        self.gamma_ = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        gram = self._settled_kernel().between_bags(bags)
        beta, intercept, violation, self.n_iter_ = fit_tube(
            gram, mean, tube, upper, self.tol, self.max_iter
        )
        if violation > self.tol:
            warnings.warn(
                f"AggregateSVR stopped after {self.max_iter} steps, {violation:.2g} short of the "
                "optimality conditions: raise max_iter, lower C or scale the features",
                ConvergenceWarning,
                stacklevel=5,
            )
        support = bags.spread(beta != 0)
        self.support_instances_ = bags.instances[support]
        self.dual_coef_ = standard.spread * bags.spread(beta / bags.sizes)[support]
        self.intercept_ = standard.mean + standard.spread * intercept

    def _fit_blocks(self, blocks):
        """Learn from blocks of labelled bags, wherever they are."""
        if self.kernel != "linear":
            raise InputError(
                f"kernel={self.kernel!r} needs all bags in one place: on a cluster, AggregateSVR "
                "learns with kernel='linear'"
            )
        standard = Standard.of(blocks)
        rows = blocks.map(_box, standard, self.C, self.epsilon / standard.spread)
        _, w, intercept, _, n_iter = solve_boxes(rows)
        self.coef_ = standard.spread * w
        self.intercept_ = standard.mean + standard.spread * intercept
        self.n_iter_ = max(1, n_iter)

    @property
    def _linear(self):  # type: ignore[override]
        return self.kernel == "linear"

    def _score_instances(self, bags):
        if self.kernel == "linear":
            return times(bags.instances, self.coef_) + self.intercept_
        expansion = self._settled_kernel().expand(
            bags.instances, self.support_instances_, self.dual_coef_
        )
        return expansion + self.intercept_

    def _settled_kernel(self):
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)


def _tubes(block, C, epsilon):
    """Target, tube and bound of each bag's mean."""
    sizes = block.bags.sizes
    return block.target / sizes, np.full(len(sizes), epsilon) / sizes, C * block.weight * sizes


def _linear_rows(block, C, epsilon):
    """Rows, their targets, and the bounds of their multipliers."""
    X = bag_means(block.bags)
    target, tube, upper = _tubes(block, C, epsilon)
    if epsilon == 0.0:
        return X, target, -upper, upper
    none = np.zeros(len(upper))  # one multiplier for either side of the tube
    return (
        np.vstack([X, X]),
        np.concatenate([target - tube, target + tube]),
        np.concatenate([none, -upper]),
        np.concatenate([upper, none]),
    )


def _box(block, standard, C, epsilon):
    return Box.of(*_linear_rows(standard.inside(block), C, epsilon))
