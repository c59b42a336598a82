"""The maximum bag margin: MI-SVM."""

from mixedbag.margin._alternating import _MarginSVC
from mixedbag.margin._ambiguity import Witnesses

__all__ = ["BagMarginSVC"]


class BagMarginSVC(_MarginSVC):
    """A support vector machine in which one instance, the witness, stands for each positive bag.

    For labels that say "at least one instance is positive": a molecule binds if one of its shapes
    does. The best instance of a positive bag shall score above +1, every instance of a negative bag
    below -1:

        minimise over f and the witnesses x_i:
        ½|f|² + Σ_positive bags C·loss(f(x_i)) + Σ_instances of negative bags C·loss(-f(x))

    (MI-SVM, eq. 5.24 of the thesis on learning from ambiguous examples.) It is solved by turns:
    the machine for fixed witnesses, then the best-scoring instance of every positive bag as its
    witness, until these repeat. The first witnesses are those that a machine on the
    bags' centroids prefers. Scale the features first.

    Parameters
    ----------
    C : float or pair of floats, default=1.0
        Price of a missed margin: larger fits the training bags more closely. A pair prices
        negative and positive bags apart.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        "linear" is solved in the space of the features and suits any number of bags and sparse
        data. A callable gets two tables of instances and returns the table of their kernels. With
        "precomputed", the instances' features are their kernels with all training instances.
    degree : int, default=2
        Of the polynomial kernel ``(gamma <x, z> + coef0)**degree``.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the kernel: "scale" is ``1 / (n_features * variance)``, "auto" ``1 / n_features``.
    coef0 : float, default=1.0
        The constant of the polynomial kernel, and of "sigmoid".
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What a missed margin costs; the squared one needs ``kernel="linear"``.
    class_weight : dict or "balanced", optional
        Factors of `C` by class label; "balanced" gives both sides' losses the same total price.
    update : {"synchronous", "asynchronous"}, default="synchronous"
        Revise all bags between two machines, or only the one that gains most (slower, and often
        another optimum).
    n_init : int, default=1
        Number of starts; the first is described above, the others are random. The lowest
        objective wins.
    max_iter : int, default=100
        Most machines solved from one start.
    tol : float, default=1e-6
        Precision of a machine: its duality gap relative to its objective.
    cache_size : float, default=1000
        Megabytes that kernels may take. If all pairs of training instances fit, the solution is
        exact (in single precision when double would not fit); beyond, a linear machine uses
        `n_components` Nyström features.
    n_components : int, default=500
        Nyström features, where they are needed.
    random_state : int, RandomState or None
        For random starts, Nyström landmarks, and the order in which wide linear problems (a
        thousand features or more, sparse or with few rows; or above 4,096) visit their rows.

    Attributes
    ----------
    witness_ : array of shape (n_positive_bags,)
        Row of each positive bag's most positive instance in the training table. Not kept by a fit
        on a cluster.
    objective_ : array of shape (n_iter_,)
        The objective after each machine; it never rises (by more than `tol`).
    dual_gap_ : float
        How far the last objective can be above the best for its witnesses.
    coef_, intercept_ : array of shape (n_features,), float
        The linear machine.
    support_, dual_coef_, support_vectors_
        Rows, coefficients and instances of the kernel machine (landmarks for Nyström).
    n_iter_ : int
        Number of machines solved from the best start.

    See Also
    --------
    InstanceMarginSVC : Labels all instances of a positive bag, instead of picking one.
    AnnealedBagMarginSVC : Starts from a soft choice of witnesses, to pass by poor local optima.
    SimilarityMarginSVC : The other instances of a positive bag count too, by what they resemble.
    mixedbag.disjunctive.SparseBagMarginSVC : The same margin from few features.

    Notes
    -----
    With ``kernel="linear"`` it also learns from `mixedbag.engines.DistributedBags`.
    The search is the same there, its machines are not: on blocks they are made of sums, by an
    interior point method (hinge) or Newton steps, here of rows, each from the one before, which is
    quicker where all rows are at hand (``python -m benchmarks product/one_place``).

    Every instance of a negative bag has a price and a positive bag one: with a small `C`, few bags
    are called positive. scikit-learn's `TunedThresholdClassifierCV` (with
    ``response_method="decision_function"``) finds a threshold on bags left out; on the development
    collection such a threshold raised the accuracy of radial kernels from .811 to .824 at ``C=1``
    and not at larger ones (``python -m benchmarks thesis/threshold``).

    The intercept is free whatever the kernel: a constant added to a feature changes no answer of a
    linear machine.

    References
    ----------
    S. J. D. Andrews, "Learning from ambiguous examples", Ph.D. thesis, Brown University, 2007.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.margin import BagMarginSVC
    >>> bags = Bags.from_list([[[0.1], [3.0]], [[2.8]], [[0.2], [-0.5]], [[0.0]]])
    >>> model = BagMarginSVC(kernel="linear").fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags)
    array([1, 1, 0, 0])
    >>> model.predict_instances(bags)
    array([0, 1, 1, 0, 0, 0])
    >>> model.witness_
    array([1, 2])
    """

    _ambiguity = Witnesses

    def _first_choice(self, machine, ambiguity, cost):
        """The instances that a machine on the centroids prefers, and that machine."""
        # One centroid a positive bag against every negative instance: unless the sides weigh the
        # same here, calling everything negative is often best, and says nothing of the witnesses.
        problem = ambiguity.problem(
            ambiguity.start(), ambiguity.balanced(cost), self.loss == "squared_hinge"
        )
        solution = machine.solve(problem, loose=True)
        return ambiguity.choose(solution.scores), solution
