"""What every booster shares after training: scores round by round, and importances."""

import itertools

import numpy as np


class Staged:
    """For learners with an ``ensemble_``, the ``gain_`` of each member, and `_pooled(bags, F)`."""

    def staged_decision_function(self, bags):
        """Scores of the bags after each round.

        With more than two classes, a class that stopped earlier keeps its last scores.
        """
        bags = self._fitted(bags)
        if not hasattr(self, "estimators_"):
            yield from self._staged_scores(bags)
            return
        last = [None] * len(self.estimators_)
        stages = (learner._staged_scores(bags) for learner in self.estimators_)
        for scores in itertools.zip_longest(*stages):
            last = [old if new is None else new for old, new in zip(last, scores)]
            yield np.column_stack(last)

    def _staged_scores(self, bags):
        for scores in self.ensemble_.staged(bags.instances):
            yield self._pooled(bags, self.intercept_ + scores)

    def staged_predict(self, bags):
        """Predicted classes of the bags after each round."""
        for scores in self.staged_decision_function(bags):
            yield self._labels(scores)

    def _score_instances(self, bags):
        return self.intercept_ + self.ensemble_.score(bags.instances)

    def _score_bags(self, bags):
        return self._pooled(bags, self._score_instances(bags))

    @property
    def feature_importances_(self):
        """Share of the fall of the loss that each feature brought (averaged over classes)."""
        if hasattr(self, "estimators_"):
            return np.mean([learner.feature_importances_ for learner in self.estimators_], axis=0)
        return self.ensemble_.importances(self.gain_)
