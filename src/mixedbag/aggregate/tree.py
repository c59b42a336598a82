"""Decision trees that learn from counts and totals of bags."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, between, one_of, whole
from mixedbag.aggregate._criteria import LabelCriterion, ValueCriterion
from mixedbag.aggregate._growth import SortedRows, grow
from mixedbag.aggregate._leaf_models import fit_leaf_models
from mixedbag.aggregate._pruning import prune
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier

__all__ = ["AggregateTreeClassifier", "AggregateTreeRegressor"]

TREE_PARAMETERS = {
    "max_depth": [whole(1), None],
    "min_samples_leaf": [whole(1)],
    "max_features": [whole(1), between(0, 1), one_of("sqrt"), None],
    "ridge": [at_least(0)],
}


class _TreeGrower:
    """What both trees share: how splits are searched for."""

    _parameter_constraints = TREE_PARAMETERS | {
        "ccp_alpha": [at_least(0)],
        "leaf": [one_of("constant", "linear")],
    }
    max_depth: int | None
    min_samples_leaf: int
    max_features: Any
    ccp_alpha: float
    random_state: Any

    def _grow(self, rows, criterion, weight):
        n_features = len(rows.columns)
        n_drawn = n_features_drawn(self.max_features, n_features)
        rng = check_random_state(self.random_state)

        def draw():
            return np.sort(rng.choice(n_features, n_drawn, replace=False))

        self.tree_, self.objective_ = grow(
            *(rows, criterion, weight, self.max_depth, self.min_samples_leaf),
            draw if n_drawn < n_features else None,
        )
        if self.ccp_alpha > 0:
            self.tree_ = prune(self.tree_, criterion, self.ccp_alpha)

    def _score_instances(self, bags):
        return self.tree_.predict(bags.instances)


def n_features_drawn(max_features, n_features):
    """How many features a split may choose from: a share, a number, "sqrt", or all (None)."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if isinstance(max_features, float):
        return max(1, int(max_features * n_features))
    return min(n_features, max_features)


class AggregateTreeClassifier(_TreeGrower, CountClassifier):
    """Decision tree that learns classes of instances from counts per bag.

    A bag says how many of its instances belong to each class, not which. Every leaf predicts one
    class, and the tree is chosen so that the predicted counts match (eq. 12 of the
    aggregate-outputs paper)::

        min Σ_c w_c Σ_k (count_ck − number of instances of bag c in leaves of class k)²

    The leaf with most instances is split next. All thresholds of all features are tried with all
    pairs of labels for the two children, and judged by the error over *all* bags. Where equal
    labels are best, the split is that of the best unequal ones, and deeper splits may profit. With
    bags of one this is a tree grown by training error.

    Parameters
    ----------
    max_depth : int or None, default=5
        Longest path from the root to a leaf.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    max_features : int, float, "sqrt" or None, default=None
        Features drawn at random for each split; all by default.
    ccp_alpha : float, default=0.0
        Prune the grown tree: a subtree becomes a leaf where each of its further leaves lowers the
        objective by no more than this. The paper only limits the depth.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    random_state : int, RandomState instance or None, default=None
        Draws the features when `max_features` is set.

    Attributes
    ----------
    tree_ : Tree
        Arrays ``feature`` (−1 in leaves), ``threshold``, ``left``, ``right`` and ``value``.
    objective_ : array
        The error before the first split and after each: it never rises. Pruning comes later.
    classes_ : array

    See Also
    --------
    AggregateForestClassifier : Many such trees, with probabilities.
    AggregateGradientBoostingClassifier : Trees that add up, fitted to the likelihood of the counts.
    AggregateTreeRegressor : The same for totals.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateTreeClassifier
    >>> ages = np.array([[20], [30], [60], [25], [70], [80], [65], [22]])
    >>> voters = Bags(ages, [0, 3, 6, 8])
    >>> yes = [1, 2, 1]  # how many of each precinct said yes
    >>> model = AggregateTreeClassifier().fit(voters, yes)
    >>> model.predict_instances(voters)
    array([0, 0, 1, 0, 1, 1, 1, 0])
    """

    _search_space = {"max_depth": [3, 5, 8]}

    def __init__(
        self,
        max_depth=5,
        *,
        min_samples_leaf=1,
        max_features=None,
        ccp_alpha=0.0,
        aggregate="sum",
        random_state=None,
    ):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, counts, weight):
        rows = SortedRows.of(bags.instances, bags.bag_of)
        self._grow(rows, LabelCriterion(counts, bags.sizes.astype(float), weight), weight)


