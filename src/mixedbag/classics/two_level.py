"""Two-level classification: regions of the instance space, and which of them a bag occupies."""

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from mixedbag._forests import first_splits, grow, leaves
from mixedbag._logistic import fit_logistic
from mixedbag._once import is_sharing, once
from mixedbag._pairs import cut
from mixedbag._parameters import above, whole
from mixedbag.base import BagClassifier, LogOddsMixin

__all__ = ["TwoLevelClassifier"]

_LEAVES = 2**20  # of instances, that are looked up at a time


class TwoLevelClassifier(LogOddsMixin, BagClassifier):
    """Trees cut the instance space into regions; a linear model learns from a bag's regions.

    After the two-level learner of Weidmann, Frank and Pfahringer (2003), with a forest in place of
    one tree. On the first level, random trees learn the bags' labels from the instances; their
    leaves are regions described by a few features together ("short *and* closed"). On the second,
    each bag is described by which regions it occupies and by the share of its instances in each,
    and logistic regression finds the regions that matter. Labels may depend on any region or on
    how many instances fall into it, so one positive instance need not make a bag positive.

    Parameters
    ----------
    C : float
        Inverse strength of the penalty on the weights of regions.
    n_estimators : int
        Number of trees.
    max_leaves : int
        Most regions a tree; few keep them from learning single bags by heart.
    random_state : int, RandomState or None
        For the cuts of the trees.
    n_jobs : int or None
        Threads that grow trees.

    Attributes
    ----------
    forest_ : ExtraTreesClassifier
    coef_ : array of shape (2, n_regions)
        Weights of occupying a region, and of the share of instances in it.
    intercept_ : float

    See Also
    --------
    mixedbag.embeddings.VocabularyClassifier : Regions are clusters, found without the labels.
    MIForestClassifier : A forest for the rule that one positive instance makes a bag positive.
    mixedbag.wrappers.BagFeatures : Plain statistics of a bag, for any estimator behind them.

    Examples
    --------
    >>> from mixedbag.classics import TwoLevelClassifier
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = TwoLevelClassifier(random_state=0).fit(data.bags, data.y)
    >>> bool(model.score(data.bags, data.y) > 0.9)
    True
    """

    _rules = ("any", "majority")
    _search_space = {"max_leaves": [6, 16]}
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "n_estimators": [whole(1)],
        "max_leaves": [whole(2)],
    }
    _renamed = {"n_trees": "n_estimators"}

    def __init__(self, C=1.0, *, n_estimators=100, max_leaves=16, random_state=None, n_jobs=None):
        self.C = C
        self.n_estimators = n_estimators
        self.max_leaves = max_leaves
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, bags, sign, weight):
        # Settings that share their work find the smaller trees inside the larger ones.
        most = max(self.max_leaves, *self._search_space["max_leaves"] if is_sharing() else [0])
        self.forest_ = first_splits(
            once(
                lambda: self._grown(bags, sign, weight, most),
                "regions", most, self.n_estimators, self.random_state, bags, sign, weight,
            ),
            self.max_leaves,
        )  # fmt: skip
        model = LogisticRegression(C=self.C, tol=1e-8, max_iter=10_000)
        fit_logistic(model, self._occupancy(bags), sign, weight)
        self.coef_ = model.coef_.reshape(2, -1)
        self.intercept_ = float(model.intercept_[0])
        self.n_iter_ = int(model.n_iter_[0])

    def _grown(self, bags, sign, weight, max_leaves):
        forest = ExtraTreesClassifier(
            self.n_estimators,
            max_leaf_nodes=max_leaves,
            random_state=check_random_state(self.random_state),
            n_jobs=self.n_jobs,
        )
        # Large bags would drown small ones if all instances counted the same. Whole numbers add up
        # exactly in any order, so that pure nodes are seen as such whatever the order of the rows.
        share = np.round(2**20 / bags.sizes)
        return grow(forest, bags.instances, bags.spread(sign), bags.spread(weight * share))

    def _score_bags(self, bags):
        # A part at a time: of instances, each a bag of its own, all would be larger than the table.
        scores = [part @ self.coef_.ravel() for part in self._occupancies(bags)]
        return np.concatenate(scores) + self.intercept_

    def _occupancy(self, bags):
        """Whether a bag occupies each region, then the share of its instances there."""
        return sparse.vstack(list(self._occupancies(bags)), "csr")

    def _occupancies(self, bags):
        """The occupancy of some bags at a time."""
        nodes = [tree.tree_.node_count for tree in self.forest_.estimators_]
        first = np.cumsum([0, *nodes[:-1]])
        n_rows = max(1, _LEAVES // len(nodes))
        for part in cut(bags, n_rows):
            yield self._occupied(bags[part], first, sum(nodes), n_rows)

    def _occupied(self, bags, first, n_regions, n_rows):
        pieces = []
        for start in range(0, bags.n_instances, n_rows):  # a bag may be larger than a part
            region = leaves(self.forest_, bags.instances[start : start + n_rows]) + first
            ends = np.clip(bags.offsets - start, 0, len(region)) * len(first)
            pieces.append(
                sparse.csr_array(
                    (np.ones(region.size), region.ravel(), ends), shape=(len(bags), n_regions)
                )
            )
            pieces[-1].sum_duplicates()
        counts = sum(pieces[1:], pieces[0])
        return sparse.hstack([counts.sign(), counts / bags.sizes[:, None]], format="csr")
