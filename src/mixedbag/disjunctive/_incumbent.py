"""What a search knows at any time: the best classifier so far, and how good one could be."""

import numpy as np


class Incumbent:
    """The best classifier so far, what is proven about the optimum, and when we knew it.

    `history` has rows (seconds, lower, upper); lower never falls, upper never rises.
    """

    def __init__(self, program, clock):
        self.program = program
        self.clock = clock
        self.lower = 0.0
        self.history = []
        self.n_cuts = 0
        self.w = np.zeros(program.n_features)
        self.b = 0.0
        self.upper = np.inf
        for b in (0.0, -1.0, 1.0) if program.intercept else (0.0,):
            self.offer(self.w, b)

    def offer(self, w, b):
        """Keep (w, b) if it is better: judged by the true objective, not by any LP."""
        value = self.program.objective(w, b)
        if value < self.upper:
            self.upper, self.w, self.b = value, w, b
            self._record()
        return value

    def raise_lower(self, value):
        value = min(value, self.upper)
        if value > self.lower:
            self.lower = value
            self._record()

    @property
    def gap(self):
        """(upper - lower) / upper."""
        return max(0.0, self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    @property
    def witness(self):
        return self.program.best_instances(self.program.scores(self.w, self.b))

    def _record(self):
        self.history.append((self.clock.elapsed(), self.lower, self.upper))
