"""Accounts: what members say of instances, brought into agreement with what is said of the bag.

One class a kind of label. Each has the members' weights, makes one table of the members' evidence
on instances (`agree`), and names instances' classes (`name`). Saved models hold one.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, logit

from mixedbag._account.counts import add_up, share_out, shift_to_counts
from mixedbag._account.majority import name_majority, share_for_majority
from mixedbag._account.margins import scale_to_counts
from mixedbag.comparison._any_account import fit_any
from mixedbag.comparison._cases import decide
from mixedbag.comparison._weights import blend_weights
from mixedbag.pooling import bag_sum, spread

_TINY = 1e-12
_MEANS = ("mean", "proportion")  # rules whose labels are averages over a bag


def account_for(question, evidence, offsets, rows, calibrators, n_best):
    """The account that explains the labels of the bags `rows` best.

    Parameters
    ----------
    question : question
    evidence : list of arrays of shape (n_instances, k)
        Out-of-fold evidence on the instances of these bags, one array a member.
    offsets : array of shape (n_rows + 1,)
    rows : array of int
    calibrators : list of callables
        The members' calibrators of bag answers.
    n_best : int
        How many members may take part.

    Returns
    -------
    chosen : list of int
        The members that take part.
    account : account
    """
    if question.kind == "classes":
        fit = _fit_shares if question.rule == "majority" else fit_any
    else:
        fit = _fit_amounts
    return fit(question, evidence, offsets, rows, calibrators, n_best)


def feasible(question, answer, sizes):
    """Answers about bags that instances can agree with: no count exceeds the size of the bag."""
    if question.kind != "counts":
        return answer
    return feasible_counts(answer, np.ones(len(sizes)) if question.rule in _MEANS else sizes)


def feasible_counts(answer, sizes):
    """Counts between none and all of a bag's instances; those of all classes add up to its size."""
    answer = np.clip(answer, 0.0, np.asarray(sizes, dtype=np.float64)[:, None])
    if answer.shape[1] == 1:
        return answer
    total = answer.sum(axis=1, keepdims=True)
    even = np.full_like(answer, 1 / answer.shape[1])
    return np.divide(answer, total, out=even, where=total > 0) * np.asarray(sizes)[:, None]


class _Certain:
    """Accounts whose instances the labels of bags tell apart."""

    def doubts(self, evidence, offsets):
        """What bag labels cannot tell of instances, in words: nothing."""
        return []


# The class of most instances ----------------------------------------------------------------------


@dataclass(frozen=True)
class ShareAccount(_Certain):
    """A bag has the class of most instances: the shares of classes agree with the bag's class.

    Attributes
    ----------
    weights : list of float
        One a member.
    calibrators : list of callables
        One a member: from evidence to probabilities.
    costs : array of shape (n_classes, n_classes), optional
        What an answer costs, as in `Classes`.
    """

    weights: list
    calibrators: list
    costs: np.ndarray | None = None

    def agree(self, evidence, answer, offsets):
        """Probabilities among which the answered class has the largest share."""
        mean = _mean([c(e) for c, e in zip(self.calibrators, evidence)], self.weights)
        return self.agree_again(mean, answer, offsets)

    def agree_again(self, probability, answer, offsets):
        return share_for_majority(probability, offsets, decide(answer, self.costs))

    def name(self, probability, offsets, answered):
        """The code of each instance's class; no other is more frequent than the answered one."""
        return name_majority(probability, decide(probability, self.costs), offsets, answered)


def _fit_shares(question, evidence, offsets, rows, calibrators, n_best):
    """Members are weighed by how well a random instance's class tells that of its bag."""
    sizes = np.diff(offsets)[:, None]
    shares = [bag_sum(c(e), offsets) / sizes for c, e in zip(calibrators, evidence)]
    losses = partial(question.loss, rows=rows)
    weights = blend_weights(shares, losses, question.weight[rows], n_best)
    chosen = np.flatnonzero(weights).tolist()
    weights, asked = [float(weights[m]) for m in chosen], [calibrators[m] for m in chosen]
    return chosen, ShareAccount(weights, asked, question.costs)


# Amounts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountAccount(_Certain):
    """Counts: the probabilities of a bag's instances add up to its count, class by class.

    Attributes
    ----------
    weights : list of float
        One a member.
    of_means : bool
        Whether answers about bags are shares of their instances, not counts.
    """

    weights: list
    of_means: bool = False

    def agree(self, evidence, answer, offsets):
        """Probabilities of instances that add up to the counts of their bags, `answer`."""
        return self.agree_again(_mean(evidence, self.weights), answer, offsets)

    def agree_again(self, probability, answer, offsets):
        counts = _totals(answer, offsets, self.of_means)
        if counts.shape[1] > 1:
            return scale_to_counts(np.clip(probability, _TINY, None), offsets, counts)
        z = logit(np.clip(probability[:, 0], _TINY, 1.0 - _TINY))
        return expit(z + spread(shift_to_counts(z, offsets, counts[:, 0]), offsets))[:, None]


@dataclass(frozen=True)
class SumAccount(_Certain):
    """Totals: the values of a bag's instances add up to its total, or average to its mean.

    Attributes
    ----------
    weights : list of float
        One a member.
    of_means : bool
        Whether answers about bags are means, not totals.
    """

    weights: list
    of_means: bool = False

    def agree(self, evidence, answer, offsets):
        """Values of instances that add up to the totals of their bags, `answer`."""
        return self.agree_again(_mean(evidence, self.weights), answer, offsets)

    def agree_again(self, values, answer, offsets):
        return add_up(values, offsets, _totals(answer, offsets, self.of_means))


class EventAccount(SumAccount):
    """Events: as totals, but rates of a bag's instances stay in proportion, and above zero."""

    def agree_again(self, values, answer, offsets):
        return share_out(values, offsets, _totals(answer, offsets, self.of_means))


def _fit_amounts(question, evidence, offsets, rows, calibrators, n_best):
    """Members are weighed by how well their instances' values add up to the labels."""
    of_means = question.rule in _MEANS
    sizes = np.diff(offsets)[:, None] if of_means else 1.0
    answers = [bag_sum(np.asarray(e, dtype=np.float64), offsets) / sizes for e in evidence]
    losses = partial(question.loss, rows=rows)
    shares = blend_weights(answers, losses, question.weight[rows], n_best)
    chosen = np.flatnonzero(shares).tolist()
    account = CountAccount if question.kind == "counts" else SumAccount
    return chosen, account([float(shares[m]) for m in chosen], of_means)


def _totals(answer, offsets, of_means):
    return answer * np.diff(offsets)[:, None] if of_means else answer


def _mean(values, weights):
    return sum(weight * np.asarray(part, dtype=np.float64) for part, weight in zip(values, weights))
