"""Preparation: gaps filled and features scaled, once for all who learn from the same bags."""

import pickle
from functools import cached_property

from sklearn.base import clone

from mixedbag._once import once


class Preparation:
    """The steps before a candidate's learner, fitted on some bags, and any bags after them.

    Other settings and other candidates that prepare the same bags in the same way find them ready.
    """

    def __init__(self, protocol, candidate, rows):
        self._bags, self.rows = protocol.bags, protocol.sample(rows, candidate.max_bags)
        self._unfitted = candidate.estimator.steps[:-1]
        self._known_by = pickle.dumps(self._unfitted), self._bags, self.rows

    @cached_property
    def steps(self):
        """The fitted steps with their names."""
        return once(self._fitted, "steps", *self._known_by)

    @property
    def learned_from(self):
        """The bags that the steps were fitted on, prepared."""
        return self(self.rows)

    def __call__(self, rows):
        """The bags `rows`, prepared."""
        return once(lambda: self._prepared(self._bags[rows]), "prepared", *self._known_by, rows)

    def _prepared(self, bags):
        for _, step in self.steps:
            bags = step.transform(bags)
        return bags

    def _fitted(self):
        bags, steps = self._bags[self.rows], []
        for name, step in self._unfitted:
            steps.append((name, clone(step).fit(bags)))
            if len(steps) < len(self._unfitted):
                bags = steps[-1][1].transform(bags)
        return steps
