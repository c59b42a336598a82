"""The next stump, or estimator, from blocks of bags, and how far to go along it.

One way: blocks give derivatives, derivatives give sums, sums give candidates, the loss along them
picks one, and it goes back to the blocks as a few numbers. The search sees no instance, so it works
the same on one block, on a thread each, or on a cluster.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mixedbag._tables import stacked
from mixedbag.boosting._grid import Grid, Stump
from mixedbag.boosting._scores import Derivatives, Scores
from mixedbag.boosting.steps import LONGEST, Candidates
from mixedbag.exceptions import InputError

LEAST = -700.0  # the logarithm of a loss that is as good as zero
FINALISTS = 4  # candidates that are worth an exact search
HOPE = 4.0  # of all thresholds, one that may fall by so many times what Newton's step promises
TIE = 1e-10  # losses this close are equal: the first cell wins, whatever the order of summation
_AT_ONCE = 1000  # stumps that are followed together
MAX_TRIALS = 40
FEW_TRIALS = 3  # once some direction falls, others get only this many chances
TOLERANCE = 1e-10
ROUNDING = 1e-14


@dataclass(frozen=True)
class Standing:
    """Where boosting stands: blocks of scores, the weight of all bags, and the loss.

    ``level`` is the logarithm of the mean loss; every round lowers it. Derivatives are taken
    relative to it, so that neither huge nor tiny losses leave the range of floats.
    """

    scores: Any
    weight: float
    level: float

    @classmethod
    def at(cls, scores, level: float = 0.0) -> "Standing":
        """At blocks of `scores`, whose loss has roughly this `level` (0 for scores of zero)."""
        total, weight = scores.sum(Scores.loss_and_weight, level)
        return cls(scores, weight, level).settled(scores, total)

    def settled(self, scores, total: float) -> "Standing":
        """At new scores, whose total loss relative to the present level is `total`."""
        if not 0.0 < total < np.inf:
            raise InputError(
                f"the loss of the training bags left the range of floating-point numbers ({total})"
                ": scores, weights of bags, or a pooling or loss of your own are not finite"
            )
        level = self.level + float(np.log(total / self.weight))
        return replace(self, scores=scores, level=level)

    @property
    def loss(self) -> float:
        """Mean loss of a bag."""
        return float(np.exp(self.level))

    @property
    def is_lowest(self) -> bool:
        """Whether nothing is left to gain."""
        return self.level < LEAST

    def derivatives(self):
        """Blocks of the derivatives here."""
        return self.scores.map(Scores.derived, self.level)

    def with_constant(self) -> "tuple[float, Standing]":
        """The best constant to add to all scores, and where it leads."""
        here = self.derivatives()
        up = 1.0
        slope = Along(here.map(Derivatives.toward_constant, up))(np.zeros(1))[0, 1]
        direction = up if slope < 0 else -up
        focus = here.map(Derivatives.toward_constant, direction)
        (length,), (total,) = exact_lengths(Along(focus), np.ones(1), LONGEST)
        value = float(direction * length)
        return value, self.settled(self.scores.map(Scores.plus, value), total)


class Found(NamedTuple):
    """A weak learner, and where adding it leads."""

    weak: Any
    standing: Standing


class Best(NamedTuple):
    """A stump, the cell it cuts at, and the loss after it."""

    cell: int
    stump: Stump
    loss: float


@dataclass(frozen=True)
class StumpSearch:
    """Finds the next stump from blocks of codes."""

    codes: Any
    grid: Grid
    step: Any
    learning_rate: float = 1.0

    def next(self, standing: Standing) -> Found | None:
        """The stump that lowers the loss most among the best candidates; None if none does."""
        if standing.is_lowest:
            return None
        here = standing.derivatives()
        before = here.sum(Derivatives.loss)
        sums = self.codes.sum(self.step.sums, here)
        candidates = self.step.candidates(sums, self.grid, before, standing.weight)
        candidates, after = self._followed(here, candidates, before, standing.weight)
        best = self.best(candidates, after, before)
        if best is None:
            return None
        place, values = self.grid.place(best.cell), (best.stump.left, best.stump.right)
        scores = standing.scores.map(Scores.plus_stump, self.codes, *place, *values)
        return Found(best.stump, standing.settled(scores, best.loss))

    def best(self, candidates, after, before) -> "Best | None":
        """The candidate with the lowest of the losses `after` them, if it is below `before`."""
        cell, left, right, length = candidates
        k = _first_lowest(after, cell, before)
        if not after[k] < before:
            return None
        stump = self.grid.stump(cell[k], float(length[k] * left[k]), float(length[k] * right[k]))
        return Best(cell[k], stump, after[k])

    def _followed(self, here, candidates, before, weight):
        """The candidates that are left, with the lengths they go and the losses there."""
        if len(candidates.cell) > _AT_ONCE:
            return self._winners(here, candidates, before, weight)
        steps = here.map(
            Derivatives.toward_stumps,
            self.codes,
            *self.grid.place(candidates.cell),
            candidates.left,
            candidates.right,
        )
        return self.go_along(Along(steps), candidates, before, weight)

    def go_along(self, along, candidates, before, weight):
        """The same from the losses along all of them."""
        if self.step.exact:
            trials = along(candidates.length)
            if getattr(self.step, "n_candidates", 0) is None:
                first = np.flatnonzero(_may_win(*trials.T))
            else:
                losses = np.round(trials[:, 0] / weight, 10)
                first = np.argsort(losses, kind="stable")[:FINALISTS]
            candidates, along = candidates.take(first), along.take(first)
            length, after = exact_lengths(along, candidates.length, LONGEST)
        else:
            length, after = falling_lengths(along, candidates.length, before)
        if self.learning_rate != 1.0:
            length, after = falling_lengths(along, self.learning_rate * length, before)
        return candidates._replace(length=length), after

    def _winners(self, here, candidates, before, weight):
        """The best of some candidates at a time: all at once would not fit in memory."""
        parts = np.array_split(
            np.arange(len(candidates.cell)), -(-len(candidates.cell) // _AT_ONCE)
        )
        found = [self._followed(here, candidates.take(part), before, weight) for part in parts]
        first = [_first_lowest(after, some.cell, before) for some, after in found]
        best = [some.take([k]) for (some, _), k in zip(found, first)]
        losses = [after[k] for (_, after), k in zip(found, first)]
        return Candidates(*map(np.concatenate, zip(*best))), np.array(losses)


def _may_win(loss, slope, curve):
    """Which candidates may still have the lowest loss, by the loss and its derivatives at a trial.

    Newton's step promises to lower it by slope² / 2 curve: those that fall short of the lowest even
    with `HOPE` times that are worth no exact search.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        promise = np.where(curve > 0.0, slope**2 / (2.0 * curve), np.inf)
    return ~(loss - HOPE * promise > loss.min())


