"""The disjunctive program solved to proven optimality."""

from mixedbag._parameters import whole
from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._branching import BranchAndBound
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._local_search import kicked_searches, local_search
from mixedbag.disjunctive._master import RestrictedMaster

__all__ = ["ExactBagMarginSVC"]

_ROUNDS, _BAGS_PER_ROUND = 10, 20


class ExactBagMarginSVC(DisjunctiveClassifier):
    r"""1-norm maximum-margin classifier of bags, with a proof that none is better.

    The problem is that of :class:`SparseBagMarginSVC`. A local search finds a good classifier;
    branch and bound proves how good it is: it fixes the witness of one positive bag after another,
    in a tree whose nodes are linear programs, until every alternative is proven worse. A bag that
    is still open enters a node's program through its envelope, the largest and smallest value of
    each feature among the instances left to it, and through lift-and-project cuts made before the
    search. That may take long on large data; with a `time_limit`, the best classifier so far is
    returned with an honest `gap_`.

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
    gap_tol : float, default 1e-6
        The relative gap that counts as proven.
    n_rounds : int or None, default None
        Rounds of cuts before the search. None means 10, or 0 for linear features, whose
        nodes are quick.
    class_weight : "balanced", dict or None, default "balanced"
        Share the loss equally between the classes; None charges C for every positive bag and for
        every instance of a negative bag, a dict that times the factor of its bag's label.
    fit_intercept : bool, default True
        Whether scores have a bias. Without one, or with one that costs, proofs are much shorter.
    intercept_scaling : float or None, default None
        None leaves the bias free of charge. A number s makes it the weight of a constant feature s.
    n_init : int, default 10
        Local searches for the first classifier.
    time_limit : float or None, default None
        Seconds for a fit.
    random_state : int, RandomState or None, default None
        Draws the starts of the local search; a number gives the same result every time.

    Attributes
    ----------
    n_nodes_ : int
        Nodes of the search tree.
    coef_, intercept_, support_, witness_, upper_bound_, lower_bound_, gap_, n_cuts_, history_
        As in :class:`SparseBagMarginSVC`.

    See Also
    --------
    LNPBoost : A bound in less time, but no proof that the result is the best.
    SparseBagMarginSVC : The local search alone: quick, without a bound.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.disjunctive import ExactBagMarginSVC
    >>> rng = np.random.default_rng(0)
    >>> bags = Bags.from_list([rng.normal(size=(3, 4)) for _ in range(12)])
    >>> model = ExactBagMarginSVC(fit_intercept=False).fit(bags, np.arange(12) % 2)
    >>> bool(model.gap_ < 1e-5)
    True
    """

    _parameter_constraints = {"n_rounds": [whole(0), None]}

    def __init__(
        self,
        C=1.0,
        *,
        features="linear",
        gamma="scale",
        n_thresholds=5,
        gap_tol=1e-6,
        n_rounds=None,
        class_weight="balanced",
        fit_intercept=True,
        intercept_scaling=None,
        n_init=10,
        time_limit=None,
        random_state=None,
    ):
        self.C = C
        self.features = features
        self.gamma = gamma
        self.n_thresholds = n_thresholds
        self.gap_tol = gap_tol
        self.n_rounds = n_rounds
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        self.n_nodes_ = 0
        master = RestrictedMaster(program, incumbent.clock)
        local_search(master, incumbent, starts.first())
        lp = EnvelopeLP(program, incumbent.clock)
        lp.solve({})
        incumbent.raise_lower(lp.value)
        kicked_searches(master, incumbent, starts, self.n_init - 1)
        cuts = self._root_cuts(program, incumbent)
        if cuts:
            lp = EnvelopeLP(program, incumbent.clock, cuts)
        tree = BranchAndBound(lp, master, incumbent, self.gap_tol)
        try:
            tree.run()
        finally:
            self.n_nodes_ = tree.n_nodes

    def _root_cuts(self, program, incumbent):
        """The cuts left in the relaxation after some rounds of lift-and-project."""
        n_rounds = self.n_rounds
        if n_rounds is None:
            n_rounds = 0 if self.features == "linear" else _ROUNDS
        if n_rounds == 0:
            return []
        cutting = Convexification(RestrictedMaster(program, incumbent.clock), incumbent)
        cutting.solve()
        for _ in range(n_rounds):
            bags = cutting.violated_bags()[:_BAGS_PER_ROUND]
            if incumbent.gap <= self.gap_tol or not len(bags) or not cutting.round(bags):
                break
        return cutting.cuts
