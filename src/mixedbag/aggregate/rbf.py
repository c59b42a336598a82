"""Radial basis function networks that learn from counts and totals of bags."""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from mixedbag._clusters import cluster
from mixedbag._parameters import above, at_least, one_of, whole
from mixedbag._wide import pieces, transposed_times
from mixedbag.aggregate._early_stopping import descended
from mixedbag.aggregate._standard import Standard
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier
from mixedbag.engines._sampling import sample_rows
from mixedbag.pooling import bag_sum

__all__ = ["AggregateRBFClassifier", "AggregateRBFRegressor"]


class _RBFNetwork:
    """Centres by clustering, output weights by least squares on summed activations."""

    _needs_scaling = True
    _search_space = {"n_centers": [6, 12, 24], "alpha": [1e-3, 1e-1, 10.0]}
    _parameter_constraints = {
        "n_centers": [whole(1)],
        "alpha": [at_least(0)],
        "n_init": [whole(1)],
        "max_iter": [whole(1)],
        "solver": [one_of("auto", "least_squares", "gradient")],
        "learning_rate": [above(0)],
    }

    def __init__(
        self,
        n_centers=12,
        *,
        alpha=0.1,
        solver="auto",
        learning_rate=1e-5,
        tol=1e-3,
        n_init=1,
        max_iter=100,
        aggregate="sum",
        random_state=None,
    ):
        self.n_centers = n_centers
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.tol = tol
        self.n_init = n_init
        self.max_iter = max_iter
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit_blocks(self, blocks):
        rows, weight, _ = sample_rows(blocks)
        self._place_centers(rows, weight)
        self._solve_output(blocks)

    def _place_centers(self, rows, weight):
        clusters, X, weight = cluster(
            rows, weight, self.n_centers, self.random_state, self.n_init, self.max_iter
        )
        self.centers_, self.n_iter_ = clusters.cluster_centers_, clusters.n_iter_
        share = weight / weight.sum()
        middle, distance, off = transposed_times(X, share), np.empty(len(X)), np.empty(len(X))
        for some, piece in pieces(X):
            own = self.centers_[clusters.labels_[some]]
            distance[some] = np.linalg.norm(piece - own, axis=1)
            off[some] = ((piece - middle) ** 2).sum(axis=1)
        reached = np.bincount(clusters.labels_, weight, minlength=len(self.centers_))
        width = np.bincount(clusters.labels_, weight * distance, minlength=len(self.centers_))
        width = width / np.maximum(reached, np.finfo(float).tiny)
        # A centre on a single point has no spread of its own: it borrows the average one, or that
        # of all the data where every centre is a point.
        spread = np.sqrt(share @ off) or 1.0
        typical = share @ distance if share @ distance > 1e-6 * spread else spread
        self.widths_ = np.where(width > 1e-3 * typical, width, typical)

    def _solve_output(self, blocks):
        """Eq. 7 plus ``alpha`` times the squared output weights, the constant's free.

        Every block sends the triangle of its least-squares problem; stacked, they have the solution
        of the whole, without the squared condition number of the normal equations.
        """
        triangles = np.vstack(blocks.collect(_triangle, self.centers_, self.widths_))
        n_units = len(self.centers_) + 1
        summed, target = triangles[:, :n_units], triangles[:, n_units:]
        standard = self._standard(blocks)
        target = (target - np.outer(summed[:, 0], standard.mean)) / standard.spread
        solvers = {"least_squares": self._least_squares, "gradient": self._descent}
        names = [self.solver] if self.solver in solvers else list(solvers)
        found = {name: solvers[name](summed, target) for name in names}
        n_bags = blocks.sum(_weight)

        def criterion(name):
            coef, freedom = found[name]
            return corrected_aic(((target - summed @ coef) ** 2).sum(), freedom, n_bags), freedom

        self.solver_ = min(names, key=criterion)
        coef = standard.spread * found[self.solver_][0]
        coef[0] += standard.mean
        self.coef_ = coef if np.ndim(standard.mean) else coef[:, 0]

    def _least_squares(self, summed, target):
        """Output weights, and their degrees of freedom."""
        penalty = np.sqrt(self.alpha) * np.eye(summed.shape[1])[1:]
        coef = np.linalg.lstsq(
            np.vstack([summed, penalty]),
            np.vstack([target, np.zeros((len(penalty), target.shape[1]))]),
            rcond=None,
        )[0]
        gram = summed.T @ summed
        return coef, np.trace(np.linalg.pinv(gram + penalty.T @ penalty) @ gram)

    def _descent(self, summed, target):
        return descended(summed, target, self.learning_rate, self.tol)[:2]

    @staticmethod
    def _standard(blocks):
        return Standard.of(blocks)

    def _score_instances(self, bags):
        return activations(bags.instances, self.centers_, self.widths_) @ self.coef_


def activations(X, centers, widths):
    """Eq. 6 of every centre, and the constant unit."""
    squared = euclidean_distances(X, centers, squared=True)
    active = np.exp(-squared / (2.0 * widths**2))
    return np.column_stack([np.ones(len(active)), active])


def corrected_aic(squares, freedom, n_bags):
    """Akaike's criterion, corrected for few bags (Hurvich, Simonoff and Tsai, 1998).

    With many bags it orders as generalised cross-validation does, which with few trusts those who
    follow the bags most closely.
    """
    left = n_bags - freedom - 2.0
    if left <= 0.0:
        return np.inf
    return np.log(max(squares / n_bags, np.finfo(float).tiny)) + 2.0 * (freedom + 1.0) / left


