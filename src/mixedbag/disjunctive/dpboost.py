"""DPBoost: the hull relaxation with column and row generation (thesis Algorithm 6.1)."""

from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._hull import HullRelaxation
from mixedbag.disjunctive._local_search import iterated_search, local_search
from mixedbag.disjunctive._master import RestrictedMaster

__all__ = ["DPBoost"]

_REDUCTIONS = 50  # that enter at a time


class DPBoost(DisjunctiveClassifier):
    r"""Disjunctive programming boosting: one large linear program instead of a search.

    It solves the same problem as :class:`SparseBagMarginSVC`: a positive bag has at least one
    positive instance, a negative bag none; few weak hypotheses h_k, a wide margin. The "at least
    one" is replaced by its convex hull, in a lifted linear program where every instance of a
    positive bag has its own copy of the classifier. Features enter by price, as in LPBoost;
    *parallel reductions*, which tighten the hull by what the unambiguous examples say, enter where
    they are violated. The relaxed value is a lower bound. Its solution is projected: the most
    positive instance of each bag becomes its witness, and a local search goes on from there.

    The lifted program grows with (instances of positive bags) × (features + negatives):
    :class:`LNPBoost` reaches better bounds on larger data. With bags of one instance this is
    LPBoost.

    Parameters
    ----------
    C : float, default 1.0
        Price of margin violations against the size of the weights. Small values give few features.
    features : {"thresholded", "rbf", "linear"}, default "thresholded"
        The weak hypotheses: balls around training instances (+1 inside, -1 outside) of
        `n_thresholds` radii, which are the thesis's; radial basis functions around them; or the
        inputs themselves.
    gamma : float or "scale", default "scale"
        Width of the radial basis functions exp(-gamma ‖x - c‖²). "scale" is
        1 / (n_inputs · variance).
    n_thresholds : int, default 5
        Radii a centre, for thresholded features.
    features_per_round : int, default 10
        How many features enter at a time.
    n_rounds : int, default 20
        Rounds of reductions at most.
    tol : float, default 1e-3
        Stop when three rounds of reductions in a row raise the bound by less than this fraction.
    class_weight : "balanced", dict or None, default "balanced"
        Share the loss equally between the classes; None charges C for every positive bag and for
        every instance of a negative bag, a dict that times the factor of its bag's label.
    fit_intercept : bool, default True
        Whether scores have a bias.
    intercept_scaling : float or None, default None
        None leaves the bias free of charge. A number s makes it the weight of a constant feature s.
    n_init : int, default 5
        Local searches before the first relaxation.
    time_limit : float or None, default None
        Seconds for a fit. When they run out, the best classifier so far is kept, with a warning.
    random_state : int, RandomState or None, default None
        Draws the starts of the local search; a number gives the same result every time.

    Attributes
    ----------
    n_reductions_ : int
        Parallel reductions in the last relaxation.
    relaxed_score_ : float
        Value of the last relaxation, over the features in use.
    coef_, intercept_, support_, witness_, upper_bound_, lower_bound_, gap_, n_cuts_, history_
        As in :class:`SparseBagMarginSVC`.

    See Also
    --------
    LNPBoost : Better bounds on larger data, by cutting planes.
    SparseBagMarginSVC : The local search alone: quick, without a bound.
    ExactBagMarginSVC : Searches on until no better classifier can exist.

    References
    ----------
    S. J. D. Andrews, "Learning from ambiguous examples", Ph.D. thesis, Brown University, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.disjunctive import DPBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(20) % 2
    >>> bags = [rng.uniform(size=(3, 2)) for _ in y]
    >>> for bag, label in zip(bags, y):
    ...     bag[0] += 1.0 if label else 0.0   # one instance lies apart
    >>> model = DPBoost(random_state=0).fit(Bags.from_list(bags), y)
    >>> model.score(Bags.from_list(bags), y)
    1.0
    """

    def __init__(
        self,
        C=1.0,
        *,
        features="thresholded",
        gamma="scale",
        n_thresholds=5,
        features_per_round=10,
        n_rounds=20,
        tol=1e-3,
        class_weight="balanced",
        fit_intercept=True,
        intercept_scaling=None,
        n_init=5,
        time_limit=None,
        random_state=None,
    ):
        self.C = C
        self.features = features
        self.gamma = gamma
        self.n_thresholds = n_thresholds
        self.features_per_round = features_per_round
        self.n_rounds = n_rounds
        self.tol = tol
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        self.n_reductions_, self.relaxed_score_ = 0, 0.0
        projected = RestrictedMaster(program, incumbent.clock)
        iterated_search(projected, incumbent, starts, self.n_init)
        hull = HullRelaxation(program, incumbent.clock)
        before, stalled = 0.0, 0
        for _ in self._iterations(self.n_rounds):
            self._generate_features(hull, incumbent)
            self.relaxed_score_ = float(hull.value)
            local_search(projected, incumbent, program.best_instances(hull.scores))
            stalled = stalled + 1 if hull.value - before < self.tol * before else 0
            if stalled == 3:
                break
            before = hull.value
            pairs = hull.violated_reductions(_REDUCTIONS)
            if not pairs:
                break
            hull.add_reductions(pairs)
            self.n_reductions_ += len(pairs)

    def _generate_features(self, hull, incumbent):
        """Solve the relaxation to optimality over all features."""
        hull.solve()
        while hull.price_in(self.features_per_round):
            hull.solve()
        incumbent.raise_lower(hull.lower_bound(incumbent.upper))
