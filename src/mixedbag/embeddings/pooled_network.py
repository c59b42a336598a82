"""MI-NN: a network of instances whose scores are pooled by a soft maximum."""

from mixedbag._parameters import above
from mixedbag.embeddings.network import MeanNetworkClassifier
from mixedbag.pooling import LogMeanExp

__all__ = ["MINetworkClassifier"]


class MINetworkClassifier(MeanNetworkClassifier):
    """A network that scores instances; a soft maximum makes the bag's score (MI-NN).

    For labels that say "at least one instance is positive" (after Ramon and De Raedt, 2000). An
    instance has the score ``F_j = ⟨v, max(0, W x_j + b)⟩ + c``, a bag the log-odds::

        Y = (1/M) log( (1/n) Σ_j exp(M F_j) )

    which is the largest score where the sharpness M is high, and the mean where it is low. The
    weights minimise::

        Σ_i w_i log(1 + exp(−t_i Y_i)) / Σ_i w_i  +  alpha/2 (‖W‖² + ‖v‖²)

    Parameters
    ----------
    hidden : int, default=16
        Number of units.
    sharpness : float, default=3.0
        M above.
    alpha : float, default=1e-2
        Price of large weights.
    max_iter : int, default=200
        Most L-BFGS steps.
    n_init : int, default=3
        Networks from different random starts, whose scores of instances are averaged.
    tol : float, default=1e-4
        A network has converged when a step lowers its objective by less than this share.
    random_state : int, RandomState instance or None, default=None
        First weights.

    Attributes
    ----------
    weights_ : array of shape (n_init, n_weights)
        All weights and biases of every network, in one row each.
    objective_ : array
        The objective after each step, the mean over networks; it never rises.
    n_iter_ : int
        Number of steps.
    classes_ : array

    See Also
    --------
    MeanNetworkClassifier : Averages over the bag, for bags that differ in what they are made of.
    mixedbag.classics.MILogisticRegression : Without a hidden layer: linear, and quicker.
    mixedbag.boosting.ExpRegBoost : The same soft maximum over sums of stumps.

    Notes
    -----
    The original has sigmoid units and minimises squared errors by gradient descent.

    Examples
    --------
    >>> from mixedbag.embeddings import MINetworkClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=80, random_state=0)
    >>> model = MINetworkClassifier(random_state=0).fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.9)
    True
    """

    _rules = ("any",)  # type: ignore[assignment]
    _search_space = {"sharpness": [1.0, 5.0], "alpha": [1e-2, 1e-1], "max_iter": [50]}
    _parameter_constraints = {"sharpness": [above(0)]}

    def __init__(
        self,
        hidden=16,
        *,
        sharpness=3.0,
        alpha=1e-2,
        max_iter=200,
        n_init=3,
        tol=1e-4,
        random_state=None,
    ):
        super().__init__(
            hidden,
            alpha=alpha,
            max_iter=max_iter,
            n_init=n_init,
            tol=tol,
            random_state=random_state,
        )
        self.sharpness = sharpness

    @property
    def _pooling(self):  # type: ignore[override]
        return LogMeanExp(self.sharpness)
