"""SBoost: boosting for sessions, whose label is the class of most of their instances."""

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from mixedbag._parameters import at_least, having, one_of, whole
from mixedbag.base import BagClassifier
from mixedbag.boosting._loop import Staged, split
from mixedbag.boosting._search import EstimatorEnsemble, WeightedEstimator
from mixedbag.engines.local import Labelled, LocalBlocks
from mixedbag.exceptions import InputError
from mixedbag.pooling import Majority, Mean, bag_sum, spread

__all__ = ["SBoost"]

GAMMAS = (0.25, 0.5, 1.0, 2.0, 4.0)
NO_ERROR = 1e-9  # a weak learner without error would get an infinite weight


class SBoost(Staged, BagClassifier):
    """SBoost: session-based boosting, for labels that hold for the majority of instances.

    A session was "watching TV", but not every second of it. Giving each instance its session's
    label (AdaBoost on spread labels) fits the wrong labels too and overfits. SBoost multiplies each
    session's error with the errors of its instances,

        ``L = Σ_i exp(−(γ y_i/m_i) Σ_j H(x_ij)) · Σ_j exp(−y_i H(x_ij))``,

    so that a misclassified instance matters only while its session is misclassified too. ``H`` is a
    weighted sum of classifiers; each round trains one on the instances with their sessions' labels,
    weighted by the derivative of ``L``. A bag gets the class that most of its instances get.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=DecisionTreeClassifier(max_depth=3)
        The weak classifier.
    gamma : float >= 0 or "split", default=1.0
        Weight of a session's error against those of its instances; 0 is AdaBoost on spread labels.
        "split" chooses among ¼, ½, 1, 2 and 4 by the error on a fifth of the training bags.
    n_rounds : int, default=50
        Classifiers to train; fewer when one makes no error or does no better than chance.
    sample : bool, default=False
        Whether to draw a training sample of the instances by their weights, as in the paper,
        instead of passing the weights on. Needed for classifiers that take no weights.
    random_state : int or RandomState, optional
        Seeds the sampling, the split for `gamma` and the weak classifiers.

    Attributes
    ----------
    objective_ : array of shape (n_iter_,)
        ``L`` after each round, over its value at the start; it always falls.
    gamma_ : float
        The weight in use.
    n_iter_ : int
        Classifiers trained.
    feature_importances_ : array of shape (n_features,)
        The weak classifiers' importances, weighted by how much each lowered ``L``.

    See Also
    --------
    mixedbag.wrappers.SpreadLabels : Every instance takes its session's label: the control.
    OWABoost : Between the largest score and the mean.
    mixedbag.sequence.ARHMMClassifier : Where a session is a series in time, and order matters.

    Notes
    -----
    A classifier's weight minimises an upper bound of ``L``. With ``r`` the weighted agreement of
    its predictions with the labels, between −1 and 1, it is ``artanh(r)/(1 + γ)``.

    A bag's score is the balance of its instances' votes, from −1 to 1; where votes are equal, the
    mean of their scores decides.

    Examples
    --------
    >>> from mixedbag.boosting import SBoost
    >>> from mixedbag.datasets import load_sessions
    >>> sessions = load_sessions("cancer", random_state=1)
    >>> half = len(sessions.bags) // 2
    >>> model = SBoost(n_rounds=10, random_state=0)
    >>> model = model.fit(sessions.bags[:half], sessions.y[:half])
    >>> float(model.score(sessions.bags[half:], sessions.y[half:])) > 0.9
    True
    """

    _rules = ("majority",)
    _search_space = {"gamma": [0.25, 1.0, 4.0]}
    _needs_scaling = False
    _accepts_sparse = True
    _accepts_nan = True
    _parameter_constraints = {
        "estimator": [having("fit", "predict"), None],
        "gamma": [at_least(0), one_of("split")],
        "n_rounds": [whole(1)],
        "sample": ["boolean"],
    }
    _pooling = Majority()
    intercept_ = 0.0

    def __init__(self, estimator=None, *, gamma=1.0, n_rounds=50, sample=False, random_state=None):
        self.estimator = estimator
        self.gamma = gamma
        self.n_rounds = n_rounds
        self.sample = sample
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        rng = check_random_state(self.random_state)
        if isinstance(self.gamma, str) and self.gamma == "split":
            self.gamma_ = self._choose_gamma(bags, sign, weight, rng)
        else:
            self.gamma_ = float(self.gamma)
        members, losses = self._boost(
            bags, sign, weight, self.gamma_, rng, self._iterations(self.n_rounds)
        )
        self.ensemble_ = EstimatorEnsemble(members, bags.n_features)
        self.objective_ = losses[1:]
        self.gain_ = losses[:-1] - losses[1:]
        self.n_iter_ = len(members)

    def _boost(self, bags, sign, weight, gamma, rng, rounds):
        """Weak classifiers with their weights, and the loss before and after each."""
        y = bags.spread(sign)
        H = np.zeros(bags.n_instances)
        members, losses = [], [session_loss(H, bags.offsets, sign, weight, gamma)]
        for _ in rounds:
            D = session_weights(H, bags.offsets, sign, weight, gamma)
            weak = self._train(bags.instances, y, D / D.mean(), rng)
            h = np.where(weak.predict(bags.instances) > 0, 1.0, -1.0)
            agreement = (D @ (y * h)) / D.sum()
            if agreement <= 0:
                break
            alpha = np.arctanh(min(agreement, 1 - NO_ERROR)) / (1 + gamma)
            members.append(WeightedEstimator(weak, float(alpha)))
            H += alpha * h
            losses.append(session_loss(H, bags.offsets, sign, weight, gamma))
            if agreement > 1 - NO_ERROR:
                break
        return members, np.exp(np.array(losses) - losses[0])

    def _train(self, instances, y, D, rng):
        weak = clone(self._weak())
        if "random_state" in weak.get_params():
            weak.set_params(random_state=rng.randint(2**31 - 1))
        if self.sample:
            rows = rng.choice(len(y), size=len(y), p=D / D.sum())
            return weak.fit(instances[rows], y[rows])
        if not has_fit_parameter(weak, "sample_weight"):
            raise InputError(f"{type(weak).__name__} takes no sample weights: set sample=True")
        return weak.fit(instances, y, sample_weight=D)

    def _weak(self):
        return DecisionTreeClassifier(max_depth=3) if self.estimator is None else self.estimator

    def _choose_gamma(self, bags, sign, weight, rng):
        """The candidate with the smallest error on a fifth of the bags; of equals, the surest."""
        seed = rng.randint(2**31 - 1)
        parts = split(LocalBlocks([Labelled(bags, sign, weight)]), 0.2, seed)
        train, test = (part.blocks[0] for part in parts)
        if len(test.bags) == 0:
            raise InputError(f"{len(bags)} bags are too few to choose gamma by a split")
        merits = []
        for gamma in GAMMAS:
            rounds = range(self.n_rounds)
            settings = gamma, np.random.RandomState(seed), rounds
            members, _ = self._boost(train.bags, train.target, train.weight, *settings)
            scores = EstimatorEnsemble(members, bags.n_features).score(test.bags.instances)
            margin = test.target * self._pooled(test.bags, scores)
            merits.append(((margin > 0) @ test.weight, margin @ test.weight))
        return GAMMAS[merits.index(max(merits))]

    def _pooled(self, bags, scores):
        votes = Majority().value(scores, bags.offsets)
        # Less than half a vote, so that it only ever decides between equals.
        return votes + np.tanh(Mean().value(scores, bags.offsets)) / (2 * bags.sizes)


def session_weights(H, offsets, sign, weight, gamma):
    """``|∂L/∂H_ij|`` = ``g_i (exp(−y_i H_ij) + γ a_i/m_i)``, up to a common factor."""
    errors, _ = _errors(H, offsets, sign, gamma)
    errors *= spread(weight, offsets)
    return errors + spread(gamma * bag_sum(errors, offsets) / np.diff(offsets), offsets)


def session_loss(H, offsets, sign, weight, gamma):
    """The logarithm of ``L = Σ_i g_i a_i``."""
    errors, level = _errors(H, offsets, sign, gamma)
    return level + np.log(bag_sum(errors, offsets) @ weight)


def _errors(H, offsets, sign, gamma):
    """``g_i exp(−y_i H_ij)`` of all instances over ``exp(level)``, and the level."""
    log_g = -gamma * sign * Mean().value(H, offsets)
    log_errors = spread(log_g, offsets) - spread(sign, offsets) * H
    level = log_errors.max()
    return np.exp(log_errors - level), level
