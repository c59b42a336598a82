"""The alternating search on blocks of bags: choices stay where the bags are, machines are sums."""

from dataclasses import dataclass

import numpy as np

from mixedbag._solvers.block_newton import SquaredHinge, block_newton
from mixedbag._solvers.hinge import Problem
from mixedbag._solvers.interior_point import AffineRows, Box, solve_boxes
from mixedbag._wide import times
from mixedbag.margin._solution import Solution


class BlockAmbiguity:
    """An ambiguity (of class `kind`) whose bags lie in blocks.

    Its choices are blocks too. For scores it takes weights, the intercept last: every block scores
    its own instances. Costs are a pair, the prices of either side.
    """

    def __init__(self, kind, blocks, n_features):
        self.kind = kind
        self.blocks = blocks.map(_opened, kind)
        self.n_features = n_features

    def costs(self, prices):
        return np.array(prices, dtype=float)

    def balanced(self, cost):
        total = self.blocks.sum(_total_costs, cost)
        return cost * (0.5 * total.sum() / total)

    def start(self):
        return self.blocks.map(self.kind.start)

    def choose(self, scores):
        return self.blocks.map(_choose, scores)

    def random_choice(self, rng):
        # Where the direction starts to be positive matters to labels, but not to witnesses.
        return self.choose(np.append(rng.standard_normal(self.n_features), 0.0))

    def problem(self, choice, cost, squared):
        return self.blocks.map(_slots, choice, cost, squared)

    def fingerprint(self, choice):
        return b"".join(choice.collect(self.kind.fingerprint))


class BlockMachine:
    """Solves linear problems whose slots lie in blocks, always to full precision.

    The hinge by the interior point method; the squared hinge, which is smooth, by Newton steps.
    """

    def __init__(self, n_features, squared):
        self.n_features = n_features
        self.squared = squared

    def solve(self, slots, start=None, loose=False):
        """The solution; there is nothing to spare for a `loose` one."""
        if self.squared:
            first = np.zeros(self.n_features + 1) if start is None else start.scores
            w, loss, gap = block_newton(slots, Slots.squared_hinge, first)
        else:
            boxes, w, intercept, gap, _ = solve_boxes(slots.map(Slots.box))
            w = np.append(w, intercept)
            w[-1] += slots.sum(Slots.room, w).to_middle()
            loss = boxes.sum(Box.loss, w)
        return Solution(
            problem=slots,
            dual=None,
            objective=0.5 * w[:-1] @ w[:-1] + loss,
            gap=gap,
            scores=w,
            weights=w[:-1],
            intercept=w[-1],
        )

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {"coef_": solution.weights}


@dataclass(frozen=True)
class Slots(AffineRows):
    """A block's part of a problem, with its rows in the order of the slots."""

    Z: np.ndarray
    problem: Problem

    def box(self):
        """The dual of the hinge: β is `sign·dual`."""
        reach = self.problem.sign * self.problem.cost
        return Box.of(self.Z, self.problem.sign, np.minimum(reach, 0.0), np.maximum(reach, 0.0))

    def room(self, w):
        return self.problem.room(self.problem.sign * self.spread(w))

    def squared_hinge(self, w):
        problem = self.problem
        short = np.maximum(1.0 - problem.sign * self.spread(w), 0.0)
        return SquaredHinge(
            loss=problem.cost @ short**2,
            total=self.gather(2.0 * problem.sign * problem.cost * short),
            hessian=self.gram(2.0 * problem.cost * (short > 0.0)),
        )


def _opened(block, kind):
    return kind(*block)


def _total_costs(ambiguity, prices):
    sides = ambiguity.sign[ambiguity.slot_bags] > 0
    return np.bincount(sides, ambiguity.costs(prices), minlength=2)


def _choose(ambiguity, w):
    return ambiguity.choose(times(ambiguity.bags.instances, w[:-1]) + w[-1])


def _slots(ambiguity, choice, prices, squared):
    problem = ambiguity.problem(choice, ambiguity.costs(prices), squared)
    instances = ambiguity.bags.instances
    if problem.rows.max(initial=-1) >= len(instances):  # centroids are numbered after instances
        instances = np.concatenate([instances, ambiguity.averages() @ instances])
    return Slots(instances[problem.rows], problem)
