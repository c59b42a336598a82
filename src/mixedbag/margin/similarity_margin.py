"""SMILE: instances of positive bags count for either class as much as they resemble it."""

import numpy as np

from mixedbag._kernels import Kernel, settled_gamma
from mixedbag._once import once
from mixedbag._parameters import one_of
from mixedbag.margin._alternating import _MarginSVC
from mixedbag.margin._ambiguity import Witnesses
from mixedbag.margin._annealed import Absent, Slots, inside_positive
from mixedbag.pooling import bag_argmax

__all__ = ["SimilarityMarginSVC"]

_TIE = 1e-6  # of all scores' range: many lie on the margin, and rounding must not choose there


class SimilarityMarginSVC(_MarginSVC):
    """Similarity-based learning from bags (SMILE, Xiao, Liu and Hao, 2014).

    For labels that say "at least one instance is positive". One instance of every positive bag is a
    positive *candidate*. The others are ambiguous and go into the support vector machine with both
    labels, each priced by how much they resemble the class::

        ½|f|² + Σ_candidates C·loss(f(x)) + Σ_instances of negative bags C·loss(-f(x))
              + Σ_ambiguous C (s⁺(x)·loss(f(x)) + s⁻(x)·loss(-f(x)))

    where s⁺ is the mean similarity ``exp(-γ‖x - z‖²)`` to the candidates and s⁻ that to the
    instances of negative bags. At first the candidates are the instances least like negative ones;
    then machine, candidates (the best-scoring instances) and similarities are revised by turns,
    until the candidates repeat. Scale the features first.

    Parameters
    ----------
    C : float or pair of floats, default=1.0
        Price of a missed margin: larger fits the training bags more closely. A pair prices
        negative and positive bags apart.
    kernel : {"rbf", "linear", "poly", "sigmoid"} or callable, default="rbf"
        "linear" is solved in the space of the features and suits any number of bags and sparse
        data. A callable gets two tables of instances and returns the table of their kernels.
    degree : int, default=2
        Of the polynomial kernel ``(gamma <x, z> + coef0)**degree``.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of the kernel and of similarities: "scale" is ``1 / (n_features * variance)``, "auto"
        ``1 / n_features``.
    coef0 : float, default=1.0
        The constant of the polynomial kernel, and of "sigmoid".
    class_weight : dict or "balanced", optional
        Factors of `C` by class label; "balanced" gives both sides' losses the same total price.
    max_iter : int, default=20
        Most machines solved.
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
        The objective of each machine; prices change from one to the next, so it may rise.
    dual_gap_ : float
    coef_, intercept_ : array of shape (n_features,), float
        The linear machine.
    support_, dual_coef_, support_vectors_
        Rows, coefficients and instances of the kernel machine (landmarks for Nyström).
    n_iter_ : int

    See Also
    --------
    BagMarginSVC : Leaves the ambiguous instances of positive bags out altogether.
    InstanceMarginSVC : Gives each of them one label or the other.

    Notes
    -----
    Of the paper the abstract is what we have: one candidate a bag, and mean similarities, are ours.

    Examples
    --------
    >>> from mixedbag import Bags
    >>> from mixedbag.margin import SimilarityMarginSVC
    >>> bags = Bags.from_list([[[0.1], [3.0]], [[2.8]], [[0.2], [-0.5]], [[0.0]]])
    >>> model = SimilarityMarginSVC(kernel="linear").fit(bags, [1, 1, 0, 0])
    >>> model.predict(bags)
    array([1, 1, 0, 0])
    """

    _ambiguity = Witnesses
    # Kernels that are given leave no features to compare.
    _parameter_constraints = {"kernel": [one_of("linear", "rbf", "poly", "sigmoid"), callable]}

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        degree=2,
        gamma="scale",
        coef0=1.0,
        class_weight=None,
        max_iter=20,
        tol=1e-6,
        cache_size=1000,
        n_components=500,
        random_state=None,
    ):
        super().__init__(
            C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            class_weight=class_weight,
            max_iter=max_iter,
            tol=tol,
            cache_size=cache_size,
            n_components=n_components,
            random_state=random_state,
        )

    def _best_search(self, machine, ambiguity):
        cost = self._costs(ambiguity)
        bags, (rows, offsets) = ambiguity.bags, inside_positive(ambiguity)
        X, weight = bags.instances, bags.spread(ambiguity.weight)
        gamma = settled_gamma(self.gamma, X, weight)
        negative = ambiguity.negative_rows
        about = X[rows], X[negative], weight[negative]
        to_negative = once(lambda: _mean_similarity(gamma, *about), "similarity", gamma, *about)
        n_open, n_positive = len(rows), len(ambiguity.positive)
        price = np.repeat(cost[:n_positive], np.diff(offsets))
        slots = Slots(
            np.concatenate([rows, rows, negative]),
            np.repeat([1.0, -1.0, -1.0], [n_open, n_open, len(negative)]),
            np.concatenate([price, price, cost[n_positive:]]),
        )
        candidates = bag_argmax(-to_negative, offsets)
        seen, objective, solution = set(), [], None
        for _ in self._iterations(self.max_iter):
            seen.add(ambiguity.fingerprint(candidates))
            chosen = rows[candidates]
            to_positive = _mean_similarity(gamma, X[rows], X[chosen], weight[chosen])
            shares = np.array([to_positive, to_negative])
            shares[:, candidates] = [[1.0], [0.0]]
            share = np.concatenate([*shares, np.ones(len(negative))])
            solution = machine.solve(slots.problem(share, False), solution)
            objective.append(solution.objective)
            scores = solution.scores[rows]
            scores[candidates] += _TIE * np.ptp(scores)
            candidates = bag_argmax(scores, offsets)
            if ambiguity.fingerprint(candidates) in seen:
                break
        self._keep(machine, solution, objective)
        return solution

    _fit_blocks = Absent()


def _mean_similarity(gamma, rows, others, weight):
    """How much each row resembles the others, on the average."""
    return Kernel("rbf", gamma).expand(rows, others, weight / weight.sum())
