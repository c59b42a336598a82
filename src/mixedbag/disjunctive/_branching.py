"""Branch and bound over witnesses: proves how good the best classifier is.

A node fixes the witness of some positive bags and excludes some instances of others; its LP drops
the constraints of the bags that are still open. A node is closed when its value reaches the
incumbent, or when its solution happens to satisfy every open bag. Otherwise one violated bag is
opened up into one child per remaining instance.
"""

import heapq
from itertools import count

import numpy as np

from mixedbag.disjunctive._solver import INFINITY

_VIOLATED = 1e-7


class Node:
    """Fixed witnesses, excluded instances, a bound, and the basis to start from."""

    def __init__(self, fixed, excluded, bound, basis):
        self.fixed = fixed
        self.excluded = excluded
        self.bound = bound
        self.basis = basis


class BranchAndBound:
    """Best-first search with strong branching over a `RestrictedMaster`.

    Parameters
    ----------
    master : RestrictedMaster
        With every row that is valid for the whole program (cuts included).
    incumbent : Incumbent
        Receives classifiers and lower bounds.
    gap : float
        Relative gap at which the search ends.
    n_candidates : int
        Bags whose children are all solved before one bag is chosen.
    """

    def __init__(self, master, incumbent, gap=1e-6, n_candidates=4):
        self.master = master
        self.program = master.program
        self.incumbent = incumbent
        self.gap = gap
        self.n_candidates = n_candidates
        self.n_nodes = 0

    def run(self):
        """Search until the gap closes; `SolverStopped` when time is up (the bounds stand)."""
        order = count()
        self._preload()
        root = Node((), frozenset(), self.incumbent.lower, None)
        heap = [(root.bound, next(order), root)]
        enforced = ()
        try:
            while heap and heap[0][0] < self._closed():
                self.incumbent.raise_lower(heap[0][0])
                node = heap[0][2]
                enforced = self._move(enforced, node)
                children = self._expand(node)
                heapq.heappop(heap)
                for child in children:
                    heapq.heappush(heap, (child.bound, next(order), child))
                self.n_nodes += 1
            self.incumbent.raise_lower(min(heap[0][0] if heap else np.inf, self._closed()))
        finally:
            self.master.release(enforced)
            self.master.set_cutoff(INFINITY)

    def _preload(self):
        """Let every row into the LP, so that bases fit from node to node."""
        program = self.program
        ambiguous = [x for i in program.ambiguous for x in program.bags[i]]
        self.master.require(program.unambiguous)
        self.master.require(ambiguous)
        self.master.release(ambiguous)

    def _closed(self):
        """The value at which a node needs no further search."""
        return self.incumbent.upper * (1.0 - self.gap)

    def _move(self, enforced, node):
        """Switch the master from one node's witnesses to another's."""
        old, new = set(enforced), set(node.fixed)
        self.master.release(old - new)
        self.master.require(sorted(new - old))
        if node.basis is not None:
            self.master.basis = node.basis
        return node.fixed

    def _expand(self, node):
        """The children of a node that are still worth a visit."""
        master = self.master
        fixed, excluded = list(node.fixed), set(node.excluded)
        try:
            while True:
                master.set_cutoff(self._cutoff())
                if not master.settle() or master.value >= self._closed():
                    return []
                self.incumbent.offer(master.w, master.b)
                bound, basis = max(node.bound, master.value), master.basis
                open_bags = self._violated_bags(fixed, excluded)
                if not open_bags or bound >= self._closed():
                    return []
                best = None
                for rows in open_bags:
                    children = self._children(rows, basis, best)
                    if children is None:
                        continue
                    survivors = {x: v for x, v in children.items() if v < self._closed()}
                    excluded.update(set(rows) - set(survivors))
                    if not survivors:
                        return []
                    if best is None or min(survivors.values()) > min(best.values()):
                        best = survivors
                    if len(survivors) == 1:
                        break
                if len(best) > 1:
                    break
                # A single instance is left to this bag: no branching, the node just grows.
                (witness,) = best
                fixed.append(witness)
                master.require([witness])
                master.basis = basis
            frozen = frozenset(excluded)
            return [
                Node((*fixed, x), frozen, max(bound, value), basis) for x, value in best.items()
            ]
        finally:
            master.release(set(fixed) - set(node.fixed))

    def _cutoff(self):
        # Values of an LP with missing columns prove nothing, so they must not end it early.
        return INFINITY if self.master.generates_columns else self._closed()

    def _violated_bags(self, fixed, excluded):
        """Remaining instances of the open bags that cost most at the current solution."""
        program, scores = self.program, self.master.scores
        taken = set(program.example[fixed].tolist()) if fixed else set()
        losses = []
        for i in program.ambiguous:
            if i in taken:
                continue
            rows = [x for x in program.bags[i].tolist() if x not in excluded]
            rows.sort(key=lambda x: -scores[x])
            short = 1.0 - scores[rows[0]]
            if short > _VIOLATED:
                losses.append((program.slack_cost[i] * short, rows))
        losses.sort(key=lambda item: -item[0])
        return [rows for _, rows in losses[: self.n_candidates]]

    def _children(self, rows, basis, best):
        """LP value for each instance of a bag as its witness.

        None as soon as one value shows that this bag is no better a choice than `best`.
        """
        master = self.master
        solve = master.settle if master.generates_columns else master.solve
        floor = min(best.values()) if best else -np.inf
        values = {}
        for x in rows:
            master.require([x])
            master.basis = basis
            try:
                values[x] = master.value if solve() else np.inf
            finally:
                master.release([x])
            if values[x] <= floor:
                return None
        return values
