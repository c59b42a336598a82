"""Accounts: what members say of instances, brought into agreement with what is said of the bag.

One class a kind of label. Each has the members' weights, makes one table of the members' evidence
on instances (`agree`), and names instances' classes (`name`). Saved models hold one.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, logit, logsumexp

from mixedbag._account import (
    InstanceOdds,
    add_up,
    inverse_log_softplus,
    log_softplus,
    name_instances,
    name_majority,
    scale_to_counts,
    share_for_majority,
    shift_to_counts,
)
from mixedbag.comparison._weights import blend_weights
from mixedbag.pooling import bag_argmax, bag_sum, spread

_FITTED_ON = 50_000  # instances: three numbers need no more
_FEWEST = 30  # bags of each class, however long
_TINY = 1e-12
_ALIKE = 0.05  # log-odds: instances of a bag that differ by less are alike
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
        fit = _fit_shares if question.rule == "majority" else _fit_any
    else:
        fit = _fit_amounts
    return fit(question, evidence, offsets, rows, calibrators, n_best)


def doubts(account, evidence, offsets):
    """What bag labels cannot tell of instances, in words; mostly nothing.

    Parameters
    ----------
    account : account
    evidence : list of arrays
        Out-of-fold evidence of the account's members on instances.
    offsets : array
    """
    if not isinstance(account, AnyAccount):
        return []
    z = account.log_odds(evidence)
    within = z - spread(bag_sum(z, offsets) / np.diff(offsets)[:, None], offsets)
    if np.sqrt((within**2).mean()) >= _ALIKE:
        return []
    return [
        "the instances of a bag cannot be told apart: to every learner they look alike, so each "
        "gets about the same probability, and the one that is named is no better than the others"
    ]


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


# At least one instance, also in time --------------------------------------------------------------


@dataclass(frozen=True)
class AnyAccount:
    """At least one instance of a class makes the bag's class: an account a class.

    Members speak of hazards h = −log(1 − q), whose weighted mean is the stack's: so the hazard of a
    bag of independent instances is the weighted mean of the members' too.

    Of two classes one is accounted for, the other is its absence. Of more, each has its account,
    and as no instance's probability of a class passes the bag's, they add up to at most one: what
    is missing is the chance that an instance shows no class at all.

    Attributes
    ----------
    weights : list of float
        One a member.
    odds : list of lists of InstanceOdds
        One a member and class accounted for.
    joint : list of InstanceOdds
        What turns the members' mean log-odds into the stack's, one a class accounted for.
    codes : list of int
        The classes accounted for.
    n_classes : int
    """

    weights: list
    odds: list
    joint: list
    codes: list
    n_classes: int

    def log_odds(self, evidence):
        """Log-odds of instances before any bag's answer is known, a column a class."""
        columns = [
            joint(_mean_log_odds(evidence, [odds[i] for odds in self.odds], self.weights, code))
            for i, (code, joint) in enumerate(zip(self.codes, self.joint))
        ]
        return np.column_stack(columns)

    def agree(self, evidence, answer, offsets):
        """Probabilities of instances that agree with those of their bags, `answer`."""
        z = self.log_odds(evidence)
        q = np.column_stack(
            [
                expit(joint.agree(z[:, i], offsets, answer[:, code]))
                for i, (code, joint) in enumerate(zip(self.codes, self.joint))
            ]
        )
        return self._table(q)

    def agree_again(self, probability, answer, offsets):
        """The same after means over repeats have undone it a little."""
        q = np.column_stack(
            [
                expit(joint.agree(_logit(probability[:, code]), offsets, answer[:, code]))
                for code, joint in zip(self.codes, self.joint)
            ]
        )
        return self._table(q)

    def name(self, probability, offsets, answered):
        """The code of each instance's class; the best of a bag always has the answered class."""
        if self.n_classes > 2:
            codes = probability.argmax(axis=1)
            of_answer = probability[np.arange(len(codes)), spread(answered, offsets)]
            best = bag_argmax(of_answer, offsets)
            codes[best] = answered
            return codes
        (code,) = self.codes
        named = name_instances(_logit(probability[:, code]), offsets, answered == code)
        return np.where(named, code, 1 - code)

    def _table(self, q):
        if self.n_classes > 2:
            return q
        columns = np.empty((len(q), 2))
        columns[:, self.codes[0]], columns[:, 1 - self.codes[0]] = q[:, 0], 1.0 - q[:, 0]
        return columns


