"""Gradient boosting of aggregate trees."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from scipy.special import softmax, xlogy
from sklearn.model_selection import KFold

from mixedbag._parameters import above, at_least, whole
from mixedbag.aggregate._criteria import ValueCriterion
from mixedbag.aggregate._growth import SortedRows, grow
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier
from mixedbag.pooling import bag_sum

__all__ = ["AggregateGradientBoostingClassifier", "AggregateGradientBoostingRegressor"]

_LARGEST_STEP = 4.0  # of a score in one round; as much as log-odds ever need
_FEW, _FOLDS = 200, 4  # bags that are few, and parts of them that are left out in turn
_PATIENCE = 10  # rounds without a gain on bags left out


class _Boosting:
    """What both share: parameters, and one tree that corrects bag totals."""

    _search_space = {"n_rounds": [50, 200], "max_depth": [2, 3]}

    _parameter_constraints = {
        "n_rounds": [whole(1)],
        "learning_rate": [above(0)],
        "max_depth": [whole(1)],
        "min_samples_leaf": [whole(1)],
        "ridge": [at_least(0)],
        "early_stopping": ["boolean"],
    }
    _renamed = {"n_estimators": "n_rounds"}
    early_stopping = False  # of models saved before there was a choice
    n_rounds: int
    max_depth: int
    min_samples_leaf: int
    ridge: float
    _missed_by_round: Callable[..., Iterable[float]]

    def _n_rounds(self, bags, target, weight):
        """All rounds; of few bags as many as suit those of them best that are left out in turn."""
        if not self.early_stopping or not _FOLDS <= len(bags) < _FEW:
            return self.n_rounds
        paths = [
            self._missed_by_round(*((bags[part], target[part], weight[part]) for part in parts))
            for parts in KFold(_FOLDS, shuffle=True, random_state=0).split(np.arange(len(bags)))
        ]
        best, least = 0, np.inf
        for n_rounds, missed in enumerate(zip(*paths)):
            if sum(missed) < least:
                best, least = n_rounds, sum(missed)
            if n_rounds - best >= _PATIENCE or n_rounds == self.n_rounds:
                break
        return max(best, 1)

    def _correction(self, rows, residual, weight, slope=None):
        """A tree whose slope-weighted sums match the residual totals."""
        criterion = ValueCriterion(residual, rows.bag_of, weight, float(self.ridge), slope)
        fresh = replace(rows, order=rows.order.copy())
        return grow(fresh, criterion, weight, self.max_depth, self.min_samples_leaf)[0]


class AggregateGradientBoostingRegressor(_Boosting, BagRegressor):
    """Gradient boosting that learns values of instances from totals of bags.

    Round after round an :class:`AggregateTreeRegressor` is fitted to what the totals still lack,
    and a share of it is added. The squared error of the totals never rises.

    Parameters
    ----------
    n_rounds : int, default=100
        Rounds, at most.
    learning_rate : float, default=0.1
        Share of each tree that is added.
    max_depth : int, default=3
        Depth of the trees.
    ridge : float, default=1.0
        Pull of the leaves' values towards their common baseline.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    early_stopping : bool, default=True
        Whether, of fewer than 200 bags, as many rounds are taken as suit bags left out best; more
        would fit the few counts or totals too well. Costs up to four further fits.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.

    Attributes
    ----------
    estimators_ : list of Tree
    baseline_ : float
        The mean value of an instance, where the first round starts.
    objective_ : array
        Squared error of the totals after each round.

    See Also
    --------
    AggregateGradientBoostingClassifier : The same for counts of classes.
    AggregateForestRegressor : Averages trees in place of adding them up: hardly anything to set.
    AggregateTreeRegressor : One tree, to be read.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateGradientBoostingRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(300, 1))
    >>> bags = Bags(X, np.arange(0, 301, 3))
    >>> totals = np.add.reduceat(np.sin(2 * X[:, 0]), bags.offsets[:-1])
    >>> model = AggregateGradientBoostingRegressor().fit(bags, totals)
    >>> float(model.score(bags, totals)) > 0.95
    True
    """

    def __init__(
        self,
        n_rounds=100,
        *,
        learning_rate=0.1,
        max_depth=3,
        ridge=1.0,
        min_samples_leaf=1,
        early_stopping=True,
        aggregate="sum",
    ):
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.ridge = ridge
        self.min_samples_leaf = min_samples_leaf
        self.early_stopping = early_stopping
        self.aggregate = aggregate

    def _fit(self, bags, total, weight):
        rounds = self._iterations(self._n_rounds(bags, total, weight))
        self.baseline_ = _mean_value(bags, total, weight)
        found = [found for _, found in zip(rounds, self._rounds(bags, total, weight))]
        self.estimators_ = [tree for tree, _ in found]
        self.objective_ = np.array([error for _, error in found])

    def _rounds(self, bags, total, weight):
        """The tree of each round, and the squared error of the totals behind it."""
        rows = SortedRows.of(bags.instances, bags.bag_of)
        residual = total - _mean_value(bags, total, weight) * bags.sizes
        while True:
            tree = self._correction(rows, residual, weight)
            step = self.learning_rate * bag_sum(tree.predict(bags.instances), bags.offsets)
            residual = residual - step
            yield tree, weight @ residual**2

    def _missed_by_round(self, learned, asked):
        """What is missed of other totals after no round, one, two, …"""
        bags, total, weight = asked
        error = total - _mean_value(*learned) * bags.sizes
        yield weight @ (error**2 / bags.sizes)
        for tree, _ in self._rounds(*learned):
            error = error - self.learning_rate * bag_sum(tree.predict(bags.instances), bags.offsets)
            yield weight @ (error**2 / bags.sizes)

    def _score_instances(self, bags):
        corrections = sum(tree.predict(bags.instances) for tree in self.estimators_)
        return self.baseline_ + self.learning_rate * corrections


class AggregateGradientBoostingClassifier(_Boosting, CountClassifier):
    """Gradient boosting that learns class probabilities of instances from counts per bag.

    The objective is the likelihood of the counts given the mean probabilities of each bag,
    ``−Σ_c w_c Σ_k count_ck log(mean_{i∈c} p_k(x_i))``. Each round takes a Fisher scoring step:
    aggregate trees, one a class (one alone for two), are fitted to what the expected counts lack,
    an instance's share in its bag being the slope ``p (1 − p)``. A step that does not lower the
    objective is halved. With bags of one this is LogitBoost.

    Parameters
    ----------
    n_rounds : int, default=100
        Rounds, at most.
    learning_rate : float, default=0.1
        Share of each tree that is added.
    max_depth : int, default=3
        Depth of the trees.
    ridge : float, default=1.0
        Pull of the leaves' values towards their common baseline.
    min_samples_leaf : int, default=1
        Fewest instances in a leaf.
    early_stopping : bool, default=True
        Whether, of fewer than 200 bags, as many rounds are taken as suit bags left out best; more
        would fit the few counts or totals too well. Costs up to four further fits.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.

    Attributes
    ----------
    estimators_ : list of lists of Tree
        The trees of each round, one a class (one alone for two classes).
    steps_ : array
        Share of each round's trees that was added.
    baseline_ : array
        Scores where the first round starts.
    objective_ : array
        The objective after each round: it never rises.
    classes_ : array

    See Also
    --------
    AggregateGradientBoostingRegressor : The same for totals.
    AggregateForestClassifier : Lets trees vote in place of adding them up: hardly anything to set.
    AggregateLogisticRegression : The same likelihood for a linear rule.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateGradientBoostingClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> inside = (X**2).sum(axis=1) < 1
    >>> bags = Bags(X, np.arange(0, 401, 4))
    >>> model = AggregateGradientBoostingClassifier()
    >>> model = model.fit(bags, np.add.reduceat(inside.astype(int), bags.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(bags) == inside)) > 0.9
    True
    """

    _own_proba = True

    def __init__(
        self,
        n_rounds=100,
        *,
        learning_rate=0.1,
        max_depth=3,
        ridge=1.0,
        min_samples_leaf=1,
        early_stopping=True,
        aggregate="sum",
    ):
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.ridge = ridge
        self.min_samples_leaf = min_samples_leaf
        self.early_stopping = early_stopping
        self.aggregate = aggregate

    def _fit(self, bags, counts, weight):
        rounds = self._iterations(self._n_rounds(bags, counts, weight))
        self.baseline_ = _log_shares(counts, weight)
        found = [found for _, found in zip(rounds, self._rounds(bags, counts, weight))]
        self.estimators_ = [trees for trees, _, _ in found]
        self.steps_ = np.array([step for _, step, _ in found])
        self.objective_ = np.array([objective for _, _, objective in found])

    def _rounds(self, bags, counts, weight):
        """The trees of each round, how much of them is added, and the objective behind it."""
        rows = SortedRows.of(bags.instances, bags.bag_of)
        scores = np.tile(_log_shares(counts, weight), (bags.n_instances, 1))
        objective = _surprise(scores, bags.offsets, counts, weight)
        while True:
            trees = self._round(rows, scores, bags, counts, weight)
            direction = _directions(trees, bags.instances, counts.shape[1])
            step = self.learning_rate
            while step > 1e-4 * self.learning_rate:
                tried = scores + step * direction
                value = _surprise(tried, bags.offsets, counts, weight)
                if value <= objective:
                    break
                step /= 2.0
            else:
                return
            scores, objective = tried, value
            yield trees, step, objective

    def _missed_by_round(self, learned, asked):
        """What is missed of other counts after no round, one, two, …"""
        bags, counts, weight = asked
        scores = np.tile(_log_shares(*learned[1:]), (bags.n_instances, 1))
        surprise = _surprise(scores, bags.offsets, counts, weight)
        yield surprise
        for trees, step, _ in self._rounds(*learned):
            scores += step * _directions(trees, bags.instances, counts.shape[1])
            surprise = _surprise(scores, bags.offsets, counts, weight)
            yield surprise
        yield from itertools.repeat(surprise)  # it has nothing to add

    def _round(self, rows, scores, bags, counts, weight):
        p = softmax(scores, axis=1)
        expected = bag_sum(p, bags.offsets)
        mean = expected / bags.sizes[:, None]
        information = np.maximum(bags.sizes[:, None] * mean * (1.0 - mean), 1e-6)
        corrected = range(1, 2) if counts.shape[1] == 2 else range(counts.shape[1])
        return [
            self._correction(
                rows,
                counts[:, k] - expected[:, k],
                weight / information[:, k],
                np.maximum(p[:, k] * (1.0 - p[:, k]), 1e-6),
            )
            for k in corrected
        ]

    def _score_instances(self, bags):
        scores = np.tile(self.baseline_, (bags.n_instances, 1))
        for trees, step in zip(self.estimators_, self.steps_):
            scores += step * _directions(trees, bags.instances, len(self.classes_))
        return softmax(scores, axis=1)


def _mean_value(bags, total, weight):
    return (weight @ total) / (weight @ bags.sizes)


def _log_shares(counts, weight):
    prior = np.maximum(weight @ counts, 1e-3)
    return np.log(prior / prior.sum())


def _directions(trees, X, n_classes):
    """What the trees of a round would add to the scores of each class."""
    added = np.column_stack([tree.predict(X) for tree in trees])
    added = np.clip(added, -_LARGEST_STEP, _LARGEST_STEP)
    return np.hstack([np.zeros_like(added), added]) if n_classes == 2 else added


def _surprise(scores, offsets, counts, weight):
    """Minus the log-likelihood of the counts, given the bags' mean probabilities."""
    mean = bag_sum(softmax(scores, axis=1), offsets) / np.diff(offsets)[:, None]
    return -float(weight @ xlogy(counts, np.maximum(mean, 1e-300)).sum(axis=1))
