"""The stack: a weighted mean of the best few learners' calibrated answers, chosen out of fold."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from mixedbag.bags import as_bags
from mixedbag.comparison import levels

_STEPS = 12
_SAMPLES = 20


def blend_weights(answers, losses, bag_weight, n_best=5, random_state=0):
    """Weights of answers whose mean has a small loss: bagged greedy selection.

    On a bootstrap sample of the bags, the answer that lowers the loss of the running mean most is
    added to it, again and again, with replacement; weights are the shares of additions, averaged
    over samples (Caruana and others, 2004). Samples and few steps keep the weights from fitting the
    noise of a few dozen bags, as a free linear model would.

    Parameters
    ----------
    answers : list of arrays of shape (n_bags, k)
        Out-of-fold answers, one array a learner.
    losses : callable
        From one answer to its losses, bag by bag.
    bag_weight : array of shape (n_bags,)
        How much each bag's loss counts.
    n_best : int
        How many of the best on a sample take part; one means a choice of the single best of all.
    random_state : int

    Returns
    -------
    array of shape (n_learners,)
        Not negative, sums to one.
    """
    alone = np.array([losses(answer) for answer in answers])
    if n_best == 1 or len(answers) == 1:
        return np.eye(len(answers))[(alone @ bag_weight).argmin()]
    n_bags = alone.shape[1]
    samples = np.random.default_rng(random_state).multinomial(
        n_bags, np.full(n_bags, 1 / n_bags), size=_SAMPLES
    )
    shares = np.zeros(len(answers))
    for sample in samples:
        weight = sample * bag_weight
        pool = np.argsort(alone @ weight, kind="stable")[:n_best]
        shares[pool] += _greedy([answers[i] for i in pool], losses, weight)
    return shares / shares.sum()


def _greedy(answers, losses, weight):
    """Shares of additions up to the step of smallest loss on weighted bags."""
    counts, total = np.zeros(len(answers)), np.zeros_like(answers[0])
    best, best_loss = None, np.inf
    for step in range(1, _STEPS + 1):
        after = [losses((total + answer) / step) @ weight for answer in answers]
        chosen = int(np.argmin(after))
        total = total + answers[chosen]
        counts[chosen] += 1
        if after[chosen] < best_loss:
            best, best_loss = counts / step, after[chosen]
    return best


class _Blend(BaseEstimator):
    """Fitted learners whose calibrated answers are averaged. Made by `compare`, not fitted by hand.

    Parameters
    ----------
    names : list of str
    members : list of fitted estimators
    calibrators : list of callables
        One a member: from its evidence to an answer.
    weights : list of float
        One a member; they sum to one.
    """

    def __init__(self, names, members, calibrators, weights):
        self.names = names
        self.members = members
        self.calibrators = calibrators
        self.weights = weights

    def __sklearn_is_fitted__(self):
        return True

    def __repr__(self, **_):
        parts = (f"{weight:.0%} {name}" for name, weight in zip(self.names, self.weights))
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def n_features_in_(self):
        return self.members[0].n_features_in_

    @property
    def feature_names_in_(self):
        return self.members[0].feature_names_in_

    def _answer(self, bags, evidence):
        bags = as_bags(bags)
        return sum(
            weight * calibrate(evidence(member, bags))
            for member, calibrate, weight in zip(self.members, self.calibrators, self.weights)
        )


class ClassBlend(ClassifierMixin, _Blend):
    """A stack of classifiers: the mean of their calibrated probabilities, at both levels."""

    def __init__(self, names, members, calibrators, weights, classes):
        super().__init__(names, members, calibrators, weights)
        self.classes = classes

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, bags):
        """Probability of each class, a row a bag."""
        return self._answer(bags, levels.class_evidence)

    def predict_proba_instances(self, bags):
        """Probability of each class, a row an instance."""
        return self._answer(bags, levels.class_evidence_of_instances)

    def decision_function(self, bags):
        """Log-odds of the second class, or a column of probabilities a class."""
        return _log_odds(self.predict_proba(bags))

    def decision_function_instances(self, bags):
        """As `decision_function`, for every instance."""
        return _log_odds(self.predict_proba_instances(bags))

    def predict(self, bags):
        """The predicted class of every bag."""
        return self.classes[self.predict_proba(bags).argmax(axis=1)]

    def predict_instances(self, bags):
        """The predicted class of every instance."""
        return self.classes[self.predict_proba_instances(bags).argmax(axis=1)]


class AmountBlend(RegressorMixin, _Blend):
    """A stack of learners of counts or totals: the weighted mean of their predictions."""

    def predict(self, bags):
        """The predicted amount of every bag."""
        return _flat(self._answer(bags, levels.amount_evidence))

    def predict_instances(self, bags):
        """The predicted amount of every instance."""
        return _flat(self._answer(bags, levels.amount_evidence_of_instances))


def _log_odds(probability):
    if probability.shape[1] != 2:
        return probability
    return np.log(probability[:, 1].clip(1e-12)) - np.log(probability[:, 0].clip(1e-12))


def _flat(answer):
    return answer[:, 0] if answer.shape[1] == 1 else answer
