"""LNPBoost: lift-and-project cuts, then a projection back to the disjunctive program."""

from mixedbag._parameters import between, one_of, whole
from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._local_search import iterated_search, local_search
from mixedbag.disjunctive._master import RestrictedMaster

__all__ = ["LNPBoost"]


class LNPBoost(DisjunctiveClassifier):
    r"""Lift-and-project boosting: a maximum-margin classifier of bags, with a proven bound.

    It solves the same problem as :class:`SparseBagMarginSVC`: a positive bag has at least one
    positive instance, a negative bag none, and

    .. math::

        \lVert w \rVert_1 + C n \Bigl( \tfrac12 \operatorname{mean}_{i\,\text{positive bag}}
        [1 - \max_{x \in X_i} f(x)]_+ + \tfrac12
        \operatorname{mean}_{x\,\text{in negative bags}} [1 + f(x)]_+ \Bigr)

    is to be small. Instead of guessing which instance of a positive bag makes its label, it first
    solves a linear relaxation that keeps all of them possible, and tightens it by rounds of cutting
    planes: for a positive bag that the relaxed solution violates, the deepest inequality that
    holds whichever instance is the witness. The relaxed value (RDP) is a lower bound on what
    any classifier can reach. The relaxed solution is then projected (PRDP): its most positive
    instances become witnesses, and a local search goes on from there. `gap_` says how far the
    result can be from the best possible one.

    Parameters
    ----------
    C, features, gamma, n_thresholds, class_weight, fit_intercept, intercept_scaling
        The program, as in :class:`SparseBagMarginSVC`. The bound is tighter without a free bias.
    n_rounds : int, default 100
        Rounds of cuts at most.
    bags_per_round : int, default 20
        Cuts a round: the violated bags that cost most. Few cuts at a time are made against a
        fresher solution, and raise the bound faster.
    tol : float, default 0.005
        Stop when three rounds in a row raise the bound by less than this fraction.
    gap_tol : float, default 1e-4
        Stop when the relative gap is this small.
    max_cosine : float, default 1.0
        Refuse a cut when the cosine of its angle with an earlier one is larger (the thesis's
        minimum-angle tolerance). Small values: few cuts, fast, a weak bound. 1 accepts every cut.
    normalization : {"multipliers", "coefficients"}, default "multipliers"
        What limits the size of a cut: the sum of its multipliers, or ‖α‖₁ (the thesis; slower).
    feature_selection : bool, default False
        Grow the set of features by `features_per_round` a time (thesis Algorithm 7.2) until that
        lowers the projected objective by less than `selection_tol`. Not needed for speed; it fits
        less closely. `lower_bound_` still holds for all features.
    features_per_round, selection_tol : int, float, defaults 2, 1e-4
    n_init : int, default 5
        Local searches before the first cut.
    time_limit : float or None, default None
        Seconds for a fit. When they run out, the best classifier so far is kept, with a warning.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    relaxed_score_ : float
        Value of the last relaxation (RDP), over the features in use.
    n_cuts_ : int
        Cuts generated.
    coef_, intercept_, support_, witness_, upper_bound_, lower_bound_, gap_, history_
        As in :class:`SparseBagMarginSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.disjunctive import LNPBoost
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(20) % 2
    >>> bags = [rng.normal(size=(3, 4)) for _ in y]
    >>> for bag, label in zip(bags, y):
    ...     bag[0, 0] = 3.0 if label else -3.0
    >>> model = LNPBoost(random_state=0).fit(Bags.from_list(bags), y)
    >>> bool(model.lower_bound_ <= model.upper_bound_)
    True
    >>> model.predict(Bags.from_list(bags[:4]))
    array([0, 1, 0, 1])
    """

    _parameter_constraints = {
        "bags_per_round": [whole(1)],
        "max_cosine": [between(-1, 1)],
        "normalization": [one_of("multipliers", "coefficients")],
    }

    def __init__(
        self,
        C=1.0,
        *,
        features="linear",
        gamma="scale",
        n_thresholds=5,
        n_rounds=100,
        bags_per_round=20,
        tol=0.005,
        gap_tol=1e-4,
        max_cosine=1.0,
        normalization="multipliers",
        feature_selection=False,
        features_per_round=2,
        selection_tol=1e-4,
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
        self.n_rounds = n_rounds
        self.bags_per_round = bags_per_round
        self.tol = tol
        self.gap_tol = gap_tol
        self.max_cosine = max_cosine
        self.normalization = normalization
        self.feature_selection = feature_selection
        self.features_per_round = features_per_round
        self.selection_tol = selection_tol
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        columns = [] if self.feature_selection else None
        relaxed = RestrictedMaster(program, incumbent.clock, columns)
        projected = RestrictedMaster(program, incumbent.clock, columns)
        cutting = Convexification(relaxed, incumbent, self.max_cosine, self.normalization)
        self.relaxed_score_ = 0.0
        if self.feature_selection:
            cutting.solve()
            self._select_features(cutting, projected, incumbent)
        else:
            iterated_search(projected, incumbent, starts, self.n_init)
            cutting.solve()
            self._convexify(cutting, projected, incumbent)

    def _select_features(self, cutting, projected, incumbent):
        """Algorithm 7.2: convexify, project, let the best-priced features of the projection in."""
        relaxed = cutting.master
        before = float("inf")
        for _ in self._iterations(self.n_rounds):
            self._convexify(cutting, projected, incumbent)
            local_search(projected, incumbent, relaxed.program.best_instances(relaxed.scores))
            if before - projected.value < self.selection_tol * before and len(projected.active):
                return
            before = projected.value
            known = len(projected.active)
            if not projected.price_in(self.features_per_round):
                return
            relaxed.add_columns(projected.active[known:])
            cutting.solve()

    def _convexify(self, cutting, projected, incumbent):
        """Rounds of cuts, with a projection after each, until they stop paying."""
        stalled = 0
        self.relaxed_score_ = float(cutting.master.value)
        for _ in self._iterations(self.n_rounds):
            if incumbent.gap <= self.gap_tol:
                return
            bags = cutting.violated_bags()
            if not len(bags):  # the relaxation has landed inside the disjunctive program
                incumbent.offer(cutting.master.w, cutting.master.b)
                return
            before = cutting.master.value
            first, rest = bags[: self.bags_per_round], bags[self.bags_per_round :]
            if not cutting.round(first) and not cutting.round(rest):
                return
            self.relaxed_score_ = float(cutting.master.value)
            witness = cutting.master.program.best_instances(cutting.master.scores)
            local_search(projected, incumbent, witness)
            gain = cutting.master.value - before
            stalled = stalled + 1 if gain < self.tol * max(before, 1e-12) else 0
            if stalled == 3:
                return
