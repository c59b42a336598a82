"""Probabilities for classifiers that have none: made when first asked for, on bags left out.

Scores on the bags that a learner has learned from do not tell how sure it may be: a flexible one
separates them all. Honest scores are those of bags left out, and no learner here gets them for
free. So fitting stays as quick as it was. A fitted learner holds on to its training bags until
`predict_proba` is first asked for; then three further models, each without a third of the bags, are
fitted, their scores on that third settle what scores mean, and the bags are let go. scikit-learn's
``SVC(probability=True)`` pays for the same inside `fit`, asked or not. `calibrate` does it at once,
or on other bags. Files of a model never hold its training bags: what scores mean is settled before
it is saved.
"""

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self

import numpy as np
from scipy import optimize
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from mixedbag._account.any import InstanceOdds
from mixedbag._validation import read_weights
from mixedbag.base._fingerprints import fingerprints
from mixedbag.base._levels import decided, winners
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_sum, spread

_CV = 3
_HELD = ContextVar("_HELD", default=True)


@contextmanager
def scores_only():
    """Learners fitted inside are asked for scores alone: they do not hold on to their bags."""
    token = _HELD.set(False)
    try:
        yield
    finally:
        _HELD.reset(token)


def asked_for_scores() -> bool:
    """Whether a learner is fitted inside `scores_only`."""
    return not _HELD.get()


def _can_be_sure(learner):
    fitted = hasattr(learner, "classes_")
    if learner._own_proba or not fitted or {"calibration_", "_held_"} & vars(learner).keys():
        return True
    raise AttributeError(
        f"this {type(learner).__name__} has scores, not probabilities, and no longer its training "
        "bags: calibrate(bags, y) finds out, on bags left out, what scores mean"
    )


has_probabilities = available_if(_can_be_sure)


class Calibrating:
    """Adds probabilities, of which the largest is always that of the predicted class.

    A learner with probabilities of its own says so by ``_own_proba``. The others write
    ``_what_scores_mean``.
    """

    _own_proba = False

    def _hold(self, used):
        if _HELD.get() and not self._own_proba:
            self._held_ = {"bags": used}

    def __getstate__(self):
        """Without the training bags: what they tell is found out before they are left behind."""
        state: dict = dict(super().__getstate__())  # type: ignore[call-overload]
        if "_held_" in state:
            del state["_held_"]
            with suppress(ValueError):  # fewer bags than it needs to learn
                state["calibration_"] = self._calibration
        return state

    def __copy__(self):
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def calibrate(self, bags: Any, y: Any, sample_weight: Any = None, *, cv: int = _CV) -> Self:
        """Learn what scores mean, so that `predict_proba` can say it.

        Parameters
        ----------
        bags, y, sample_weight
            What the learner was fitted on, or other bags with known labels.
        cv : int
            How many further models are fitted, each without one part of the bags.

        Returns
        -------
        self
        """
        learner: Any = self
        if self._own_proba:
            raise TypeError(f"{type(self).__name__} has probabilities of its own")
        bags = learner._fitted(bags)
        labelled = bags, learner._targets_again(bags, y), read_weights(bags, sample_weight)
        learner.calibration_ = learner._what_scores_mean(*labelled, cv)
        self.__dict__.pop("_held_", None)
        return self

    @property
    def _calibration(self):
        learner: Any = self
        if "calibration_" in vars(self):
            return learner.calibration_
        held: dict = self._held_
        if "calibration" not in held:
            held["calibration"] = learner._what_scores_mean(*held["bags"], _CV)
            del held["bags"]
        return held["calibration"]

    def _left_out(self, bags, y, weight, strata, cv):
        """Scores by models that have not seen the bags: which were asked about, their scores and
        those of their instances, and where bags begin among these.

        Parts follow from what bags hold, not from their places, so that a bag of weight two is two
        equal ones here too. Bags without a stratum (below 0), and bags that are alone in theirs,
        are always learned from and never asked about.
        """
        keys = fingerprints(bags)
        n_kinds = {s: len(np.unique(keys[strata == s])) for s in np.unique(strata) if s >= 0}
        asked = np.flatnonzero([n_kinds.get(s, 0) > 1 for s in strata])
        if not len(asked):
            return asked, np.empty(0), np.empty(0), np.zeros(1, dtype=int)
        others, left_out = np.setdiff1d(np.arange(len(bags)), asked), bags[asked]
        cv = min([cv, *(n for n in n_kinds.values() if n > 1)])
        part = _parts(keys[asked], strata[asked], cv)
        tests: list = []
        of_bags: Any = []
        of_instances: Any = []
        for k in np.unique(part):
            rows, test = np.concatenate([asked[part != k], others]), np.flatnonzero(part == k)
            with scores_only():
                one: Any = clone(self).fit(bags[rows], y[rows], sample_weight=weight[rows])
            tests.append(test)
            of_bags.append(one.decision_function(left_out[test]))
            of_instances.append(one.decision_function_instances(left_out[test]))
        order = np.concatenate(tests)
        of_bags = np.concatenate(of_bags)[np.argsort(order)]
        of_instances = np.concatenate(of_instances)[np.argsort(left_out.rows_of(order))]
        return asked, of_bags, of_instances, left_out.offsets