def _first_lowest(losses, cell, before):
    """Which candidate has the lowest loss; of those that tie, the one of the first cell."""
    ties = np.flatnonzero(losses <= losses.min() + TIE * before)
    return ties[np.argmin(cell[ties])]


class WeightedEstimator:
    """A fitted estimator times its weight."""

    def __init__(self, estimator: Any, weight: float):
        self.estimator, self.weight = estimator, weight

    def score(self, instances) -> np.ndarray:
        """The weighted prediction for every instance."""
        return self.weight * np.asarray(self.estimator.predict(instances), dtype=np.float64)


class EstimatorEnsemble:
    """Weighted sum of fitted estimators."""

    def __init__(self, members: list[WeightedEstimator], n_features: int):
        self.members, self.n_features = members, n_features

    def __len__(self):
        return len(self.members)

    def score(self, instances) -> np.ndarray:
        """Weighted sum of all predictions."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total += member.score(instances)
        return total

    def staged(self, instances):
        """Scores after each member."""
        total = np.zeros(instances.shape[0])
        for member in self.members:
            total = total + member.score(instances)
            yield total

    def importances(self, gains) -> np.ndarray:
        """The members' own importances, averaged by the gain that each brought."""
        total = np.zeros(self.n_features)
        for member, gain in zip(self.members, gains):
            total += gain * member.estimator.feature_importances_
        return total / total.sum() if total.sum() > 0 else total


