"""One account of a bag: what is said of it, and what is said of its instances, agree.

Under the rule "any" an instance is positive with probability q = σ(z), and a bag is negative when
all its instances are. Were they independent, P(bag) = 1 − Π(1 − q). Instances that repeat each
other would then count twice, so the negatives are tied by a Gumbel copula of strength r ≥ 1:

    P(bag) = 1 − exp(−H),    H = (Σ_j h_j^r)^(1/r),    h_j = −log(1 − q_j) = softplus(z_j).

r = 1 is independence, r → ∞ full dependence (P = max q), and for every r

    max q  ≤  P(bag)  ≤  1 − Π(1 − q)  ≤  Σ q.

In time, neighbours say the same thing many times over: the samples of a run, as long as their
scores stay correlated, are taken as fully dependent, so that a run counts once, by its largest z.

A bag's answer p, whoever gave it, and its instances are reconciled by one shift δ of all z of the
bag with P(bag) = p. The order of instances stays, and no instance passes p: in a bag answered "no"
none reaches one half.

Counts, totals and majorities have accounts of their own, each one shift a bag as well.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax

from mixedbag.pooling import bag_argmax, bag_logsumexp, bag_max, bag_sum, spread

_CERTAIN = 1e-12  # answers are never surer than this, so that log-odds stay finite
_STEPS = 200
_ENOUGH = 20_000  # instances for three numbers
_FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
_DEPENDENCES = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)


# The rule "any" ----------------------------------------------------------------------------------


def bag_log_hazard(z, offsets, r=1.0):
    """log H of every bag, from the log-odds of its instances; P(bag) = 1 − exp(−H)."""
    return bag_logsumexp(r * log_softplus(z), offsets) / r


def bag_probability(z, offsets, r=1.0):
    """The probability that a bag holds a positive instance."""
    return -np.expm1(-np.exp(bag_log_hazard(z, offsets, r)))


def shift_to_bags(z, offsets, p, r=1.0):
    """The shift δ of every bag after which `bag_probability` is `p`.

    P grows with δ, and the bounds above bracket it: with M the largest z of n instances,
    softplus(M + δ) lies between H and H / n^(1/r). Newton's method on log H, kept inside the
    bracket, needs a handful of passes over the instances.
    """
    z = np.asarray(z, dtype=np.float64)
    p = np.clip(p, _CERTAIN, 1.0 - _CERTAIN)
    sizes = np.diff(offsets)
    top = bag_max(z, offsets)
    target = np.log(-np.log1p(-p))
    low = inverse_log_softplus(target - np.log(sizes) / r) - top
    high = inverse_log_softplus(target) - top
    shift = high.copy()
    for _ in range(_STEPS):
        moved = z + spread(shift, offsets)
        parts = r * log_softplus(moved)
        total = bag_logsumexp(parts, offsets)
        excess = total / r - target
        if (np.abs(excess) < 1e-13 * (1.0 + np.abs(target))).all():
            break
        high = np.where(excess > 0, np.minimum(high, shift), high)
        low = np.where(excess < 0, np.maximum(low, shift), low)
        # d log H / dδ: the shares of the instances times the slope of log softplus.
        share = np.exp(parts - spread(total, offsets))
        slope = bag_sum(share * _log_softplus_slope(moved), offsets)
        step = shift - excess / slope
        inside = (step > low) & (step < high)
        shift = np.where(excess == 0, shift, np.where(inside, step, (low + high) / 2))
    return shift


@dataclass(frozen=True)
class InstanceOdds:
    """Log-odds of instances from their scores: z = slope · s + intercept, dependence r.

    Fitted by the likelihood of bag labels alone; no instance label is needed. Fit it on scores of
    instances that the scoring model has not seen: on its own training bags a flexible model is
    sure of everything.

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
        problem = _BagLikelihood((scores - centre) / width, offsets, positive, weight)
        slope, intercept, r = problem.solve(dependence)
        return cls(slope / width, intercept - slope * centre / width, r, run_length)

    def after_agreement(self, scores, offsets, positive, weight):
        """The same account with the slope and dependence that suit instances once bags are known.

        After agreement the intercept is gone: slope and r decide how a bag's answer is shared out.
        The bags' labels tell too little of that where many witnesses are as good as one, but
        together they tell what witnesses look like (`witness_odds`). Of a grid, the slope and the r
        are taken whose probabilities, after agreement with Platt's targets of positive bags, are
        nearest to these in cross-entropy.

        Parameters
        ----------
        scores, offsets, positive, weight
            As in `fit`.
        """
        scores = np.asarray(scores, dtype=np.float64)
        positive = np.asarray(positive, dtype=bool)
        likely = witness_odds(scores, offsets, positive, weight)
        inside, count = spread(positive, offsets), spread(weight, offsets)
        if likely is None or not inside.any():
            return self
        sizes = np.diff(offsets)[positive]
        places = np.concatenate([[0], np.cumsum(sizes)])
        n_positive = weight[positive].sum()
        answer = np.full(len(sizes), (n_positive + 1) / (n_positive + 2))
        s, count = scores[inside], count[inside]
        wanted = answer[0] * expit(likely(s))
        best, best_loss = self, np.inf
        for factor in _FACTORS:
            for r in _DEPENDENCES:
                tried = InstanceOdds(factor * likely.slope, 0.0, r, self.run_length)
                q = expit(tried.agree(tried(s), places, answer))
                q = np.clip(q, _CERTAIN, 1.0 - _CERTAIN)
                loss = -count @ (wanted * np.log(q) + (1 - wanted) * np.log1p(-q))
                if loss < best_loss:
                    best, best_loss = tried, loss
        return InstanceOdds(best.slope, self.intercept, best.dependence, self.run_length)

    def __call__(self, scores):
        """Log-odds of instances with these scores."""
        return self.slope * np.asarray(scores, dtype=np.float64) + self.intercept

    def bag_probability(self, z, offsets):
        """The probability of bags whose instances have log-odds `z`."""
        return -np.expm1(-self.bag_hazard(z, offsets))

    def bag_hazard(self, z, offsets):
        """H of bags whose instances have log-odds `z`: P(bag) = 1 − exp(−H)."""
        largest = _largest_of_runs(z, offsets, self.run_length)
        return np.exp(bag_log_hazard(*largest, self.dependence))

    def agree(self, z, offsets, p):
        """Log-odds of the instances after the shift with which their bags have probability `p`."""
        largest = _largest_of_runs(z, offsets, self.run_length)
        shift = shift_to_bags(*largest, p, self.dependence)
        return z + spread(shift, offsets)


