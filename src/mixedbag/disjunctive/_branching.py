"""Branch and bound over witnesses: proves how good the best classifier is.

A node says which instances of each positive bag may still be its witness; its LP takes part of
every bag through the envelope of those instances. A node is closed when its value reaches the
incumbent, or when its solution happens to satisfy every bag. Otherwise one violated bag is opened
up into one child per remaining instance.
"""

import heapq
from itertools import count
from typing import Any

import numpy as np

from mixedbag.disjunctive._local_search import local_search

_VIOLATED = 1e-7
_NODES_PER_SEARCH = 5


class Node:
    """Instances left to the bags that have lost some, a bound, and the basis to start from."""

    def __init__(self, remaining, bound, basis):
        self.remaining = remaining
        self.bound = bound
        self.basis = basis


_CANDIDATES = 4  # bags whose children are all solved before one bag is chosen


class BranchAndBound:
    """Best-first search with strong branching over an `EnvelopeLP`.

    Parameters
    ----------
    lp : EnvelopeLP
    master : RestrictedMaster
        For the local searches that start from the solutions of nodes.
    incumbent : Incumbent
        Receives classifiers and lower bounds.
    gap : float
        Relative gap at which the search ends.
    """

    def __init__(self, lp, master, incumbent, gap=1e-6):
        self.lp = lp
        self.master = master
        self.program = lp.program
        self.incumbent = incumbent
        self.gap = gap
        self.n_nodes = 0

    def run(self):
        """Search until the gap closes; `SolverStopped` when time is up (the bounds stand)."""
        order = count()
        root = Node({}, self.incumbent.lower, None)
        heap = [(root.bound, next(order), root)]
        while heap and heap[0][0] < self._closed():
            self.incumbent.raise_lower(heap[0][0])
            children = self._expand(heap[0][2])
            heapq.heappop(heap)
            for child in children:
                heapq.heappush(heap, (child.bound, next(order), child))
            self.n_nodes += 1
        self.incumbent.raise_lower(min(heap[0][0] if heap else np.inf, self._closed()))

    def _closed(self):
        """The value at which a node needs no further search."""
        return self.incumbent.upper * (1.0 - self.gap)

    def _expand(self, node):
        """The children of a node that are still worth a visit."""
        remaining, basis, bound = dict(node.remaining), node.basis, node.bound
        while True:
            if not self.lp.solve(remaining, basis, self._closed()):
                return []
            solution = self.lp.read()
            basis, bound = self.lp.basis, max(bound, self.lp.value)
            self._offer(solution)
            bags = self._violated_bags(solution, remaining)
            if not bags or bound >= self._closed():
                return []
            best: Any = None
            floor = -np.inf
            for bag, left in bags:
                children = self._children(remaining, bag, left, basis, floor)
                if children is None:
                    continue
                if not children:
                    return []
                if len(children) < len(left):  # the others are proven not to be the witness
                    remaining[bag] = tuple(sorted(children))
                if len(children) == 1:  # no branching: the node just grows
                    break
                best, floor = (bag, children), min(value for value, _ in children.values())
            else:
                bag, children = best
                return [
                    Node({**remaining, bag: (x,)}, max(bound, value), start)
                    for x, (value, start) in children.items()
                ]

    def _offer(self, solution):
        self.incumbent.offer(solution.w, solution.b)
        if self.n_nodes % _NODES_PER_SEARCH == 0:
            witness = self.program.best_instances(solution.scores)
            local_search(self.master, self.incumbent, witness)

    def _violated_bags(self, solution, remaining):
        """(bag, remaining instances) of the bags that are short of most at the solution."""
        program = self.program
        losses = []
        for k, i in enumerate(program.ambiguous.tolist()):
            left = remaining.get(i, program.bags[i].tolist())
            best = sorted(left, key=lambda x: -solution.scores[x])
            short = 1.0 - solution.scores[best[0]] - solution.slack[k]
            if len(best) > 1 and short > _VIOLATED:
                losses.append((program.slack_cost[i] * short, i, best))
        losses.sort(key=lambda item: -item[0])
        return [(i, left) for _, i, left in losses[:_CANDIDATES]]

    def _children(self, remaining, bag, left, basis, floor):
        """{x: (LP value, basis)} for each instance that may be the witness of this bag.

        None as soon as one value shows that this bag is no better a choice than `floor`.
        """
        children = {}
        for x in left:
            if not self.lp.solve({**remaining, bag: (x,)}, basis, self._closed()):
                continue
            if self.lp.value <= floor:
                return None
            children[x] = self.lp.value, self.lp.basis
        return children
