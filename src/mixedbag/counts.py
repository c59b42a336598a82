"""The contract of learners whose bags say how many of their instances belong to each class."""

import copy
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from mixedbag._account.counts import fit_sharpening, sharpen
from mixedbag._account.margins import scale_to_counts
from mixedbag._validation import leave_out_unknown, refuse_missing_labels, warn_if_alike
from mixedbag.base import BagEstimator
from mixedbag.base._calibrating import (
    Calibrating,
    as_sure,
    asked_for_scores,
    fit_sureness,
    has_probabilities,
)
from mixedbag.base._levels import winners
from mixedbag.exceptions import InputError
from mixedbag.pooling import Mean, Sum

__all__ = ["CountClassifier"]


class CountClassifier(ClassifierMixin, Calibrating, BagEstimator):
    """Base of classifiers that learn the instances' classes from counts per bag.

    `y` may be

    - the number of positive instances of each bag (classes 0 and 1);
    - a table ``(n_bags, n_classes)`` of counts, whose rows sum to the bags' sizes, or of
      proportions, whose rows sum to one;
    - the share of positives of each bag, in [0, 1]: numbers of which some are no whole ones, or any
      with ``aggregate="mean"``;
    - NaN where the count is not known: such a bag takes no part in the fit;
    - plain class labels, when every bag has one instance: a label is a count of one.

    Authors write ``_fit(bags, counts, weight)``, which always gets a table of counts, and
    ``_score_instances(bags)``, which returns a column a class, largest for the predicted one;
    ``_own_proba`` says that these are probabilities; those of the others are calibrated when they
    are first asked for (see `mixedbag.base._calibrating`).

    See Also
    --------
    mixedbag.base.BagClassifier : Base of classifiers whose bags carry one class each.
    mixedbag.base.BagRegressor : Base of regressors whose bags carry a total.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.counts import CountClassifier
    >>> class SameForAll(CountClassifier):
    ...     def _fit(self, bags, counts, weight):
    ...         self.share_ = (counts.T @ weight) / (bags.sizes @ weight)
    ...
    ...     def _score_instances(self, bags):
    ...         return np.tile(self.share_, (bags.n_instances, 1))
    >>> bags = Bags.from_list([[[0.0], [1.0], [2.0]], [[3.0]]])
    >>> SameForAll().fit(bags, [2, 1]).predict(bags)
    array([3., 1.])
    """

    _rules = ("count",)
    aggregate = "sum"

    # Reading counts ------------------------------------------------------------------------------

    def _read_targets(self, bags, y):
        y = np.asarray(y)
        if y.ndim != 2 or y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if len(y) != len(bags):
            raise InputError(f"{len(y)} labels for {len(bags)} bags")
        if y.ndim == 2:
            self.classes_, y = np.arange(y.shape[1]), _as_floats(y)
            self._target_format_ = self._format_of_tables([_adds_up(y, bags.sizes)])
            return self._read_table(bags, y)
        if bags.n_instances == len(bags):
            return self._read_plain_labels(bags, y)
        self.classes_ = np.array([0, 1])
        y = _as_floats(y)
        shares = self.aggregate == "mean" or are_shares(y)
        self._target_format_ = "shares" if shares else "positives"
        positives = self._read_positives(bags, y)
        return np.column_stack([bags.sizes - positives, positives])

    def _with_labels(self, bags, y, weight):
        return leave_out_unknown(bags, y, weight)

    def _learn(self, bags, y, weight):
        if not asked_for_scores():  # to learn what scores mean: the model of all bags has warned
            warn_if_alike(bags, y / bags.sizes[:, None], "shares")
        super()._learn(bags, y, weight)

    def _read_plain_labels(self, bags, y):
        refuse_missing_labels(bags, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._refuse_one_class()
        self._target_format_ = "labels"
        return np.eye(len(self.classes_))[codes]

    def _read_positives(self, bags, y):
        shares = self._speaks_of_proportions()
        sizes = np.ones(len(bags)) if shares else bags.sizes
        noun = "proportion" if shares else "count"
        _refuse(bags, ~np.isfinite(y), lambda i: f"has no usable {noun}: {y[i]}")
        _refuse(bags, y < 0, lambda i: f"has a negative {noun}: {y[i]:g}")
        per_cent = "per cent have a column that says so, such as yes_percent"
        most = f"1: shares are between 0 and 1; {per_cent}" if shares else "its size, {}"
        _refuse(
            bags, y > sizes, lambda i: f"has a {noun} of {y[i]:g}, above {most.format(sizes[i])}"
        )
        if shares:
            return y * bags.sizes
        _refuse(
            bags,
            y != np.round(y),
            lambda i: f"has a count of {y[i]:g}, no whole number; shares are between 0 and 1",
        )
        return y

    def _format_of_tables(self, sums):
        """What tables hold, given whether each adds up to one, and to the sizes of its bags."""
        to_one, to_sizes = zip(*sums)
        shares = self.aggregate == "mean" or (all(to_one) and not all(to_sizes))
        return "proportions" if shares else "table"

    def _read_table(self, bags, y):
        _refuse(bags, ~np.isfinite(y).all(axis=1), lambda i: "has a count that is not a number")
        _refuse(bags, (y < 0).any(axis=1), lambda i: f"has a negative count: {y[i].min():g}")
        total = y.sum(axis=1)
        proportions = self._target_format_ == "proportions"
        expected = np.ones(len(bags)) if proportions else bags.sizes
        wrong = ~np.isclose(total, expected, rtol=1e-6, atol=1e-6)
        if proportions:
            _refuse(bags, wrong, lambda i: f"has proportions that sum to {total[i]:g}, not to 1")
            return y / total[:, None] * bags.sizes[:, None]
        _refuse(
            bags,
            wrong,
            lambda i: f"has counts that sum to {total[i]:g}, its size is {bags.sizes[i]}",
        )
        return y

    def _learn_blocks(self, source):
        widths, sums = zip(*source.blocks.collect(_form))
        if len(set(widths)) > 1:
            raise InputError(f"blocks have {min(widths)} to {max(widths)} classes")
        if widths[0]:
            self.classes_ = np.arange(widths[0])
            self._target_format_ = self._format_of_tables(sums)
        else:
            self.classes_ = np.array([0, 1])
            shares = self.aggregate == "mean" or are_shares(_as_floats(np.asarray(source.labels)))
            self._target_format_ = "shares" if shares else "positives"
        self._fit_blocks(source.blocks.map(_with_counts, self))

    # Both levels ---------------------------------------------------------------------------------

    def decision_function_instances(self, bags: Any) -> np.ndarray:
        """Scores of the instances: positive for the second class, or a column a class."""
        return self._contrast(self._score_instances(self._fitted(bags)))

    def decision_function(self, bags: Any) -> np.ndarray:
        """The average score of each bag's instances."""
        bags = self._fitted(bags)
        return self._contrast(Mean().value(self._score_instances(bags), bags.offsets))

    def _contrast(self, scores):
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_instances(self, bags: Any, counts: Any = None) -> np.ndarray:
        """The predicted class of every instance, in the order of ``bags.instances``.

        `counts` are the known counts (or shares, as `y`) of these bags: the instances of a bag get
        the labels that suit their scores best among those that add up to its count (the nearest
        whole one). NaN where a count is not known.
        """
        if counts is None:
            return self.classes_[winners(self.decision_function_instances(bags))]
        bags = self._fitted(bags)
        scores, table, known = self._known_counts(bags, counts)
        if self._own_proba:
            scores = np.log(np.clip(scores, 1e-300, None))
        codes = scores.argmax(axis=1)
        for i in np.flatnonzero(known):
            run = slice(bags.offsets[i], bags.offsets[i + 1])
            codes[run] = labels_that_add_up(scores[run], table[i])
        return self.classes_[codes]

    @has_probabilities
    def predict_proba_instances(self, bags: Any, counts: Any = None) -> np.ndarray:
        """Probability of each class, a row an instance.

        `counts` are the known counts (or shares, as `y`) of these bags: probabilities then add up
        to them. NaN where a count is not known.
        """
        bags = self._fitted(bags)
        if counts is None:
            return self._probabilities(bags)
        _, table, known = self._known_counts(bags, counts)
        p = self._probabilities(bags)
        if known.any():
            rows = bags.spread(known)
            p[rows] = scale_to_counts(p[rows], bags[known].offsets, table[known])
        return p

    def _known_counts(self, bags, counts):
        """Scores of the instances, a table of counts, and which bags have a known one."""
        counts = np.asarray(counts, dtype=np.float64)
        if len(counts) != len(bags):
            raise InputError(f"{len(counts)} counts for {len(bags)} bags")
        known = ~np.isnan(counts).reshape(len(bags), -1).any(axis=1)
        table = np.zeros((len(bags), len(self.classes_)))
        if known.any():
            table[known] = self._as_counts(bags[known], counts[known])
        return np.array(self._score_instances(bags), dtype=np.float64), table, known

    def _as_counts(self, bags, counts):
        """Counts or shares, in the form of the training targets or as a table, as counts."""
        reader = copy.copy(self)  # which may be told another form
        if counts.shape[1:] == (len(self.classes_),):
            reader._target_format_ = self._format_of_tables([_adds_up(counts, bags.sizes)])
            return reader._read_table(bags, counts)
        if len(self.classes_) > 2 or counts.ndim == 2:
            raise InputError(f"counts must have a column for each of {len(self.classes_)} classes")
        # A model of shares may be told counts: numbers above one are nothing else.
        shares = self._target_format_ == "shares" and counts.max() <= 1.0
        reader._target_format_ = "shares" if shares or are_shares(counts) else "positives"
        positives = reader._read_positives(bags, counts)
        return np.column_stack([bags.sizes - positives, positives])

    @has_probabilities
    def predict_proba(self, bags: Any) -> np.ndarray:
        """The expected proportion of each class, a row a bag; of one instance, its probability."""
        bags = self._fitted(bags)
        return Mean().value(self._probabilities(bags), bags.offsets)

    def _probabilities(self, bags):
        scores = np.array(self._score_instances(bags), dtype=np.float64)
        return scores if self._own_proba else as_sure(scores, self._calibration)

    def _targets_again(self, bags, y):
        return self._as_counts(bags, np.asarray(y, dtype=np.float64))

    def _what_scores_mean(self, bags, counts, weight, cv):
        y = counts / bags.sizes[:, None] if self.aggregate == "mean" else counts
        alone = bags.n_instances == len(bags)
        strata = counts.argmax(axis=1) if alone else np.zeros(len(bags), dtype=int)
        asked, _, scores, offsets = self._left_out(bags, y, weight, strata, cv)
        if not len(asked):
            return np.zeros(len(self.classes_) + 1)  # nobody knows
        return fit_sureness(scores, offsets, counts[asked], weight[asked])

    def predict_counts(self, bags: Any) -> np.ndarray:
        """The predicted number of instances of each class, a row a bag.

        The expected number where the learner has probabilities, else the number of instances
        predicted to belong to the class.
        """
        bags = self._fitted(bags)
        if self._own_proba:
            return Sum().value(self._score_instances(bags), bags.offsets)
        codes = np.searchsorted(self.classes_, self.predict_instances(bags))
        return Sum().value(np.eye(len(self.classes_))[codes], bags.offsets)

    def predict(self, bags: Any) -> np.ndarray:
        """Predictions in the form that `y` had: counts, proportions, or plain labels."""
        bags = self._fitted(bags)
        if self._target_format_ == "labels":
            return self.classes_[winners(self.decision_function(bags))]
        counts = self.predict_counts(bags)
        if self._speaks_of_proportions():
            counts = counts / bags.sizes[:, None]
        return counts[:, 1] if self._target_format_ in ("positives", "shares") else counts

    def _speaks_of_proportions(self):
        return self.aggregate == "mean" or self._target_format_ in ("proportions", "shares")

    def score(self, bags: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on plain labels; on counts, the share of instances that are counted right.

        The latter is one minus half the absolute error of the counts over the size of the bag,
        averaged over bags; with bags of one instance it is the accuracy.
        """
        predicted = self.predict(bags)
        if self._target_format_ == "labels":
            return accuracy_score(y, predicted, sample_weight=sample_weight)
        bags = self._fitted(bags)
        size = 1 if self._speaks_of_proportions() else bags.sizes
        error = np.abs(np.asarray(y, dtype=float) - predicted)
        error = error.sum(axis=1) / 2 if error.ndim == 2 else error
        return 1.0 - np.average(error / size, weights=sample_weight)


class SharpenedCounts(CountClassifier):
    """Base of learners that give every instance the shares of its bag to learn from.

    What they say of an instance (``_timid_scores``) is made as sure as the known counts are; see
    `mixedbag._account.fit_sharpening`. Bags of one need none: their shares are labels.
    """

    def _sharpen(self, bags, counts, weight):
        """Call it at the end of ``_fit``."""
        if self._own_proba and bags.n_instances > len(bags):
            p = self._timid_scores(bags)
            self.sharpening_ = fit_sharpening(p, bags.offsets, counts, weight)

    def _score_instances(self, bags):
        scores = self._timid_scores(bags)
        return sharpen(scores, self.sharpening_) if hasattr(self, "sharpening_") else scores


def _form(block):
    """How many classes labels have a column of (0: one number a bag), and what these add up to."""
    y = _as_floats(np.asarray(block.target))
    if y.ndim == 1 or y.shape[1] == 1:
        return 0, None
    return y.shape[1], _adds_up(y, block.bags.sizes)


def _adds_up(y, sizes):
    """Whether labels of all bags add up to one, and to the sizes of the bags."""
    total = y.sum(axis=1)
    return np.allclose(total, 1.0, atol=1e-6), np.array_equal(total, sizes)


def _with_counts(block, learner):
    """The block with a table of counts as target, from counts or shares."""
    y = _as_floats(np.asarray(block.target))
    if y.ndim == 2 and y.shape[1] > 1:
        return block._replace(target=learner._read_table(block.bags, y)).used()
    positives = learner._read_positives(block.bags, y.ravel())
    table = np.column_stack([block.bags.sizes - positives, positives])
    return block._replace(target=table).used()


def are_shares(y):
    """Whether numbers are shares: none outside [0, 1], and some that could not be counts."""
    return bool(((y >= 0) & (y <= 1)).all() and (y != np.round(y)).any())


def labels_that_add_up(scores, counts):
    """Class codes of one bag's instances with the highest total score, so many of each class.

    `scores` has a column a class; `counts`, rounded to whole numbers that sum to the size, one
    number a class.
    """
    whole = np.floor(counts + 1e-9).astype(int)
    missing = len(scores) - whole.sum()
    whole[np.argsort(whole - counts, kind="stable")[:missing]] += 1
    if len(whole) == 2:  # the highest contrasts are of the second class
        codes = np.zeros(len(scores), dtype=int)
        order = np.argsort(scores[:, 0] - scores[:, 1], kind="stable")
        codes[order[: whole[1]]] = 1
        return codes
    seats = np.repeat(np.arange(len(whole)), whole)
    return seats[linear_sum_assignment(scores[:, seats], maximize=True)[1]]


def _as_floats(y):
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Unknown label type: counts must be numbers; {error}") from error


def _refuse(bags, wrong, message):
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(f"{bags.name(i)} {message(i)}")


def __dir__():
    return __all__
