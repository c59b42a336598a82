"""The alternating search on blocks of bags: choices stay where the bags are, machines are sums."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from mixedbag.engines.interior_point import AffineRows, Box, solve_boxes
from mixedbag.engines.sums import Sums
from mixedbag.margin.problem import Problem, Solution


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

    def __init__(self, n_features, bias, squared):
        self.penalty = np.append(np.ones(n_features), bias**-2.0)
        self.squared = squared

    def solve(self, slots, start=None, loose=False):
        """The solution; there is nothing to spare for a `loose` one."""
        if self.squared:
            w, loss, gap = self._newton(slots, start)
        else:
            boxes, w, intercept, gap, _ = solve_boxes(slots.map(Slots.box), self.penalty[-1])
            w = np.append(w, intercept)
            loss = boxes.sum(Box.loss, w)
        return Solution(
            problem=slots,
            dual=None,
            objective=0.5 * self.penalty @ w**2 + loss,
            gap=gap,
            scores=w,
            weights=w[:-1],
            intercept=w[-1],
        )

    def fitted(self, solution):
        """What an estimator keeps of a solution."""
        return {"coef_": solution.weights}

    def _newton(self, slots, start, max_steps=100):
        """Weights, loss and gap of the squared hinge, by steps halved until the objective falls."""
        w = np.zeros(len(self.penalty)) if start is None else start.scores
        here = slots.sum(Slots.squared_hinge, w)
        for _ in range(max_steps):
            gradient = self.penalty * w - here.total
            factor = cho_factor(np.diag(self.penalty) + here.hessian, check_finite=False)
            step = -cho_solve(factor, gradient, check_finite=False)
            decrease = -gradient @ step
            objective = 0.5 * self.penalty @ w**2 + here.loss
            if decrease <= 1e-16 * objective:
                return w, here.loss, 0.5 * decrease
            while True:
                after = w + step
                there = slots.sum(Slots.squared_hinge, after)
                fallen = objective - 0.5 * self.penalty @ after**2 - there.loss
                if fallen >= -1e-14 * objective or np.abs(step).max() <= 1e-12 * np.abs(w).max():
                    break
                step = 0.5 * step
            w, here = after, there
        warnings.warn(
            "the squared hinge was not minimised: scale the features", ConvergenceWarning,
            stacklevel=2,
        )  # fmt: skip
        return w, here.loss, 0.5 * decrease


@dataclass(frozen=True)
class SquaredHinge(Sums):
    """Sums over slots: the loss, its descent Σ sign dual x, and its curvature."""

    loss: float
    total: np.ndarray
    hessian: np.ndarray


@dataclass(frozen=True)
class Slots(AffineRows):
    """A block's part of a problem, with its rows in the order of the slots."""

    Z: np.ndarray
    problem: Problem

    def box(self):
        """The dual of the hinge: β is `sign·dual`."""
        reach = self.problem.sign * self.problem.cost
        return Box.of(self.Z, self.problem.sign, np.minimum(reach, 0.0), np.maximum(reach, 0.0))

    def squared_hinge(self, w):
        problem = self.problem
        short = np.maximum(1.0 - problem.sign * self.spread(w), 0.0)
        return SquaredHinge(
            loss=problem.cost @ short**2,
            total=self.gather(2.0 * problem.sign * problem.cost * short),
            hessian=self.gram(2.0 * problem.cost * (short > 0.0)),
        )


def weighted_by_label(block, class_weight):
    """The block with its bags' weights times the factors of their labels."""
    factor = [class_weight.get(label, 1.0) for label in block.target.tolist()]
    return block._replace(weight=block.weight * factor)


def _opened(block, kind):
    return kind(*block)


def _total_costs(ambiguity, prices):
    sides = ambiguity.sign[ambiguity.slot_bags] > 0
    return np.bincount(sides, ambiguity.costs(prices), minlength=2)


def _choose(ambiguity, w):
    return ambiguity.choose(ambiguity.bags.instances @ w[:-1] + w[-1])


def _slots(ambiguity, choice, prices, squared):
    problem = ambiguity.problem(choice, ambiguity.costs(prices), squared)
    instances = ambiguity.bags.instances
    if problem.rows.max(initial=-1) >= len(instances):  # centroids are numbered after instances
        instances = np.concatenate([instances, ambiguity.averages() @ instances])
    return Slots(instances[problem.rows], problem)
