"""At least one instance makes the bag's class: what members say of instances, shared out."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from mixedbag._account.any import InstanceOdds, name_instances
from mixedbag.comparison._cases import decide
from mixedbag.comparison._weights import blend_weights
from mixedbag.pooling import bag_argmax, bag_sum, spread

_FITTED_ON = 50_000  # instances: three numbers need no more
_FEWEST = 30  # bags of each class, however long
_SURE = 1e-6  # bag probabilities nearer to 0 or 1 than this are no better for it
_ALIKE = 0.05  # log-odds: instances of a bag that differ by less are alike


@dataclass(frozen=True)
class AnyAccount:
    """At least one instance of a class makes the bag's class: an account a class.

    Each member shares the bag's probability out among the instances (`InstanceOdds.share_out`), and
    the weighted mean of their shares is the answer. No share passes the bag's probability, and none
    of the bounds is lost in the mean: max q ≤ P(bag) ≤ Σ q.

    Of two classes one is accounted for, the other is its absence. Of more, each has its account,
    and as no instance's probability of a class passes the bag's, they add up to at most one: what
    is missing is the chance that an instance shows no class at all.

    Attributes
    ----------
    weights : list of float
        One a member.
    odds : list of lists of InstanceOdds
        One a member and class accounted for.
    codes : list of int
        The classes accounted for.
    n_classes : int
    costs : array of shape (n_classes, n_classes), optional
        What an answer costs, as in `Classes`.
    """

    weights: list
    odds: list
    codes: list
    n_classes: int
    costs: np.ndarray | None = None

    def agree(self, evidence, answer, offsets):
        """Probabilities of instances that agree with those of their bags, `answer`."""
        q = np.zeros((offsets[-1], len(self.codes)))
        for values, odds, weight in zip(evidence, self.odds, self.weights):
            for i, (odd, code) in enumerate(zip(odds, self.codes)):
                scores = _column(values, code)
                q[:, i] += weight * odd.share_out(scores, offsets, answer[:, code])
        if self.n_classes > 2:
            return q
        columns = np.empty((len(q), 2))
        columns[:, self.codes[0]], columns[:, 1 - self.codes[0]] = q[:, 0], 1.0 - q[:, 0]
        return columns

    def agree_again(self, probability, answer, offsets):
        """Means over repeats agree as their parts do."""
        return probability

    def name(self, probability, offsets, answered):
        """The code of each instance's class; the best of a bag always has the answered class."""
        codes = decide(probability, self.costs)
        if self.n_classes > 2:
            of_answer = probability[np.arange(len(codes)), spread(answered, offsets)]
            codes[bag_argmax(of_answer, offsets)] = answered
            return codes
        (code,) = self.codes
        named = name_instances(probability[:, code], offsets, answered == code, codes == code)
        return np.where(named, code, 1 - code)

    def doubts(self, evidence, offsets):
        """What bag labels cannot tell of instances, in words; mostly nothing."""
        z = sum(
            weight * np.column_stack([o(_column(values, c)) for o, c in zip(odds, self.codes)])
            for values, odds, weight in zip(evidence, self.odds, self.weights)
        )
        within = z - spread(bag_sum(z, offsets) / np.diff(offsets)[:, None], offsets)
        if np.sqrt((within**2).mean()) >= _ALIKE:
            return []
        return [
            "the instances of a bag cannot be told apart: to every learner they look alike, so "
            "each gets about the same probability, and the one that is named is no better than the "
            "others"
        ]


def fit_any(question, evidence, offsets, rows, calibrators, n_best):
    """Members are weighed by how well their instances explain the labels of bags."""
    n_classes, in_time = len(question.classes), question.rule == "sequence"
    codes = [question.positive] if n_classes == 2 else list(range(n_classes))
    positive = question.codes[rows][:, None] == np.array(codes)
    weight = question.weight[rows]
    taken, of_taken = _some_bags(question.codes[rows], offsets)
    starts = np.concatenate([[0], np.cumsum(np.diff(offsets)[taken])])
    answers, odds = [], []
    for values in evidence:
        columns = [_column(values, code) for code in codes]
        asked = [
            (scores[of_taken], starts, positive[taken, i], weight[taken])
            for i, scores in enumerate(columns)
        ]
        fitted = [InstanceOdds.fit(*each, in_time=in_time) for each in asked]
        of_bags = [o.bag_log_probability(s, offsets) for o, s in zip(fitted, columns)]
        answers.append(np.exp(np.column_stack(of_bags)))
        odds.append([o.with_witnesses(*each) for o, each in zip(fitted, asked)])
    shares = blend_weights(answers, partial(_log_loss, positive=positive), weight, n_best)
    chosen = np.flatnonzero(shares).tolist()
    weights = [float(shares[m]) for m in chosen]
    account = AnyAccount(weights, [odds[m] for m in chosen], codes, n_classes, question.costs)
    return chosen, account


def _log_loss(probability, positive):
    """Logarithmic loss of bag labels, summed over the classes accounted for."""
    probability = np.clip(probability, _SURE, 1.0 - _SURE)
    return -np.log(np.where(positive, probability, 1.0 - probability)).sum(axis=1)


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
