"""The disjunctive program solved to proven optimality."""

from numbers import Integral, Real

from sklearn.utils import check_scalar

from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._branching import BranchAndBound
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._local_search import iterated_search
from mixedbag.disjunctive._margin_lp import MarginLP
from mixedbag.disjunctive._master import RestrictedMaster


class ExactBagMarginSVC(DisjunctiveClassifier):
    r"""1-norm maximum-margin classifier of bags, with a proof that none is better.

    The problem is that of :class:`SparseBagMarginSVC`. A local search finds a good classifier;
    rounds of lift-and-project cuts, as in :class:`LNPBoost`, raise the lower bound; branch and
    bound closes the rest: it fixes the witness of one positive bag after another, in a tree whose
    nodes are linear programs, until every alternative is proven worse. That may take long on large
    data; with a `time_limit`, the best classifier so far is returned with an honest `gap_`.

    Parameters
    ----------
    C, features, gamma, n_thresholds, balanced, fit_intercept, intercept_scaling
        The program, as in :class:`SparseBagMarginSVC`. Without a bias, or with one that costs,
        proofs are much shorter.
    gap_tol : float, default 1e-6
        The relative gap that counts as proven.
    cut_rounds : int, default 0
        Rounds of cuts before branching: a better bound at the root, but slower nodes, since
        cuts need a general LP solver.
    n_candidates : int, default 4
        Bags tried at each node before one is chosen to branch on.
    n_init : int, default 10
        Local searches for the first classifier.
    time_limit : float or None, default None
        Seconds for a fit.
    random_state : int, RandomState or None, default None

    Attributes
    ----------
    n_nodes_ : int
        Nodes of the search tree.
    coef_, intercept_, support_, witness_, upper_bound_, lower_bound_, gap_, n_cuts_, history_
        As in :class:`SparseBagMarginSVC`.

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

    def __init__(
        self,
        C=1.0,
        features="linear",
        gamma="scale",
        n_thresholds=5,
        gap_tol=1e-6,
        cut_rounds=0,
        n_candidates=4,
        balanced=True,
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
        self.cut_rounds = cut_rounds
        self.n_candidates = n_candidates
        self.balanced = balanced
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        check_scalar(self.gap_tol, "gap_tol", Real, min_val=0)
        check_scalar(self.cut_rounds, "cut_rounds", Integral, min_val=0)
        check_scalar(self.n_candidates, "n_candidates", Integral, min_val=1)
        master = RestrictedMaster(program, incumbent.clock)
        iterated_search(master, incumbent, starts, self.n_init)
        if self.cut_rounds:
            relaxation = self._cut(RestrictedMaster(program, incumbent.clock), incumbent)
        else:
            relaxation = MarginLP(program, incumbent.clock)
        tree = BranchAndBound(relaxation, incumbent, self.gap_tol, self.n_candidates)
        try:
            tree.run()
        finally:
            self.n_nodes_ = tree.n_nodes

    def _cut(self, master, incumbent):
        """A master tightened by rounds of cuts: each of its nodes starts from a better bound."""
        cutting = Convexification(master, incumbent)
        cutting.solve()
        for _ in range(self.cut_rounds):
            bags = cutting.violated_bags()
            if not len(bags) or not cutting.round(bags):
                break
        return master