class _BagLikelihood:
    """The weighted log-loss of bag labels as a function of slope, intercept and 1/r."""

    def __init__(self, scores, offsets, positive, weight):
        self.scores = scores
        self.offsets = offsets
        self.sizes = np.diff(offsets)
        n_positive, n_negative = weight[positive].sum(), weight[~positive].sum()
        self.target = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
        self.weight = weight / weight.sum()

    def solve(self, dependence):
        free = dependence is None
        bounds = [(0.0, 1e3), (-60.0, 60.0), (0.05, 1.0) if free else (1 / dependence,) * 2]
        rate = float(self.weight @ self.target)
        typical = np.exp(np.mean(np.log(self.sizes)))
        starts = []
        for slope in (0.0, 1.0, 4.0):
            h = -np.log1p(-rate) / typical
            starts.append([slope, float(inverse_log_softplus(np.log(h))) - slope, bounds[2][1]])
        found = [
            minimize(self.value_and_gradient, x0, jac=True, method="L-BFGS-B", bounds=bounds)
            for x0 in starts
        ]
        slope, intercept, inverse_r = min(found, key=lambda result: result.fun).x
        return float(slope), float(intercept), float(1 / inverse_r)

    def value_and_gradient(self, x):
        slope, intercept, inverse_r = x
        r = 1 / inverse_r
        z = slope * self.scores + intercept
        log_h = log_softplus(z)
        total = bag_logsumexp(r * log_h, self.offsets)
        log_hazard = total / r
        hazard = np.exp(np.minimum(log_hazard, 700.0))
        # log P with P = 1 − exp(−H), and log(1 − P) = −H.
        log_p = np.log(-np.expm1(-np.maximum(hazard, 1e-300)))
        value = -self.weight @ (self.target * log_p - (1 - self.target) * hazard)
        with np.errstate(over="ignore"):
            odds = np.where(hazard < 700, hazard / np.expm1(np.maximum(hazard, 1e-300)), 0.0)
        # Derivative of the loss of each bag by log H.
        by_log = -self.weight * (self.target * odds - (1 - self.target) * hazard)
        share = np.exp(r * log_h - spread(total, self.offsets))
        by_z = spread(by_log, self.offsets) * share * _log_softplus_slope(z)
        # By 1/r: H = (Σ h^r)^(1/r); d log H / d(1/r) = total − r Σ share · log h.
        mean_log = bag_sum(share * log_h, self.offsets)
        by_inverse = by_log @ (total - r * mean_log)
        return value, np.array([by_z @ self.scores, by_z.sum(), by_inverse])


