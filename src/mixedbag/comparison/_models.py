"""The models that `compare` and `fit` hand over: one account of bags and their instances.

`_blend` has those of release 0.1.0, which asked every member about instances and answered about
them without looking at the bag; they stay as they were, for the files that people have.
"""

import warnings
from typing import Any

import numpy as np

from mixedbag import _evidence
from mixedbag.bags import as_bags
from mixedbag.comparison._accounts import CountAccount, feasible_counts
from mixedbag.comparison._blend import AmountBlend, ClassBlend, flat
from mixedbag.comparison._cases import decide
from mixedbag.counts import are_shares
from mixedbag.exceptions import InputError

_ROUNDED = 0.01  # of a bag: amounts of classes that add up but for rounding


def model_for(question, names, members, calibrators, weights, witnesses, account, origin):
    """The estimator that answers a question."""
    parts = names, members, calibrators, weights
    if question.kind == "classes":
        costs = getattr(question, "costs", None)
        return ClassModel(*parts, question.classes, witnesses, account, origin, costs)
    return AmountModel(*parts, witnesses, account, origin)


class _Answers:
    """Answers about bags from the members that have weight, about instances from the witnesses."""

    members: list
    calibrators: list
    weights: list
    witnesses: list
    account: Any
    origin: Any

    def _answer(self, bags, evidence):
        bags = as_bags(bags)
        return sum(
            weight * calibrate(evidence(member, bags))
            for member, calibrate, weight in zip(self.members, self.calibrators, self.weights)
            if weight > 0
        )

    def _answer_instances(self, bags, answer, evidence):
        said = [evidence(self.members[m], bags) for m in self.witnesses]
        return self.account.agree(said, answer, bags.offsets)

    @property
    def notes(self):
        """What people should know before they act on answers."""
        return list(self.origin.notes)


class ClassModel(_Answers, ClassBlend):
    """Classes of bags and of their instances, in agreement. Made by `compare`, not fitted by hand.

    A bag's probability is the mean of its members' calibrated ones. The instances' come from the
    members that explain the bags' labels best by their instances (`witnesses`), moved by one shift
    a bag so that both levels say the same (`account`).

    Parameters
    ----------
    names : list of str
    members : list of fitted estimators
    calibrators : list of callables
        One a member: from its evidence to an answer.
    weights : list of float
        One a member, for bags; they sum to one.
    classes : array of shape (n_classes,)
    witnesses : list of int
        The members that are asked about instances.
    account : account
        What their evidence means, given the bag's answer.
    origin : Origin
        What the model remembers of its data.
    costs : array of shape (n_classes, n_classes), optional
        What an answer costs, a row a true class: the answered class is that of least expected cost,
        without them the most probable one.
    """

    def __init__(
        self,
        names,
        members,
        calibrators,
        weights,
        classes,
        witnesses,
        account,
        origin,
        costs=None,
    ):
        super().__init__(names, members, calibrators, weights, classes)
        self.witnesses = witnesses
        self.account = account
        self.origin = origin
        self.costs = costs

    def predict(self, bags):
        """The predicted class of every bag."""
        return self.answers(bags)[0]

    def answers(self, bags):
        """Predicted classes and probabilities of bags, which are looked at once."""
        answer = self.predict_proba(bags)
        return self.classes[self._answered(answer)], answer

    def predict_proba_instances(self, bags):
        """Probability of each class, a row an instance; agrees with `predict_proba`."""
        bags = as_bags(bags)
        return self._instances(bags, self.predict_proba(bags))

    def predict_instances(self, bags):
        """The predicted class of every instance; agrees with `predict`.

        Under the rule "any", no instance of a bag answered "no" is positive, and a bag answered
        "yes" has at least its best instance named.
        """
        return self.instance_answers(bags)[0]

    def instance_answers(self, bags):
        """Predicted classes and probabilities of instances, which are looked at once."""
        bags = as_bags(bags)
        answer = self.predict_proba(bags)
        q, answered = self._instances(bags, answer), self._answered(answer)
        return self.classes[self.account.name(q, bags.offsets, answered)], q

    def _answered(self, answer):
        return decide(answer, self.costs)

    def _instances(self, bags, answer):
        return self._answer_instances(bags, answer, _evidence.class_evidence_of_instances)


