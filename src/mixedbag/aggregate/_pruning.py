"""Pruning: the subtree that helps least, for its leaves, becomes one leaf, again and again."""

import numpy as np

from mixedbag.aggregate._growth import Tree


def prune(tree, criterion, price):
    """The tree without the subtrees whose every further leaf gains less than `price`.

    Minimal cost-complexity pruning, with the error over all bags: the values (or label) of a
    collapsed subtree are found anew, as after a split. `criterion` is the one that grew the tree.
    """
    left, right = tree.left.copy(), tree.right.copy()
    while True:
        weakest, least = None, price
        for node in _inner(left, right):
            leaves = _leaves(node, left, right)
            rise = (criterion.merged(leaves) - criterion.error) / (len(leaves) - 1)
            if rise <= least:
                weakest, least = (node, leaves), rise
        if weakest is None:
            break
        node, leaves = weakest
        criterion.merge(leaves, node)
        left[node] = right[node] = -1
    kept = _below(0, left, right)
    place = np.full(len(left) + 1, -1)  # the last one: that of no node, -1
    place[kept] = np.arange(len(kept))
    return Tree(
        np.where(left[kept] < 0, -1, tree.feature[kept]),
        np.where(left[kept] < 0, np.nan, tree.threshold[kept]),
        place[left[kept]],
        place[right[kept]],
        criterion.values(len(left))[kept],
    )


def _below(node, left, right):
    """A node and all below it, in the order of their numbers."""
    found, stack = [], [node]
    while stack:
        node = stack.pop()
        found.append(node)
        if left[node] >= 0:
            stack += [left[node], right[node]]
    return sorted(found)


def _inner(left, right):
    return [node for node in _below(0, left, right) if left[node] >= 0]


def _leaves(node, left, right):
    return [one for one in _below(node, left, right) if left[one] < 0]