class AggregateTreeRegressor(_TreeGrower, BagRegressor):
    """Regression tree that learns values of instances from totals of bags.

    The total of a bag is the sum of unknown values of its instances. With ``k_cl`` instances of bag
    c in leaf l, the leaves' values solve (eq. 14 of the aggregate-outputs paper)::

        min Σ_c w_c (Σ_l k_cl (r_0 + r_l) − y_c)² + ridge · Σ_l r_l²

    The leaf with most instances is split next. All thresholds of all features are tried, with the
    values of *all* leaves solved anew for each, at a cost of O(leaves) a threshold; the leaf stays
    whole if no split lowers the objective. With bags of one and ``ridge=0`` this is the ordinary
    regression tree, :class:`sklearn.tree.DecisionTreeRegressor`.

    Parameters
    ----------
    max_depth : int or None, default=5
        Longest path from the root to a leaf.
    ridge : float, default=0.05
        Pull of the leaves' values towards the common baseline ``r_0``. With few bags per leaf the
        totals alone determine them badly.
    leaf : {"constant", "linear"}, default="constant"
        What a leaf says: one value (the paper), or a linear model of the features, which the paper
        mentions. The tree is grown with values; then all models are solved for at once, their
        slopes (by standardised features) as dear as their values.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    max_features : int, float, "sqrt" or None, default=None
        Features drawn at random for each split; all by default.
    ccp_alpha : float, default=0.0
        Prune the grown tree: a subtree becomes a leaf where each of its further leaves lowers the
        objective by no more than this. The paper only limits the depth.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    random_state : int, RandomState instance or None, default=None
        Draws the features when `max_features` is set.

    Attributes
    ----------
    tree_ : Tree
        Arrays ``feature`` (−1 in leaves), ``threshold``, ``left``, ``right`` and ``value``.
    objective_ : array
        The objective before the first split and after each: it never rises. Pruning, and linear
        models, come later.
    leaf_coef_ : array (n_nodes, n_features)
        Slopes of the linear models, if the leaves have such.

    See Also
    --------
    AggregateForestRegressor : The mean of many such trees.
    AggregateGradientBoostingRegressor : Small trees that add up.
    AggregateTreeClassifier : The same for counts of classes.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateTreeRegressor
    >>> size = np.array([[1.0], [2.0], [8.0], [1.5], [9.0], [7.0], [8.5], [2.5]])
    >>> orders = Bags(size, [0, 3, 5, 7, 8])
    >>> paid = [14.0, 12.0, 20.0, 2.0]  # small parts cost 2, large ones 10
    >>> model = AggregateTreeRegressor(max_depth=1, ridge=0.0).fit(orders, paid)
    >>> model.predict_instances(orders).round(1)
    array([ 2.,  2., 10.,  2., 10., 10., 10.,  2.])
    """

    _search_space = {"max_depth": [3, 5, 8], "ridge": [0.05, 1.0, 10.0]}

    def __init__(
        self,
        max_depth=5,
        *,
        ridge=0.05,
        leaf="constant",
        min_samples_leaf=1,
        max_features=None,
        ccp_alpha=0.0,
        aggregate="sum",
        random_state=None,
    ):
        self.max_depth = max_depth
        self.ridge = ridge
        self.leaf = leaf
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.ccp_alpha = ccp_alpha
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, total, weight):
        bag_of = bags.bag_of
        rows = SortedRows.of(bags.instances, bag_of)
        self._grow(rows, ValueCriterion(total, bag_of, weight, float(self.ridge)), weight)
        if self.leaf == "linear":
            self.tree_.value, self.leaf_coef_ = fit_leaf_models(
                self.tree_, bags, total, weight, float(self.ridge)
            )

    def _score_instances(self, bags):
        if not hasattr(self, "leaf_coef_"):
            return self.tree_.predict(bags.instances)
        leaf = self.tree_.apply(bags.instances)
        slopes = np.einsum("ij,ij->i", bags.instances, self.leaf_coef_[leaf])
        return self.tree_.value[leaf] + slopes