def _parts(keys, strata, n_parts):
    """The part of every bag, alike in strata; equal bags are in the same part."""
    part = np.empty(len(keys), dtype=int)
    for stratum in np.unique(strata):
        _, rank = np.unique(keys[strata == stratum], return_inverse=True)
        part[strata == stratum] = rank % n_parts
    return part


class CalibratedBags(Calibrating):
    """Probabilities of bags with a class each, and of their instances."""

    @staticmethod
    def _is_unlabelled(y):
        """Which labels say that there is none."""
        return np.zeros(len(y), dtype=bool)

    def _targets_again(self, bags, y):
        learner: Any = self
        y = learner._read_targets(bags, y)
        if not (np.isin(y, learner.classes_) | self._is_unlabelled(y)).all():
            raise InputError(f"y holds classes that {type(self).__name__} has not learned")
        return y

    def _what_scores_mean(self, bags, y, weight, cv):
        learner: Any = self
        n_classes, unlabelled = len(learner.classes_), self._is_unlabelled(y)
        codes = np.where(unlabelled, -1, np.searchsorted(learner.classes_, y))
        asked, of_bags, of_instances, offsets = self._left_out(bags, y, weight, codes, cv)
        if not len(asked):
            return {"bags": np.zeros(n_classes + 1)}  # nobody knows
        codes, weight = codes[asked], weight[asked]
        # Platt's targets, a little inside 0 and 1, so that classes apart have an optimum.
        each = np.bincount(codes, weight, n_classes)[codes, None]
        target = (np.eye(n_classes)[codes] * each + 1.0) / (each + n_classes)
        means: dict = {"bags": fit_sureness(of_bags, np.arange(len(asked) + 1), target, weight)}
        if n_classes == 2 == len(set(codes)) and {"any", "sequence"} & set(learner._rules):
            in_time = "sequence" in learner._rules
            means["instances"] = InstanceOdds.fit(
                of_instances, offsets, codes == 1, weight, in_time=in_time
            )
        return means

    @has_probabilities
    def predict_proba(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row a bag; the first call fits three further models."""
        scores = self.decision_function(bags)  # type: ignore[attr-defined]
        return as_sure(scores, self._calibration["bags"])

    @has_probabilities
    def predict_proba_instances(self, bags: Any) -> np.ndarray:
        """Probability of each class, a row an instance; the first call fits three further models.

        Of two classes, the bag's probability is shared out among its instances (see
        `mixedbag._account.any`), as far as the classes that `predict_instances` names allow.
        """
        learner: Any = self
        bags, known = learner._fitted(bags), self._calibration
        scores = learner.decision_function_instances(bags)
        if "instances" not in known:
            return as_sure(scores, known["bags"])
        q = known["instances"].share_out(scores, bags.offsets, self.predict_proba(bags)[:, 1])
        q = np.where(scores > 0, np.maximum(q, 0.5), np.minimum(q, 0.5))
        return decided(np.column_stack([1.0 - q, q]), winners(scores))


def fit_sureness(scores, offsets, counts, weight):
    """How sure scores of instances are, from the counts of classes in their bags.

    A slope a ≥ 0, and a bonus b_k ≥ 0 of each class where it wins, maximise

        Σ_c w_c Σ_k count_ck log(mean of p_k in the bag),    p = softmax(a · score + b · [wins]).

    Whatever they are, the class of the largest score stays the most probable. Bags with a class
    are bags of one here, their score its instance's.
    """
    table, won = _columns(scores)
    count = spread(weight, offsets)
    scale = float(np.average(np.abs(table).max(axis=1), weights=count)) or 1.0
    sizes, total = np.diff(offsets)[:, None], float(weight @ counts.sum(axis=1))

    def surprise(x):
        p = softmax(x[0] * table / scale + x[1:] * won, axis=1)
        mean = np.maximum(bag_sum(p, offsets) / sizes, 1e-300)
        by_p = -spread(weight[:, None] * counts / mean / sizes, offsets)
        by_z = p * (by_p - (by_p * p).sum(axis=1, keepdims=True))
        gradient = np.append((by_z * table).sum() / scale, (by_z * won).sum(axis=0))
        return -float(weight @ (counts * np.log(mean)).sum(axis=1)) / total, gradient / total

    start = np.append(1.0, np.zeros(table.shape[1]))
    bounds = [(0.0, 1e3)] + [(0.0, 30.0)] * table.shape[1]
    fine = {"gtol": 1e-10, "ftol": 1e-15}
    found = optimize.minimize(
        surprise, start, jac=True, method="L-BFGS-B", bounds=bounds, options=fine
    ).x
    return np.append(found[0] / scale, found[1:])


def as_sure(scores, sureness):
    """Probabilities of classes; see `fit_sureness`."""
    table, won = _columns(scores)
    return decided(softmax(sureness[0] * table + sureness[1:] * won, axis=1), winners(scores))


def _columns(scores):
    """A score a class, and which class wins."""
    table = np.column_stack([-scores, scores]) / 2 if scores.ndim == 1 else scores
    return table, np.eye(table.shape[1])[winners(scores)]