def _weight(block):
    return block.weight.sum()


def _triangle(block, centers, widths):
    """The R of a QR decomposition of a block's weighted rows: summed activations, then targets."""
    bags, target, weight = block
    summed = bag_sum(activations(bags.instances, centers, widths), bags.offsets)
    rows = np.sqrt(weight)[:, None] * np.column_stack([summed, target])
    return np.linalg.qr(rows, mode="r")


_COUNTS = Standard(np.zeros(1), np.ones(1))


class AggregateRBFRegressor(_RBFNetwork, BagRegressor):
    """Radial basis function network that learns from totals of bags.

    The total of a bag is the sum of unknown values of its instances. The hidden units are Gaussians
    around the centres of clusters of the instances, as wide as the mean distance to the centre; the
    output weights match the totals by least squares (eqs. 6 and 7 of the aggregate-outputs paper)::

        min_v Σ_c w_c (y_c − Σ_{i∈c} (v_0 + Σ_j v_j exp(−‖x_i − m_j‖² / 2σ_j²)))² + alpha Σ_j v_j²

    The paper stops a gradient descent early instead of paying for large weights:
    ``solver="gradient"``, with its rate and tolerance (section 5.3), on totals brought to mean zero
    and unit spread of a value. The descent is that of all bags together, from weights of zero.

    Totals of several quantities at once, a column each, share the hidden units.

    Parameters
    ----------
    n_centers : int, default=12
        Number of hidden units.
    alpha : float, default=0.1
        Price of large output weights, for least squares. Zero is plain least squares.
    solver : {"auto", "least_squares", "gradient"}, default="auto"
        Least squares with a price of large weights, or gradient descent that is stopped early.
        "auto" takes the one of smaller error by Akaike's criterion, corrected for few bags: with
        few bags a weight, it is mostly the descent.
    learning_rate, tol : float, defaults 1e-5, 1e-3
        Step of the descent (less, where that would diverge), and the fall of the squared error in a
        pass at which it stops.
    n_init : int, default=1
        Starts of the clustering; the best is kept.
    max_iter : int, default=100
        Passes of the clustering at most.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres.

    Attributes
    ----------
    centers_ : array (n_centers, n_features)
    widths_ : array (n_centers,)
    coef_ : array (n_centers + 1,) or (n_centers + 1, n_outputs)
        Output weights, the constant first.
    n_iter_ : int
        Passes of the clustering.
    solver_ : str
        Which of the two it was.

    See Also
    --------
    AggregateRBFClassifier : The same for counts of classes.
    AggregateMLPRegressor : Moves its hidden units by the totals: slower, more flexible.
    AggregateSVR : Smooth functions too, around all instances in place of a few centres.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateRBFRegressor
    >>> X = np.linspace(-2, 2, 200).reshape(-1, 1)
    >>> bags = Bags(X, np.arange(0, 201, 4))
    >>> totals = np.add.reduceat(np.sin(2 * X[:, 0]), bags.offsets[:-1])
    >>> model = AggregateRBFRegressor(alpha=1e-6, random_state=0).fit(bags, totals)
    >>> float(model.score(bags, totals)) > 0.8
    True
    """

    _multioutput = True


class AggregateRBFClassifier(_RBFNetwork, CountClassifier):
    """Radial basis function network that learns from counts per bag.

    One output a class, all matched to the bags' counts by least squares on the same hidden units as
    :class:`AggregateRBFRegressor`; the largest output is the class of an instance.

    Parameters
    ----------
    n_centers : int, default=12
        Number of hidden units.
    alpha : float, default=0.1
        Price of large output weights, for least squares. Zero is plain least squares.
    solver : {"auto", "least_squares", "gradient"}, default="auto"
        Least squares with a price of large weights, or gradient descent that is stopped early.
        "auto" takes the one of smaller error by Akaike's criterion, corrected for few bags: with
        few bags a weight, it is mostly the descent.
    learning_rate, tol : float, defaults 1e-5, 1e-3
        Step of the descent (less, where that would diverge), and the fall of the squared error in a
        pass at which it stops.
    n_init : int, default=1
        Starts of the clustering; the best is kept.
    max_iter : int, default=100
        Passes of the clustering at most.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    random_state : int, RandomState instance or None, default=None
        Draws the first centres.

    Attributes
    ----------
    centers_ : array (n_centers, n_features)
    widths_ : array (n_centers,)
    coef_ : array (n_centers + 1, n_classes)
        Output weights, the constant first.
    n_iter_ : int
        Passes of the clustering.
    solver_ : str
        Which of the two it was.
    classes_ : array

    See Also
    --------
    AggregateRBFRegressor : The same for totals.
    AggregateMLPClassifier : Moves its hidden units by the counts, and has probabilities.
    AggregateRidgeClassifier : The same least squares on the features as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateRBFClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> inside = (X**2).sum(axis=1) < 1
    >>> bags = Bags(X, np.arange(0, 301, 3))
    >>> model = AggregateRBFClassifier(random_state=0)
    >>> model = model.fit(bags, np.add.reduceat(inside.astype(int), bags.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(bags) == inside)) > 0.9
    True
    """

    @staticmethod
    def _standard(blocks):
        """Counts have a unit of their own."""
        return _COUNTS