@dataclass(frozen=True)
class EstimatorSearch:
    """Finds the next estimator: one fitted to the instances a round.

    The estimator learns the class of each instance's bag, weighted by the size of the loss's
    derivative: a classifier gives a binary weak learner, a regressor a real-valued one. The loss
    decides how far to go along it.
    """

    blocks: Any
    instances: Any
    target: np.ndarray
    estimator: Any
    random_state: np.random.RandomState
    learning_rate: float = 1.0

    @classmethod
    def of(cls, blocks, estimator, random_state, learning_rate: float) -> "EstimatorSearch":
        """From blocks of labelled bags in this process: estimators want all rows together."""
        parts = blocks.collect(_rows_and_signs)
        rows, signs = zip(*parts)
        instances = rows[0] if len(rows) == 1 else stacked(rows)  # one is the usual case: no copy
        target = np.concatenate(signs)
        return cls(blocks, instances, target, estimator, random_state, learning_rate)

    def next(self, standing: Standing) -> Found | None:
        """The next fitted estimator with its weight; None if it does not lower the loss."""
        if standing.is_lowest:
            return None
        here = standing.derivatives()
        before = here.sum(Derivatives.loss)
        size = np.concatenate(here.collect(Derivatives.gradient))
        fitted = clone(self.estimator)
        if "random_state" in fitted.get_params():
            fitted.set_params(random_state=self.random_state.randint(2**31 - 1))
        # An average weight of one suits estimators with absolute thresholds on weight.
        fitted.fit(self.instances, self.target, sample_weight=size / size.mean())
        directions = self.blocks.map(_scored, WeightedEstimator(fitted, 1.0))
        direction = np.concatenate(directions.collect(np.asarray))
        edge = (size @ (self.target * direction)) / before
        if not edge > 0:
            return None
        losses = Along(here.map(Derivatives.toward, directions))
        first = np.arctanh(np.clip([edge], 1e-3, 1 - 1e-9))
        length, after = exact_lengths(losses, first, LONGEST)
        if self.learning_rate != 1.0:
            length, after = falling_lengths(losses, self.learning_rate * length, before)
        if not after[0] < before:
            return None
        weak = WeightedEstimator(fitted, float(length[0]))
        scores = standing.scores.map(_plus_times, directions, weak.weight)
        return Found(weak, standing.settled(scores, after[0]))


def _rows_and_signs(labelled):
    return labelled.bags.instances, labelled.bags.spread(labelled.target)


def _scored(labelled, weak):
    return weak.score(labelled.bags.instances)


def _plus_times(scores: Scores, direction, length):
    return scores.plus(length * direction)


class Along(NamedTuple):
    """Losses along the steps that blocks are ready to take, as a function of their lengths."""

    steps: Any

    def __call__(self, lengths):
        return self.steps.sum(_along, lengths)

    def take(self, rows) -> "Along":
        """Some of the steps."""
        return Along(self.steps.map(_chosen, rows))


def _along(steps, lengths):
    return steps.follow(lengths)


def _chosen(steps, rows):
    return steps.take(rows)


# How far to go. `follow(lengths)` gives rows (C, C′, C″): the loss along every direction and its
# two derivatives.


def exact_lengths(follow, lengths, longest: float):
    """Lengths where the loss stops falling, by Newton's method inside a bracket; and the losses.

    The loss along a direction need not be convex, so the best length seen counts.
    """
    brackets = [Bracket(length, longest) for length in np.minimum(lengths, longest).tolist()]
    for _ in range(MAX_TRIALS):
        trials = follow(np.array([bracket.length for bracket in brackets])).tolist()
        for bracket, trial in zip(brackets, trials):
            bracket.see(*trial)
        if all(bracket.done for bracket in brackets):
            break
    return (np.array([getattr(b, name) for b in brackets]) for name in ("best", "least"))


class Bracket:
    """Newton's method along one direction, kept between lengths where the slope changes sign."""

    def __init__(self, length: float, longest: float):
        self.length, self.longest = length, longest
        self.low, self.high = 0.0, longest
        self.best, self.least = 0.0, np.inf
        self.done = False

    def see(self, loss: float, slope: float, curve: float) -> None:
        """Learn the loss and its derivatives at ``length``, and choose the next one."""
        if self.done:
            return
        length = self.length
        if loss <= self.least + ROUNDING * abs(loss):  # of equal losses, the later and closer
            self.best, self.least = length, loss
        if slope < 0.0:
            self.low = length
        else:
            self.high = length
        newton = length - slope / curve if curve > 0.0 else -np.inf
        if self.low < newton < self.high:
            trial = newton
        elif slope < 0.0 and self.high == self.longest:
            trial = min(2.0 * length, self.longest)  # twice as far while no end is in sight
        else:
            trial = (self.low + self.high) / 2.0
        # Next to the minimum, rounding decides the sign of the slope: trust the size of the step.
        self.done = min(abs(newton - length), abs(trial - length)) <= TOLERANCE * length
        if not self.done:
            self.length = trial


def falling_lengths(follow, lengths, loss: float):
    """The given lengths, halved until the loss is below `loss`; and the losses.

    Where it never falls the length is zero.
    """
    lengths = lengths.copy()
    for trial in range(MAX_TRIALS):
        found = follow(lengths)[:, 0]
        climbs = ~(found < loss)
        if not climbs.any() or (trial >= FEW_TRIALS and not climbs.all()):
            break
        lengths[climbs] /= 2
    return np.where(climbs, 0.0, lengths), np.where(climbs, loss, found)
