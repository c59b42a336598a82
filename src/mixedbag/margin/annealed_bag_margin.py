"""MI-SVM by deterministic annealing: AW-SVM."""

import numpy as np

from mixedbag._annealing import soft_witnesses
from mixedbag.margin._annealed import Slots, _Annealed, inside_positive
from mixedbag.margin.bag_margin import BagMarginSVC

__all__ = ["AnnealedBagMarginSVC"]


class AnnealedBagMarginSVC(_Annealed, BagMarginSVC):
    """`BagMarginSVC` whose first witnesses are annealed: AW-SVM (Gehler and Chapelle, 2007).

    For labels that say "at least one instance is positive". The search of `BagMarginSVC` by turns
    ends in the nearest of many local optima. Here every instance of a positive bag is its witness
    with a probability p at first, and the machine is solved for all of them together::

        minimise over f and p:  ½|f|² + Σ_positive bags C Σ_j p_j loss(f(x_j))
                                + Σ_instances of negative bags C·loss(-f(x)) - T Σ C·H(p)

    The entropy H keeps the choice open while the temperature T is high; as it falls the
    probabilities ``p_j ∝ exp(-loss(f(x_j))/T)`` become a hard choice, from which the search by
    turns goes on. Where cooling ends with one score for all instances, it begins where
    `BagMarginSVC` does. Scale the features first.

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
    temperature : float, default=1.0
        The first temperature, in units of the price of a missed margin. With 0 it is
        `BagMarginSVC`.
    cooling : float, default=0.5
        Factor from one temperature to the next, until a thousandth of the first is left. Closer to
        one is slower and more careful.
    max_iter : int, default=100
        Most machines solved after the annealing.
    tol : float, default=1e-6
        Precision of a machine: its duality gap relative to its objective.
    cache_size : float, default=1000
        Megabytes that kernels may take; beyond, a linear machine uses `n_components` Nyström
        features.
    n_components : int, default=500
        Nyström features, where they are needed.
    random_state : int, RandomState or None
        For Nyström landmarks, and the order in which wide linear problems visit their rows.

    Attributes
    ----------
    witness_ : array of shape (n_positive_bags,)
        Row of each positive bag's most positive instance in the training table.
    objective_ : array of shape (n_iter_,)
        The objective (of hard choices) after each machine since the annealing; it never rises.
    dual_gap_ : float
        How far the last objective can be above the best for its choices.
    coef_, intercept_ : array of shape (n_features,), float
        The linear machine.
    support_, dual_coef_, support_vectors_
        Rows, coefficients and instances of the kernel machine (landmarks for Nyström).
    n_iter_ : int

    See Also
    --------
    BagMarginSVC : The same problem without annealing; it can start several times.
    AnnealedInstanceMarginSVC : Anneals the labels of all instances of positive bags.
    mixedbag.disjunctive.LNPBoost : Says how far the answer can be from the best one.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.margin import AnnealedBagMarginSVC
    >>> bags = Bags.from_list([[[0.1], [3.0]], [[2.8]], [[0.2], [-0.5]], [[0.0]]])
    >>> model = AnnealedBagMarginSVC(kernel="linear").fit(bags, [1, 1, 0, 0])
    >>> model.witness_
    array([1, 2])
    """

    def _slots(self, ambiguity, cost):
        """A positive slot for every instance of a positive bag, a negative one for the others."""
        rows, offsets = inside_positive(ambiguity)
        price = np.repeat(cost[: len(ambiguity.positive)], np.diff(offsets))
        negative = ambiguity.negative_rows
        sign = np.repeat([1.0, -1.0], [len(rows), len(negative)])
        price = np.concatenate([price, cost[len(ambiguity.positive) :]])
        return Slots(np.concatenate([rows, negative]), sign, price)

    def _open(self, ambiguity):
        """Every instance of a positive bag is as probable as the others."""
        sizes = ambiguity.bags.sizes[ambiguity.positive]
        return np.concatenate(
            [np.repeat(1.0 / sizes, sizes), np.ones(len(ambiguity.negative_rows))]
        )

    def _shares(self, ambiguity, scores, temperature):
        rows, offsets = inside_positive(ambiguity)
        share = soft_witnesses(self._losses(scores[rows])[0], offsets, temperature)
        return np.concatenate([share, np.ones(len(ambiguity.negative_rows))])
