"""The maximum instance margin: mi-SVM."""

from mixedbag.margin._alternating import _MarginSVC
from mixedbag.margin._ambiguity import Labels

__all__ = ["InstanceMarginSVC"]


class InstanceMarginSVC(_MarginSVC):
    """A support vector machine that also finds the labels of the instances in positive bags.

    For labels that say "at least one instance is positive". Every instance of a negative bag is
    negative; those of a positive bag are labelled by the machine, at least one of them positive:

        minimise over f and the labels y:  ½|f|² + Σ_instances C·loss(y(x) f(x))

    (mi-SVM, eq. 5.28 of the thesis on learning from ambiguous examples.) It is solved by turns: the
    machine for fixed labels, then the sign of its scores as labels; a positive bag left without a
    positive gets its best instance back. At first all instances of positive bags are positive. An
    instance's price belongs to its bag, whatever its label, so that neither step can raise the
    objective. Scale the features first.

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
        How far the last objective can be above the best for its labels.
    coef_, intercept_ : array of shape (n_features,), float
        The linear machine.
    support_, dual_coef_, support_vectors_
        Rows, coefficients and instances of the kernel machine (landmarks for Nyström).
    n_iter_ : int
        Number of machines solved from the best start.

    See Also
    --------
    BagMarginSVC : One witness a positive bag; its other instances do not count.
    AnnealedInstanceMarginSVC : Starts from soft labels, to pass by poor local optima.
    mixedbag.wrappers.SpreadLabels : The start of this search alone: labels are not corrected.

    Notes
    -----
    With ``kernel="linear"`` and one start it also learns from `mixedbag.engines.DistributedBags`.
    The search is the same there, its machines are not: on blocks they are made of sums, by an
    interior point method (hinge) or Newton steps, here of rows, each from the one before, which is
    quicker where all rows are at hand (``python -m benchmarks product/one_place``).

    The intercept is free whatever the kernel: a constant added to a feature changes no answer of a
    linear machine.

    References
    ----------
    S. J. D. Andrews, "Learning from ambiguous examples", Ph.D. thesis, Brown University, 2007.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.margin import InstanceMarginSVC
    >>> bags = Bags.from_list([[[0.1], [3.0]], [[2.8]], [[0.2], [-0.5]], [[0.0]]])
    >>> model = InstanceMarginSVC(kernel="linear").fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags)
    array([1, 1, 0, 0])
    >>> model.predict_instances(bags)
    array([0, 1, 1, 0, 0, 0])
    """

    _ambiguity = Labels

    def _first_choice(self, machine, ambiguity, cost):
        return ambiguity.start(), None
