"""Forests of aggregate trees."""

from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from mixedbag._parameters import whole
from mixedbag.aggregate._criteria import LabelCriterion, ValueCriterion
from mixedbag.aggregate._growth import SortedRows, grow
from mixedbag.aggregate.tree import TREE_PARAMETERS, n_features_drawn
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier

__all__ = ["AggregateForestClassifier", "AggregateForestRegressor"]


class _Forest:
    """Trees on bootstrap samples of the bags, each split choosing from a few random features."""

    n_estimators: int
    max_depth: int | None
    min_samples_leaf: int
    max_features: Any
    bootstrap: bool
    n_jobs: int | None
    random_state: Any
    _iterations: Callable

    _parameter_constraints = {
        **TREE_PARAMETERS,
        "n_estimators": [whole(1)],
        "bootstrap": ["boolean"],
    }

    def _plant(self, bags, weight, criterion):
        """Grow all trees; `criterion(weight)` opens the criterion of one of them."""
        n_drawn = n_features_drawn(self.max_features, bags.n_features)
        sorted_rows = SortedRows.of(bags.instances, bags.bag_of)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)

        def grow_one(seed):
            rng = np.random.RandomState(seed)
            copies = weight
            if self.bootstrap:
                copies = weight * np.bincount(
                    rng.randint(len(bags), size=len(bags)), minlength=len(bags)
                )
            tree, _ = grow(
                sorted_rows.of_bags(copies > 0),
                criterion(copies),
                copies,
                self.max_depth,
                self.min_samples_leaf,
                lambda: np.sort(rng.choice(bags.n_features, n_drawn, replace=False)),
            )
            return tree

        # Threads: the sweeps release the interpreter lock.
        grown = Parallel(self.n_jobs, prefer="threads", return_as="generator")(
            delayed(grow_one)(seed) for seed in seeds
        )
        self.estimators_ = [next(grown) for _ in self._iterations(self.n_estimators)]

    def _score_instances(self, bags):
        return sum(tree.predict(bags.instances) for tree in self.estimators_) / len(
            self.estimators_
        )


class AggregateForestClassifier(_Forest, CountClassifier):
    """A forest of :class:`AggregateTreeClassifier`: probabilities are shares of the trees' votes.

    Each tree sees a bootstrap sample of the bags and a few random features at each split. One tree
    must settle for labels that fit the counts in one particular way; the vote averages over the
    many ways to fit them.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=10
        Longest path from the root to a leaf.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    max_features : int, float, "sqrt" or None, default="sqrt"
        Features drawn at random for each split.
    bootstrap : bool, default=True
        Whether each tree draws its bags with replacement; else all bags are used.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    n_jobs : int or None, default=None
        Threads that grow trees.
    random_state : int, RandomState instance or None, default=None
        Draws bags and features for each tree; a number gives the same forest every time.

    Attributes
    ----------
    estimators_ : list of Tree
    classes_ : array

    See Also
    --------
    AggregateTreeClassifier : One such tree, to be read.
    AggregateGradientBoostingClassifier : Adds trees up, each for what the counts still lack.
    AggregateForestRegressor : The same for totals.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateForestClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> old = X[:, 0] + X[:, 1] > 0
    >>> bags = Bags(X, np.arange(0, 401, 4))
    >>> model = AggregateForestClassifier(n_estimators=20, random_state=0)
    >>> model = model.fit(bags, np.add.reduceat(old.astype(int), bags.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(bags) == old)) > 0.8
    True
    """

    _own_proba = True
    _search_space = {"max_depth": [5, 10]}

    def __init__(
        self,
        n_estimators=100,
        *,
        max_depth=10,
        min_samples_leaf=1,
        max_features="sqrt",
        bootstrap=True,
        aggregate="sum",
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.aggregate = aggregate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, bags, counts, weight):
        sizes = bags.sizes.astype(float)
        self._plant(bags, weight, lambda copies: LabelCriterion(counts, sizes, copies))


class AggregateForestRegressor(_Forest, BagRegressor):
    """A forest of :class:`AggregateTreeRegressor`: the value of an instance is the trees' mean.

    Each tree sees a bootstrap sample of the bags and a few random features at each split.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_depth : int or None, default=5
        Longest path from the root to a leaf.
    ridge : float, default=1.0
        Pull of the leaves' values towards their common baseline.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    max_features : int, float, "sqrt" or None, default=0.4
        Features drawn at random for each split.
    bootstrap : bool, default=True
        Whether each tree draws its bags with replacement; else all bags are used.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    n_jobs : int or None, default=None
        Threads that grow trees.
    random_state : int, RandomState instance or None, default=None
        Draws bags and features for each tree; a number gives the same forest every time.

    Attributes
    ----------
    estimators_ : list of Tree

    See Also
    --------
    AggregateTreeRegressor : One such tree, to be read.
    AggregateGradientBoostingRegressor : Adds trees up, each for what the totals still lack.
    AggregateForestClassifier : The same for counts of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateForestRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(300, 1))
    >>> bags = Bags(X, np.arange(0, 301, 3))
    >>> totals = np.add.reduceat(np.sin(2 * X[:, 0]), bags.offsets[:-1])
    >>> model = AggregateForestRegressor(random_state=0).fit(bags, totals)
    >>> float(model.score(bags, totals)) > 0.9
    True
    """

    _search_space = {"max_depth": [3, 5, 8], "ridge": [0.05, 1.0, 10.0]}

    def __init__(
        self,
        n_estimators=100,
        *,
        max_depth=5,
        ridge=1.0,
        min_samples_leaf=1,
        max_features=0.4,
        bootstrap=True,
        aggregate="sum",
        n_jobs=None,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.ridge = ridge
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.aggregate = aggregate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, bags, total, weight):
        bag_of, ridge = bags.bag_of, float(self.ridge)
        self._plant(bags, weight, lambda copies: ValueCriterion(total, bag_of, copies, ridge))
