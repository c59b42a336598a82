"""What the annealed margin learners share: a cooled start for the alternating search."""

from dataclasses import dataclass

import numpy as np

from mixedbag._annealing import temperatures
from mixedbag._parameters import at_least, between
from mixedbag._solvers.hinge import Problem
from mixedbag.margin._alternating import _MarginSVC

# Twice the machines and a fifth of the change take twice the time, and end no better by more than
# chance on the development collection.
_MOST_MACHINES = 5  # at one temperature
_STILL = 0.05  # largest change of a probability that does not call for another machine
_LEAST = 1e-6  # probability that a slot keeps, so that no cost is zero
_ALIKE = 1e-4  # scores that differ by less of a margin choose by rounding


class Absent:
    """An attribute that a class does not have although its base does.

    Soft choices need all bags in one place: there is no fit on blocks.
    """

    def __get__(self, instance, owner):
        raise AttributeError("soft choices need all bags in one place")


@dataclass(frozen=True)
class Slots:
    """What a machine is asked for when choices are soft: the rows, signs and prices of slots."""

    rows: np.ndarray
    sign: np.ndarray
    price: np.ndarray

    def problem(self, share, squared):
        """The problem in which each slot costs so much of its price."""
        return Problem(self.rows, self.sign, self.price * np.maximum(share, _LEAST), squared)


class _Annealed(_MarginSVC):
    """Base of learners whose first choice is that of a cooled search over soft choices.

    Subclasses give the slots (`_slots`), the shares in which they cost at first (`_open`) and then,
    at given scores and temperature (`_shares`).
    """

    # Slower cooling brings nothing on the development collection (`benchmarks/product/grids`).
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0], "cooling": [0.1]}
    _parameter_constraints = {
        "temperature": [at_least(0)],
        "cooling": [between(0, 1, "neither")],
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        degree=2,
        gamma="scale",
        coef0=1.0,
        loss="hinge",
        class_weight=None,
        temperature=1.0,
        cooling=0.5,
        max_iter=100,
        tol=1e-6,
        cache_size=1000,
        n_components=500,
        random_state=None,
    ):
        super().__init__(
            C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            loss=loss,
            class_weight=class_weight,
            max_iter=max_iter,
            tol=tol,
            cache_size=cache_size,
            n_components=n_components,
            random_state=random_state,
        )
        self.temperature = temperature
        self.cooling = cooling

    def _first_choice(self, machine, ambiguity, cost):
        if self.temperature == 0:
            return super()._first_choice(machine, ambiguity, cost)
        squared = self.loss == "squared_hinge"
        slots = self._slots(ambiguity, cost)
        solution = machine.solve(slots.problem(self._open(ambiguity), squared), loose=True)
        scores, before = solution.scores, None
        for temperature in temperatures(self.temperature, self.cooling):
            for _ in range(_MOST_MACHINES):
                share = self._shares(ambiguity, scores, temperature)
                if before is not None and np.abs(share - before).max() < _STILL:
                    break
                solution = machine.solve(slots.problem(share, squared), solution, loose=True)
                scores, before = solution.scores, share
        if np.ptp(scores) < _ALIKE:  # the cooled machine is constant: it has no choice to offer
            return super()._first_choice(machine, ambiguity, cost)
        return ambiguity.choose(scores), None

    def _losses(self, scores):
        """What a positive and what a negative label would cost each of these instances."""
        power = 2 if self.loss == "squared_hinge" else 1
        return [np.maximum(1.0 - sign * scores, 0.0) ** power for sign in (1.0, -1.0)]

    _fit_blocks = Absent()


def inside_positive(ambiguity):
    """Rows of the instances of positive bags, and where each of these bags begins among them."""
    rows = np.flatnonzero(ambiguity.bags.spread(ambiguity.sign) > 0)
    sizes = ambiguity.bags.sizes[ambiguity.positive]
    return rows, np.concatenate([[0], np.cumsum(sizes)])
