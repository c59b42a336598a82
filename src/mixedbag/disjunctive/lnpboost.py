"""LNPBoost: lift-and-project cuts, then a projection back to the disjunctive program."""

from mixedbag._parameters import at_least, between, one_of, whole
from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._local_search import iterated_search, local_search, project
from mixedbag.disjunctive._master import RestrictedMaster
from mixedbag.disjunctive._selection import SELECTION_PARAMETERS, FeatureSelection

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

    The thesis's algorithm is less: ``local_search=False`` projects and no more. Its constants
    (Table 7.15) are ``bags_per_round=10, cuts_kept=1, depth_tol=1e-5, tol=1e-4, patience=1,
    normalization="coefficients"`` and, with ``feature_selection=True``, ``fs_init=5, fs_min_iter=5,
    fs_add_tol=-0.5``; its `max_cosine` runs from 0.6 to 0.9. It projects at the end; here a
    projection follows every round of cuts, and the best is kept. Algorithm 7.1 takes whichever
    bags come next; here those come first that cost most.

    Parameters
    ----------
    C : float, default 1.0
        Price of margin violations against the size of the weights. Small values give few features.
    features : {"linear", "rbf", "thresholded"}, default "linear"
        The weak hypotheses: the inputs themselves; radial basis functions around every training
        instance; or balls around them (+1 inside, -1 outside) of `n_thresholds` radii.
    gamma : float or "scale", default "scale"
        Width of the radial basis functions exp(-gamma ‖x - c‖²). "scale" is
        1 / (n_inputs · variance).
    n_thresholds : int, default 5
        Radii a centre, for thresholded features.
    n_rounds : int, default 100
        Rounds of cuts at most.
    bags_per_round : int, default 20
        Cuts a round: the violated bags that cost most. Few cuts at a time are made against a
        fresher solution, and raise the bound faster.
    cuts_kept : int or None, default None
        How many cuts of a round are kept, the deepest; when all are refused, cutting ends. The
        thesis keeps one of ten. None keeps all, and tries the other bags before it ends.
    depth_tol : float, default 0
        Refuse a cut that is shallower than this fraction of the relaxed value.
    tol : float, default 0.005
        The fraction by which a round of cuts must raise the bound.
    patience : int, default 3
        Stop when `patience` rounds in a row raise the bound by less than the fraction `tol`. With
        ``tol=0`` cutting goes on until no cut is left to find: bags of few instances are then often
        solved to the optimum.
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
    features_per_round : int, default 2
        Features that enter at a time, with `feature_selection`.
    selection_tol : float, default 1e-4
        The relative gain below which no more features enter, with `feature_selection`.
    fs_init, fs_min_iter, fs_max_iter, fs_add_tol : int, int, int, float, defaults 0, 0, 50, 1e-6
        Features drawn at random to begin with; rounds of selection before the gain may end it, and
        at most; the score (price less one) that a feature needs to enter.
    local_search : bool, default True
        Whether to search for better witnesses before the first cut and after each projection.
    class_weight : "balanced", dict or None, default "balanced"
        Share the loss equally between the classes; None charges C for every positive bag and for
        every instance of a negative bag, a dict that times the factor of its bag's label.
    fit_intercept : bool, default True
        Whether scores have a bias. The bound is tighter without a free one.
    intercept_scaling : float or None, default None
        None leaves the bias free of charge. A number s makes it the weight of a constant feature s.
    n_init : int, default 5
        Local searches before the first cut, if any.
    time_limit : float or None, default None
        Seconds for a fit. When they run out, the best classifier so far is kept, with a warning.
    random_state : int, RandomState or None, default None
        Draws starts and features; a number gives the same result every time.

    Attributes
    ----------
    relaxed_score_ : float
        Value of the last relaxation (RDP), over the features in use.
    n_cuts_ : int
        Cuts generated.
    coef_, intercept_, support_, witness_, upper_bound_, lower_bound_, gap_, history_
        As in :class:`SparseBagMarginSVC`.

    See Also
    --------
    SparseBagMarginSVC : The local search alone: quick, without a bound.
    ExactBagMarginSVC : Searches on until no better classifier can exist.
    DPBoost : One large linear program, for small data.

    References
    ----------
    S. J. D. Andrews, "Learning from ambiguous examples", Ph.D. thesis, Brown University, 2007.

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
        "cuts_kept": [whole(1), None],
        "depth_tol": [at_least(0)],
        "patience": [whole(1)],
        "fs_max_iter": [whole(1)],
        "local_search": ["boolean"],
        **SELECTION_PARAMETERS,
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
        cuts_kept=None,
        depth_tol=0.0,
        tol=0.005,
        patience=3,
        gap_tol=1e-4,
        max_cosine=1.0,
        normalization="multipliers",
        feature_selection=False,
        features_per_round=2,
        selection_tol=1e-4,
        fs_init=0,
        fs_min_iter=0,
        fs_max_iter=50,
        fs_add_tol=1e-6,
        local_search=True,
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
        self.cuts_kept = cuts_kept
        self.depth_tol = depth_tol
        self.tol = tol
        self.patience = patience
        self.gap_tol = gap_tol
        self.max_cosine = max_cosine
        self.normalization = normalization
        self.feature_selection = feature_selection
        self.features_per_round = features_per_round
        self.selection_tol = selection_tol
        self.fs_init = fs_init
        self.fs_min_iter = fs_min_iter
        self.fs_max_iter = fs_max_iter
        self.fs_add_tol = fs_add_tol
        self.local_search = local_search
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        columns = starts.features(self.fs_init) if self.feature_selection else None
        relaxed = RestrictedMaster(program, incumbent.clock, columns)
        projected = RestrictedMaster(program, incumbent.clock, columns)
        cutting = Convexification(
            relaxed, incumbent, self.max_cosine, self.normalization, self.cuts_kept, self.depth_tol
        )
        self.relaxed_score_ = 0.0
        if self.feature_selection:
            self._select_features(cutting, projected, incumbent)
            return
        if self.local_search:
            iterated_search(projected, incumbent, starts, self.n_init)
        cutting.solve()
        self._convexify(cutting, projected, incumbent)
        if not self.local_search:
            self._project(cutting, projected, incumbent)

    def _select_features(self, cutting, projected, incumbent):
        """Algorithm 7.2: convexify, project, let the best-priced features of the projection in."""

        def solve():
            cutting.master.add_columns(projected.active[len(cutting.master.active) :])
            cutting.solve()
            self._convexify(cutting, projected, incumbent)
            self._project(cutting, projected, incumbent)

        FeatureSelection.of(self).run(projected, solve, self._iterations(self.fs_max_iter))

    def _project(self, cutting, projected, incumbent):
        """The most positive instances of the relaxed solution become witnesses."""
        witness = cutting.master.program.best_instances(cutting.master.scores)
        (local_search if self.local_search else project)(projected, incumbent, witness)

    def _convexify(self, cutting, projected, incumbent):
        """Rounds of cuts, with a projection after each, until they stop paying."""
        stalled, cutting.thorough = 0, False
        self.relaxed_score_ = float(cutting.master.value)
        for _ in self._iterations(self.n_rounds):
            if incumbent.gap <= self.gap_tol:
                return
            bags = cutting.violated_bags()
            if not len(bags):  # the relaxation has landed inside the disjunctive program
                incumbent.offer(cutting.master.w, cutting.master.b)
                return
            before = cutting.master.value
            if not self._add_cuts(cutting, bags):
                return
            self.relaxed_score_ = float(cutting.master.value)
            self._project(cutting, projected, incumbent)
            gain = cutting.master.value - before
            stalled = stalled + 1 if gain < self.tol * max(before, 1e-12) else 0
            if stalled == self.patience:
                return

    def _add_cuts(self, cutting, bags):
        """A round of cuts: the costliest bags first, the others if these have none."""
        first, rest = bags[: self.bags_per_round], bags[self.bags_per_round :]
        cutting.refused = False
        if cutting.round(first):
            return True
        if self.cuts_kept is not None:  # Algorithm 7.1
            return False
        if cutting.round(rest):
            return True
        if cutting.thorough or cutting.refused:
            return False
        cutting.thorough = True  # from here on, a cut that there is will be found
        return self._add_cuts(cutting, bags)