class AmountModel(_Answers, AmountBlend):
    """Counts or totals of bags, and of their instances, which add up to them.

    Made by `compare`, not fitted by hand. Parameters as in `ClassModel`.
    """

    def __init__(self, names, members, calibrators, weights, witnesses, account, origin):
        super().__init__(names, members, calibrators, weights)
        self.witnesses = witnesses
        self.account = account
        self.origin = origin

    def predict(self, bags):
        """The predicted amount of every bag."""
        return flat(self._totals(as_bags(bags)))

    def predict_instances(self, bags, amounts=None):
        """The predicted amount of every instance; those of a bag add up to its amount.

        `amounts` are the known amounts of these bags, in the form of the labels: instances then add
        up to them. NaN where one is not known. Counts may be given as shares and the other way
        round, and of two answers both or the last. Of several classes they tell shares of a bag,
        whatever they add up to; where that is not the bag, a warning says so.
        """
        bags = as_bags(bags)
        answer = self._totals(bags)
        if amounts is not None:
            scaled = self.scaled_amounts(bags, amounts)
            if scaled:
                warnings.warn(about_scaled(scaled), stacklevel=2)
            answer = self._known(bags, amounts, answer)
        evidence = _evidence.amount_evidence_of_instances
        return flat(self._answer_instances(bags, answer, evidence))

    def scaled_amounts(self, bags, amounts):
        """The bags whose known amounts of several classes do not add up to them, each in words."""
        given = np.asarray(amounts, dtype=np.float64).reshape(len(amounts), -1)
        if not isinstance(self.account, CountAccount) or given.shape[1] == 1:
            return []
        most, whole = bags.sizes, given.sum(axis=1)
        told = whole[~np.isnan(whole)]
        if any((np.abs(told - all_) <= 2 * _ROUNDED * all_).all() for all_ in (1.0, 100.0)):
            return []  # shares of the bag, or per cent
        counts = np.zeros(len(bags), dtype=bool)
        if self.account.of_means:  # of others than the rows, they are shares as well
            most, counts = np.ones(len(bags)), (given == np.round(given)).all(axis=1) & (whole >= 1)
        off = np.flatnonzero((np.abs(whole - most) > _ROUNDED * most) & ~counts)
        return [f"{bags.name(i)}: {whole[i]:g} in place of {most[i]:g}" for i in off]

    def _known(self, bags, amounts, answer):
        """The known amounts, and the answers in the place of unknown ones."""
        given = self.in_own_words(bags, amounts, answer.shape[1])
        if len(given) != len(answer):
            raise InputError(f"{len(given)} amounts where {len(answer)} are needed")
        if given.shape != answer.shape:
            raise InputError(
                f"the model tells {answer.shape[1]} amounts of a bag: those that are known need a "
                "column each, such as no,yes,abstained"
            )
        if isinstance(self.account, CountAccount):
            most = self._most(bags)
            wrong = ((given < 0) | (given > most[:, None])).any(axis=1)
            if wrong.any():
                i = int(wrong.argmax())
                if self.account.of_means:
                    raise InputError(
                        f"{bags.name(i)} has a share of {given[i].max():g}: the model learned from "
                        "shares, which are between 0 and 1"
                    )
                raise InputError(f"{bags.name(i)} has {given[i].max():g} of {most[i]:g} instances")
        return np.where(np.isnan(given), answer, given)

    @property
    def counts_rows(self):
        """Whether labels are counts of a bag's instances, not shares or totals."""
        return isinstance(self.account, CountAccount) and not self.account.of_means

    def in_own_words(self, bags, amounts, width):
        """Amounts in the form of the labels that were learned from, `width` columns.

        Shares become counts, and counts of rows (some above one, none above the bag) shares; those
        of several classes, parts of the bag. Of two answers, both become the last, and the last
        both.
        """
        given = np.asarray(amounts, dtype=np.float64).reshape(len(amounts), -1)
        if not isinstance(self.account, CountAccount) or len(given) != len(bags):
            return given
        most = self._most(bags)
        if given.shape[1] > 1:
            parts = _of_all(given, most)
            return parts[:, 1:] if (width, given.shape[1]) == (1, 2) else parts
        known = given[~np.isnan(given)]
        if self.counts_rows:
            given = given * bags.sizes[:, None] if are_shares(known) else given
        elif _are_counts(given, bags.sizes):
            given = given / bags.sizes[:, None]
        return given if width != 2 else np.hstack([most[:, None] - given, given])

    def _most(self, bags):
        """The largest label that a bag may have, of counts and shares."""
        return bags.sizes.astype(np.float64) if self.counts_rows else np.ones(len(bags))

    def _totals(self, bags):
        answer = np.asarray(self._answer(bags, _evidence.amount_evidence))
        if self.origin.rule not in ("count", "proportion"):
            return answer
        return feasible_counts(answer, self._most(bags))


def about_scaled(scaled):
    """What people should know of known amounts that do not add up."""
    n = len(scaled)
    which = "1 bag has" if n == 1 else f"{n} bags have"
    more = ", …" if n > 3 else ""
    return (
        f"{which} known amounts that do not add up to it ({', '.join(scaled[:3])}{more}): they are "
        "taken as shares of the bag, and as not known where all are 0"
    )


def _are_counts(given, sizes):
    """Whether amounts, known or not, are whole numbers of rows of bags: not all are 0 or 1."""
    rows = np.isnan(given) | ((given >= 0) & (given == np.round(given)) & (given <= sizes[:, None]))
    return bool(rows.all() and (given > 1).any())


def _of_all(given, most):
    """Amounts of all classes that add up to `most`, a row a bag; unknown where one is."""
    whole = given.sum(axis=1)
    return given * np.divide(most, whole, out=np.full(len(given), np.nan), where=whole > 0)[:, None]
