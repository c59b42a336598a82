"""Under the rule "any": what is said of a bag, and of its instances, agree.

An instance is positive with probability q = σ(z), and a bag is negative when all its instances are.
Were they independent, P(bag) = 1 − Π(1 − q). Instances that repeat each other would then count
twice, so the negatives are tied by a Gumbel copula of strength r ≥ 1:

    P(bag) = 1 − exp(−H),    H = (Σ_j h_j^r)^(1/r),    h_j = −log(1 − q_j) = softplus(z_j).

r = 1 is independence, r → ∞ full dependence (P = max q), and for every r

    max q  ≤  P(bag)  ≤  1 − Π(1 − q)  ≤  Σ q.

In time, neighbours say the same thing many times over: the samples of a run, as long as their
scores stay correlated, are taken as fully dependent, so that a run counts once, by its largest z.

A bag's answer p, whoever gave it, is news about the bag as a whole: whether it is positive, not
which of its instances are. So what is known of these, given a positive bag, stays (Jeffrey's rule):

    q  →  p · q / P(bag),

one shift of all log q of a bag. The order of instances stays, the bounds above hold with p in place
of P(bag), and no instance passes p: in a bag answered "no" none would be answered "yes".
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from mixedbag._account.likelihoods import BagLikelihood, log_softplus, witness_odds
from mixedbag.pooling import bag_argmax, bag_logsumexp, bag_sum, spread


def bag_log_probability(z, offsets, r=1.0):
    """log P of every bag, from the log-odds of its instances: right also where P vanishes."""
    log_hazard = bag_logsumexp(r * log_softplus(z), offsets) / r
    hazard = np.exp(np.clip(log_hazard, -30.0, 700.0))
    return np.where(log_hazard < -30.0, log_hazard, np.log(-np.expm1(-hazard)))


@dataclass(frozen=True)
class InstanceOdds:
    """Log-odds of instances from their scores: z = slope · s + intercept, dependence r.

    Fitted on labels of bags alone; no instance label is needed. Fit it on scores of instances that
    the scoring model has not seen: on its own training bags a flexible model is sure of everything.

    Attributes
    ----------
    slope : float
        Never negative: a higher score never makes an instance less probable.
    intercept : float
    dependence : float
        The r of the copula above.
    run_length : int
        How many neighbours in time count as one; 1 where instances have no order.
    """

    slope: float
    intercept: float
    dependence: float
    run_length: int = 1

    @classmethod
    def fit(cls, scores, offsets, positive, weight=None, *, dependence=None, in_time=False):
        """Maximise Σ w [t log P + (1 − t) log(1 − P)] over slope, intercept and r.

        Targets t are Platt's, a little inside 0 and 1, so that separable bags have an optimum.

        Parameters
        ----------
        scores : array of shape (n_instances,)
        offsets : array of shape (n_bags + 1,)
        positive : array of bool, shape (n_bags,)
        weight : array of shape (n_bags,), optional
        dependence : float, optional
            Fixes r; by default it is fitted, between 1 and 20.
        in_time : bool
            Whether a bag is a sequence, whose neighbours may repeat each other.
        """
        scores = np.asarray(scores, dtype=np.float64)
        offsets = np.asarray(offsets)
        positive = np.asarray(positive, dtype=bool)
        weight = np.ones(len(positive)) if weight is None else np.asarray(weight, dtype=np.float64)
        run_length = correlation_length(scores, offsets) if in_time else 1
        scores, offsets = _largest_of_runs(scores, offsets, run_length)
        # Fitted on standardised scores, so that one tolerance suits every learner's scale.
        centre = float(np.median(scores))
        width = float(np.quantile(np.abs(scores - centre), 0.9)) or 1.0
        problem = BagLikelihood((scores - centre) / width, offsets, positive, weight)
        slope, intercept, r = problem.solve(dependence)
        return cls(slope / width, intercept - slope * centre / width, r, run_length)

    def with_witnesses(self, scores, offsets, positive, weight):
        """Half way to what all instances together tell of witnesses (`witness_odds`).

        The labels of bags tell which instance of a bag is its best, and little of how many others
        are positive too: one witness explains a label as well as ten. Which instances abound in
        positive bags tells that, but is noisy where witnesses are rare. Parameters as in `fit`.
        """
        found = witness_odds(np.asarray(scores, dtype=np.float64), offsets, positive, weight)
        if found is None:
            return self
        slope, intercept = (self.slope + found[0]) / 2, (self.intercept + found[1]) / 2
        return InstanceOdds(slope, intercept, self.dependence, self.run_length)

    def __call__(self, scores):
        """Log-odds of instances with these scores."""
        return self.slope * np.asarray(scores, dtype=np.float64) + self.intercept

    def bag_log_probability(self, scores, offsets):
        """The log-probability of bags whose instances have these scores."""
        z, starts = _largest_of_runs(self(scores), offsets, self.run_length)
        return bag_log_probability(z, starts, self.dependence)

    def share_out(self, scores, offsets, p):
        """Probabilities of instances, given that their bags are positive with probability `p`."""
        log_share = log_expit(self(scores))
        log_share -= spread(self.bag_log_probability(scores, offsets), offsets)
        return np.exp(np.minimum(log_share, 0.0)) * spread(p, offsets)


def correlation_length(scores, offsets):
    """Over how many neighbours the scores of a sequence stay correlated, on average.

    The integrated autocorrelation time 1 + 2 Σ ρ_k, up to the first lag without correlation, with
    every sequence's own mean taken away.
    """
    sizes = np.diff(offsets)
    mean = bag_sum(scores, offsets) / sizes
    centred = scores - spread(mean, offsets)
    variance = float(centred @ centred)
    if variance <= 0:
        return 1
    bag = spread(np.arange(len(sizes)), offsets)
    total = 1.0
    for lag in range(1, int(sizes.max())):
        together = bag[lag:] == bag[:-lag]
        correlation = float(centred[lag:][together] @ centred[:-lag][together]) / variance
        if correlation <= 0.05:
            break
        total += 2 * correlation
    return max(1, round(total))


def name_instances(q, offsets, answered, positive):
    """Which instances are answered "yes": of a "yes" bag those that would be alone, and its best.

    Parameters
    ----------
    q : array of shape (n_instances,)
        Probabilities that agree with the bags.
    offsets : array of shape (n_bags + 1,)
    answered : array of bool, shape (n_bags,)
        Whether the bag was answered "yes".
    positive : array of bool, shape (n_instances,)
        Whether an answer of this probability is "yes": above one half, or where a cost says so.
    """
    named = positive & spread(answered, offsets)
    named[bag_argmax(q, offsets)[answered]] = True
    return named


def _largest_of_runs(z, offsets, length):
    """The largest value of every run of `length` neighbours, and where the bags' runs begin."""
    z, offsets = np.asarray(z, dtype=np.float64), np.asarray(offsets)
    if length == 1:
        return z, offsets
    n_runs = -(-np.diff(offsets) // length)
    ends = np.concatenate([[0], np.cumsum(n_runs)])
    place = np.arange(ends[-1]) - np.repeat(ends[:-1], n_runs)
    starts = np.repeat(offsets[:-1], n_runs) + place * length
    return np.maximum.reduceat(z, starts), ends
