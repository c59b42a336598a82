"""One class against the rest: how a learner for two classes learns more of them, anywhere."""

import copy
from collections.abc import Callable

import numpy as np
from sklearn.base import clone

from mixedbag.base._calibrating import scores_only
from mixedbag.engines.local import BlockedBags, with_truth


class OneVsRest:
    """A learner a class, in ``estimators_``; each column of the scores is one of theirs.

    A learner that handles several classes itself sets ``_multiclass = True``.
    """

    _multiclass = False
    estimators_: list

    def _fit_one_vs_rest(self, train: Callable) -> None:
        """``train(learner, k)`` teaches a learner to tell class ``k`` from the others.

        Learners that are there already (of a stream) learn on.
        """
        classes = self.classes_  # type: ignore[attr-defined]
        if hasattr(self, "estimators_"):
            learners = [copy.copy(learner) for learner in self.estimators_]
        else:
            learners = [self._one_against_rest() for _ in classes]
        with scores_only():  # nobody asks one of them for probabilities
            for k in self._iterations(len(classes)):  # type: ignore[attr-defined]
                train(learners[k], k)
        self.estimators_ = learners
        if hasattr(learners[0], "n_iter_"):
            self.n_iter_ = max(learner.n_iter_ for learner in learners)

    def _one_against_rest(self):
        """An unfitted learner that will tell one class from the others."""
        return clone(self)

    def _class_scores(self, bags, method: str) -> np.ndarray:
        """The scores of a method: one's own, or a column a class."""
        if self._multiclass or not hasattr(self, "estimators_"):
            return getattr(self, method)(bags)
        return np.column_stack([getattr(learner, method)(bags) for learner in self.estimators_])


def against_rest(source: BlockedBags, label) -> BlockedBags:
    """The same bags elsewhere, labelled by whether they are of the class `label`."""
    binary = copy.copy(source)
    binary.blocks = source.blocks.map(with_truth, label)
    binary.labels = np.array([False, True])
    return binary