class WitnessOdds(NamedTuple):
    """Log-odds that an instance of a positive bag is a witness: slope · s + intercept."""

    slope: float
    intercept: float

    def __call__(self, scores):
        return self.slope * scores + self.intercept


def witness_odds(scores, offsets, positive, weight):
    """What witnesses look like, from all instances of positive and of negative bags.

    Of those in positive bags a share π are witnesses, the others look like those in negative bags.
    If witnesses' odds in positive bags are e^z with z = a s + c, densities there and here have the
    ratio (1 − π)(1 + e^z), so that

        log-odds of being in a positive bag  =  k + softplus(a s + c),    a ≥ 0,

    with k ≤ the log-odds of all. Fitted by the likelihood of "in which kind of bag is it" over
    single instances; None where there is one kind alone.
    """
    inside, count = spread(positive, offsets), spread(weight, offsets)
    if inside.all() or not inside.any():
        return None
    step = max(1, len(scores) // _ENOUGH)
    s, inside, count = scores[::step], inside[::step], count[::step]
    if inside.all() or not inside.any():
        return None
    centre, width = float(np.median(s)), float(np.std(s)) or 1.0
    s, count = (s - centre) / width, count / count.sum()
    share = count[inside].sum()
    base = np.log(share) - np.log1p(-share)
    sign = np.where(inside, 1.0, -1.0)

    def loss(x):
        a, c, k = x
        z = a * s + c
        eta = k + np.logaddexp(0.0, z)
        by_eta = -count * sign * expit(-sign * eta)
        by_z = by_eta * expit(z)
        value = count @ np.logaddexp(0.0, -sign * eta)
        return value, np.array([by_z @ s, by_z.sum(), by_eta.sum()])

    bounds = [(0.0, 50.0), (-40.0, 40.0), (base - 8.0, base)]
    found = [
        minimize(loss, [a, c, base - 0.1], jac=True, method="L-BFGS-B", bounds=bounds)
        for a, c in ((1.0, -1.0), (3.0, -6.0))
    ]
    a, c, _ = min(found, key=lambda result: result.fun).x
    return WitnessOdds(float(a / width), float(c - a * centre / width))


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


def name_instances(z, offsets, answered):
    """Which instances are positive: those of at least even odds, and the best of a "yes" bag.

    Parameters
    ----------
    z : array of shape (n_instances,)
        Log-odds that agree with the bags.
    offsets : array of shape (n_bags + 1,)
    answered : array of bool, shape (n_bags,)
        Whether the bag was answered "yes".
    """
    named = (z >= 0) & spread(answered, offsets)
    named[bag_argmax(z, offsets)[answered]] = True
    return named


# Counts, totals, majorities ----------------------------------------------------------------------


def shift_to_counts(z, offsets, counts):
    """The shift of every bag after which its instances' probabilities add up to its count."""
    z = np.asarray(z, dtype=np.float64)
    sizes = np.diff(offsets)
    share = np.clip(np.asarray(counts) / sizes, _CERTAIN, 1.0 - _CERTAIN)
    odds = np.log(share) - np.log1p(-share)
    # Were all z equal to the least (largest) of the bag, this shift would be exact.
    low = odds - bag_max(z, offsets)
    high = odds - np.minimum.reduceat(z, offsets[:-1])
    shift = (low + high) / 2
    for _ in range(_STEPS):
        q = expit(z + spread(shift, offsets))
        mean = bag_sum(q, offsets) / sizes
        excess = mean - share
        high = np.where(excess >= 0, shift, high)
        low = np.where(excess <= 0, shift, low)
        if (np.abs(excess) <= 1e-14 + 1e-12 * np.minimum(share, 1 - share)).all():
            break
        slope = bag_sum(q * (1 - q), offsets) / sizes
        with np.errstate(divide="ignore", invalid="ignore"):
            step = shift - excess / slope
        inside = np.isfinite(step) & (step > low) & (step < high)
        shift = np.where(excess == 0, shift, np.where(inside, step, (low + high) / 2))
    return shift


def scale_to_counts(probability, offsets, counts):
    """Class probabilities of instances whose columns add up to the counts of each bag.

    Rows and columns are scaled in turn (iterative proportional fitting): of all tables with these
    margins, the limit is the nearest to the given one in relative entropy.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    offsets : array of shape (n_bags + 1,)
    counts : array of shape (n_bags, n_classes)
        Each row adds up to the size of its bag.
    """
    sizes = np.diff(offsets)
    wanted = np.clip(counts, 0.0, None) + _CERTAIN
    wanted = wanted * (sizes / wanted.sum(axis=1))[:, None]
    log_q = np.log(np.clip(probability, 1e-300, None))
    for _ in range(_STEPS):
        log_q = log_softmax(log_q, axis=1)
        total = bag_sum(np.exp(log_q), offsets)
        if np.abs(total - wanted).max() < 1e-10 * sizes.max():
            break
        log_q += spread(np.log(wanted) - np.log(np.clip(total, 1e-300, None)), offsets)
    return np.exp(log_softmax(log_q, axis=1))


def fit_sharpening(probability, offsets, counts, weight):
    """How much surer instances are than a model that took the share of their bag for their own.

    Such a model is timid: its probabilities differ as bags do, not as instances. Those of
    ``softmax(slope · log p + shift)`` differ as much as the counts say: slope (0.1 … 100) and
    shifts maximise Σ_c w_c Σ_k count_ck log(mean of the sharpened p_k).

    Returns
    -------
    array of shape (1 + n_classes,)
        The slope, then the shifts, for `sharpen`.
    """
    log_p, sizes = _log(probability), np.diff(offsets)[:, None]
    total = float(weight @ counts.sum(axis=1))

    def surprise(x):
        slope = np.exp(x[0])
        q = np.exp(log_softmax(slope * log_p + np.append(0.0, x[1:]), axis=1))
        mean = np.maximum(bag_sum(q, offsets) / sizes, 1e-300)
        by_q = -spread(weight[:, None] * counts / mean / sizes, offsets)
        by_z = q * (by_q - (by_q * q).sum(axis=1, keepdims=True))
        gradient = np.append(slope * float((by_z * log_p).sum()), by_z.sum(axis=0)[1:])
        return -float(weight @ (counts * np.log(mean)).sum(axis=1)) / total, gradient / total

    n_classes = log_p.shape[1]
    found = minimize(
        surprise,
        np.zeros(n_classes),
        jac=True,
        method="L-BFGS-B",
        bounds=[(np.log(0.1), np.log(100.0)), *[(-100.0, 100.0)] * (n_classes - 1)],
        options={"gtol": 1e-9, "ftol": 1e-15, "maxiter": 500},
    )
    return np.concatenate([[np.exp(found.x[0]), 0.0], found.x[1:]])


def sharpen(probability, sharpening):
    """The sharpened probabilities; see `fit_sharpening`."""
    return np.exp(log_softmax(sharpening[0] * _log(probability) + sharpening[1:], axis=1))


def _log(probability):
    return np.log(np.clip(probability, _CERTAIN, None))


def add_up(values, offsets, totals):
    """Values of instances moved by one amount a bag, so that they add up to its total."""
    sizes = np.diff(offsets)
    missing = totals - bag_sum(values, offsets)
    return values + spread((missing.T / sizes).T, offsets)


def share_for_majority(probability, offsets, answered):
    """Class probabilities of instances among which the answered class has the largest share.

    The log-odds of a bag's answered class rise by the least amount that makes its expected share
    no smaller than any other; bags whose shares agree already stay as they are.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    offsets : array of shape (n_bags + 1,)
    answered : array of int, shape (n_bags,)
        The code of the class that the bag was given.
    """
    sizes = np.diff(offsets)
    chosen = spread(answered, offsets)
    rows = np.arange(len(probability))
    log_q = np.log(np.clip(probability, 1e-300, None))

    def lead(shift):
        moved = log_q.copy()
        moved[rows, chosen] += spread(shift, offsets)
        q = np.exp(log_softmax(moved, axis=1))
        share = bag_sum(q, offsets) / sizes[:, None]
        own = share[np.arange(len(answered)), answered]
        share[np.arange(len(answered)), answered] = -np.inf
        return q, own - share.max(axis=1)

    low = np.zeros(len(answered))
    q, ahead = lead(low)
    if (ahead >= 0).all():
        return q
    high = np.where(ahead >= 0, 0.0, 1.0)
    while ((behind := lead(high)[1] < 0) & (high < 1e4)).any():
        high = np.where(behind, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        enough = lead(middle)[1] >= 0
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return lead(high)[0]


def name_majority(probability, offsets, answered):
    """Codes of the instances' classes among which no class is more frequent than the answered one.

    Every instance has its most probable class. Where that gives another class the majority, the
    instances nearest to the answered class go over to it, no more than needed.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    offsets : array of shape (n_bags + 1,)
    answered : array of int, shape (n_bags,)
        The code of the class that the bag was given.
    """
    codes = probability.argmax(axis=1)
    n_classes = probability.shape[1]
    votes = bag_sum(np.eye(n_classes)[codes], offsets)
    own = votes[np.arange(len(answered)), answered]
    for i in np.flatnonzero(votes.max(axis=1) > own):
        part = codes[offsets[i] : offsets[i + 1]]
        q = probability[offsets[i] : offsets[i + 1]]
        nearest = np.argsort(_lead_over(q, answered[i]), kind="stable")
        for row in nearest[part[nearest] != answered[i]]:
            part[row] = answered[i]
            counts = np.bincount(part, minlength=n_classes)
            if counts.max() == counts[answered[i]]:
                break
    return codes


def _lead_over(probability, code):
    """By how much the best class of each row leads over the class `code`."""
    return probability.max(axis=1) - probability[:, code]


# Sums in logs ------------------------------------------------------------------------------------


def log_softplus(z):
    """log softplus(z) = log(−log(1 − q)), exact for z → −∞, where it is z − e^z / 2."""
    z = np.asarray(z, dtype=np.float64)
    return np.where(z < -30.0, z, np.log(np.logaddexp(0.0, np.maximum(z, -30.0))))


def _log_softplus_slope(z):
    """Its derivative, σ(z) / softplus(z)."""
    kept = np.maximum(z, -30.0)
    return np.where(z < -30.0, 1.0, expit(kept) / np.logaddexp(0.0, kept))


def inverse_log_softplus(log_h):
    """The z with log softplus(z) = log_h."""
    log_h = np.asarray(log_h, dtype=np.float64)
    h = np.exp(np.minimum(log_h, 700.0))
    with np.errstate(divide="ignore"):
        exact = np.where(h > 30.0, h + np.log1p(-np.exp(-np.maximum(h, 30.0))), 0.0)
        exact = np.where(h <= 30.0, np.log(np.expm1(np.minimum(np.maximum(h, 1e-13), 30.0))), exact)
    return np.where(log_h < -30.0, log_h, exact)


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