def _fit_any(question, evidence, offsets, rows, calibrators, n_best):
    n_classes, in_time = len(question.classes), question.rule == "sequence"
    codes = [question.positive] if n_classes == 2 else list(range(n_classes))
    positive = question.codes[rows][:, None] == np.array(codes)
    weight = question.weight[rows]
    taken, of_taken = _some_bags(question.codes[rows], offsets)
    odds = [
        [
            InstanceOdds.fit(
                *(_column(values, code)[of_taken], _offsets(offsets, taken)),
                *(positive[taken, i], weight[taken]),
                in_time=in_time,
            )
            for i, code in enumerate(codes)
        ]
        for values in evidence
    ]
    hazards = [
        np.column_stack(
            [
                odd.bag_hazard(odd(_column(values, code)), offsets)
                for odd, code in zip(of_member, codes)
            ]
        )
        for of_member, values in zip(odds, evidence)
    ]
    shares = blend_weights(hazards, partial(_hazard_loss, positive=positive), weight, n_best)
    chosen = np.flatnonzero(shares).tolist()
    weights = [float(shares[m]) for m in chosen]
    joint = []
    for i, code in enumerate(codes):
        z = _mean_log_odds(
            [evidence[m][of_taken] for m in chosen], [odds[m][i] for m in chosen], weights, code
        )
        asked = z, _offsets(offsets, taken), positive[taken, i], weight[taken]
        joint.append(InstanceOdds.fit(*asked, in_time=in_time).after_agreement(*asked))
    return chosen, AnyAccount(weights, [odds[m] for m in chosen], joint, codes, n_classes)


def _hazard_loss(hazard, positive):
    """Logarithmic loss of bag labels: P(bag) = 1 − exp(−H), summed over the classes."""
    hazard = np.clip(hazard, 1e-6, 700.0)
    return np.where(positive, -np.log(-np.expm1(-hazard)), hazard).sum(axis=1)


def _mean_log_odds(evidence, odds, weights, code):
    """Log-odds whose hazard is the weighted mean of the members'."""
    logs = [
        np.log(weight) + log_softplus(odd(_column(values, code)))
        for values, odd, weight in zip(evidence, odds, weights)
    ]
    return inverse_log_softplus(logsumexp(logs, axis=0))


def _column(evidence, code):
    """The evidence for a class: its own column, or what two classes have between them."""
    evidence = np.asarray(evidence, dtype=np.float64)
    if evidence.shape[1] > 2:
        return evidence[:, code]
    second = evidence[:, 0] if evidence.shape[1] == 1 else evidence[:, 1] - evidence[:, 0]
    return second if code == 1 else -second


def _some_bags(codes, offsets):
    """Bags to fit three numbers on: all, or as many as hold enough instances; and their rows."""
    sizes = np.diff(offsets)
    if offsets[-1] <= _FITTED_ON:
        return np.arange(len(sizes)), np.arange(offsets[-1])
    order = np.random.default_rng(0).permutation(len(sizes))
    seen = {code: 0 for code in np.unique(codes)}
    taken, n_instances = [], 0
    for i in order:
        seen[codes[i]] += 1
        if n_instances + sizes[i] <= _FITTED_ON or seen[codes[i]] <= _FEWEST:
            taken.append(i)
            n_instances += sizes[i]
    taken = np.sort(taken)
    return taken, np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in taken])


def _offsets(offsets, taken):
    return np.concatenate([[0], np.cumsum(np.diff(offsets)[taken])])


def _logit(probability):
    return logit(np.clip(probability, _TINY, 1.0 - _TINY))


# The class of most instances ----------------------------------------------------------------------


@dataclass(frozen=True)
class ShareAccount:
    """A bag has the class of most instances: the shares of classes agree with the bag's class.

    Attributes
    ----------
    weights : list of float
        One a member.
    calibrators : list of callables
        One a member: from evidence to probabilities.
    """

    weights: list
    calibrators: list

    def agree(self, evidence, answer, offsets):
        """Probabilities among which the answered class has the largest share."""
        mean = _mean([c(e) for c, e in zip(self.calibrators, evidence)], self.weights)
        return self.agree_again(mean, answer, offsets)

    def agree_again(self, probability, answer, offsets):
        return share_for_majority(probability, offsets, answer.argmax(axis=1))

    def name(self, probability, offsets, answered):
        """The code of each instance's class; no other is more frequent than the answered one."""
        return name_majority(probability, offsets, answered)


def _fit_shares(question, evidence, offsets, rows, calibrators, n_best):
    """Members are weighed by how well a random instance's class tells that of its bag."""
    sizes = np.diff(offsets)[:, None]
    shares = [bag_sum(c(e), offsets) / sizes for c, e in zip(calibrators, evidence)]
    losses = partial(question.loss, rows=rows)
    weights = blend_weights(shares, losses, question.weight[rows], n_best)
    chosen = np.flatnonzero(weights).tolist()
    account = ShareAccount([float(weights[m]) for m in chosen], [calibrators[m] for m in chosen])
    return chosen, account


# Amounts ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountAccount:
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
        z = _logit(probability[:, 0])
        return expit(z + spread(shift_to_counts(z, offsets, counts[:, 0]), offsets))[:, None]


@dataclass(frozen=True)
class SumAccount:
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
