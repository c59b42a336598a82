"""Two likelihoods that tell what scores of instances mean, from labels of bags alone."""

import numpy as np
from scipy import optimize
from scipy.special import expit

from mixedbag.pooling import bag_logsumexp, bag_sum, spread

_ENOUGH = 20_000  # instances for three numbers


class BagLikelihood:
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
            optimize.minimize(
                self.value_and_gradient, x0, jac=True, method="L-BFGS-B", bounds=bounds
            )
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
        by_z = spread(by_log, self.offsets) * share * log_softplus_slope(z)
        # By 1/r: H = (Σ h^r)^(1/r); d log H / d(1/r) = total − r Σ share · log h.
        mean_log = bag_sum(share * log_h, self.offsets)
        by_inverse = by_log @ (total - r * mean_log)
        return value, np.array([by_z @ self.scores, by_z.sum(), by_inverse])


def witness_odds(scores, offsets, positive, weight):
    """What witnesses look like, from all instances of positive and of negative bags.

    Of those in positive bags a share π are witnesses, the others look like those in negative bags.
    If witnesses' odds in positive bags are e^z with z = a s + c, densities there and here have the
    ratio (1 − π)(1 + e^z), so that

        log-odds of being in a positive bag  =  k + softplus(a s + c),    a ≥ 0,

    with k ≤ the log-odds of all. Fitted by the likelihood of "in which kind of bag is it" over
    single instances. Returns a and c; None where there is one kind alone.
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
        optimize.minimize(loss, [a, c, base - 0.1], jac=True, method="L-BFGS-B", bounds=bounds)
        for a, c in ((1.0, -1.0), (3.0, -6.0))
    ]
    a, c, _ = min(found, key=lambda result: result.fun).x
    return float(a / width), float(c - a * centre / width)


def log_softplus(z):
    """log softplus(z) = log(−log(1 − q)), exact for z → −∞, where it is z − e^z / 2."""
    z = np.asarray(z, dtype=np.float64)
    return np.where(z < -30.0, z, np.log(np.logaddexp(0.0, np.maximum(z, -30.0))))


def log_softplus_slope(z):
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
