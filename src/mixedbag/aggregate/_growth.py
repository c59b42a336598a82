"""Growing an aggregate tree: the fullest leaf is split next, and every split is judged globally.

What a split is worth is the criterion's business (`_criteria`); this module sorts the rows,
keeps the queue of leaves and stores the finished tree.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from mixedbag.aggregate._splits import descend, partition


class Tree:
    """A finished tree: rows with ``x[feature] <= threshold`` go left; leaves hold `value`."""

    def __init__(self, feature, threshold, left, right, value):
        self.feature = feature
        self.threshold = threshold
        self.left = left
        self.right = right
        self.value = value

    def apply(self, X):
        """Index of the leaf that each row of `X` reaches."""
        return descend(X, self.feature, self.threshold, self.left, self.right)

    def predict(self, X):
        """Value of the leaf that each row of `X` reaches."""
        return self.value[self.apply(X)]

    @property
    def n_leaves(self):
        return int((self.feature < 0).sum())


@dataclass
class SortedRows:
    """Row numbers sorted by every feature, cut into one segment a leaf."""

    columns: np.ndarray  # (n_features, n_instances)
    order: np.ndarray  # (n_features, n_rows)
    bag_of: np.ndarray  # (n_instances,)

    @classmethod
    def of(cls, X, bag_of):
        # Small integers: the sweeps jump from row to row, and more of them fit in the cache.
        columns = np.ascontiguousarray(X.T)
        order = np.empty(columns.shape, dtype=np.int32)
        for column, places in zip(columns, order):
            places[:] = np.argsort(column)
        return cls(columns, order, bag_of.astype(np.int32))

    def of_bags(self, used):
        """A fresh copy with the rows of the bags that `used` marks; nothing is sorted again."""
        keep = used[self.bag_of]
        order = np.empty((len(self.order), np.count_nonzero(keep)), dtype=np.int32)
        for rows, kept in zip(self.order, order):
            kept[:] = rows[keep[rows]]
        return SortedRows(self.columns, order, self.bag_of)


@dataclass
class Leaf:
    number: int
    start: int
    stop: int
    depth: int


@dataclass
class Split:
    feature: int
    n_left: int
    threshold: float
    detail: tuple = ()  # what the criterion wants to remember


def grow(rows, criterion, weight, max_depth=5, min_samples_leaf=1, draw_features=None):
    """Grow a tree by splitting the leaf that most (weighted) instances reach, until none can be.

    Parameters
    ----------
    rows : SortedRows
        Reordered in place.
    criterion : LabelCriterion or ValueCriterion
        Chooses splits and, at the end, the leaves' values.
    weight : array (n_bags,)
    max_depth : int or None
    min_samples_leaf : int
    draw_features : callable, optional
        Gives the features to try at the next split; all of them by default.

    Returns
    -------
    tree : Tree
    errors : array
        The criterion over all bags, before the first split and after each.
    """
    n_features = len(rows.columns)
    feature, threshold, left, right = [-1], [np.nan], [-1], [-1]
    errors = [criterion.error]
    root = Leaf(0, 0, rows.order.shape[1], 0)
    queue = [_queued(rows, root, weight)]
    while queue:
        leaf = heapq.heappop(queue)[-1]
        if max_depth is not None and leaf.depth == max_depth:
            continue
        if leaf.stop - leaf.start < 2 * min_samples_leaf:
            continue
        features = draw_features() if draw_features else np.arange(n_features)
        split = criterion.best_split(rows, leaf, features, min_samples_leaf)
        if split is None:
            continue
        n_instances = rows.columns.shape[1]
        partition(rows.order, n_instances, leaf.start, leaf.stop, split.feature, split.n_left)
        middle = leaf.start + split.n_left
        number = len(feature)
        feature[leaf.number], threshold[leaf.number] = split.feature, split.threshold
        left[leaf.number], right[leaf.number] = number, number + 1
        for column in (feature, left, right):
            column.extend([-1, -1])
        threshold.extend([np.nan, np.nan])
        children = (
            Leaf(number, leaf.start, middle, leaf.depth + 1),
            Leaf(number + 1, middle, leaf.stop, leaf.depth + 1),
        )
        criterion.divide(rows, leaf, children, split)
        errors.append(criterion.error)
        for child in children:
            heapq.heappush(queue, _queued(rows, child, weight))
    tree = Tree(
        np.array(feature),
        np.array(threshold),
        np.array(left),
        np.array(right),
        criterion.values(len(feature)),
    )
    return tree, np.array(errors)


def _queued(rows, leaf, weight):
    """Fullest first; of equally full leaves, the older."""
    reached = weight[rows.bag_of[rows.order[0, leaf.start : leaf.stop]]].sum()
    return -reached, leaf.number, leaf


def rows_of(rows, leaf):
    """Numbers of the instances that reach `leaf`."""
    return rows.order[0, leaf.start : leaf.stop]
