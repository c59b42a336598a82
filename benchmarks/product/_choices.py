"""Ways to turn the evidence of many learners into one answer: what `compare` does, and others.

A calibration is learned from out-of-fold scores and labels, and gives probabilities of scores; a
weighing takes calibrated out-of-fold answers, a row a learner, and labels, and gives weights.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from mixedbag.comparison._calibration import Rising
from mixedbag.comparison._weights import blend_weights

_SURE = 1e-6


def losses(chance, y):
    """Logarithmic loss, bag by bag."""
    return -np.log(np.maximum(np.where(y == 1, chance, 1.0 - chance), np.finfo(float).eps))


# Calibrations -------------------------------------------------------------------------------------


def rising(scores, y, strength=None):
    """That of `compare`; with another `strength` of what is learned against none of it."""
    one = Rising() if strength is None else Rising(strength)
    one.fit(scores[:, None], y, 2, np.ones(len(y)))
    return lambda asked: one(asked[:, None])[:, 1]


def free(scores, y):
    """The same features without the demand that answers rise with scores, and drawn to zero more:
    what `compare` did before."""
    scale = float(np.median(np.abs(scores))) or 1.0

    def features(asked):
        return np.column_stack([np.arcsinh(asked / scale), asked > 0])

    model = LogisticRegression().fit(features(scores), y)
    return lambda asked: model.predict_proba(features(asked))[:, 1]


# Weighings ----------------------------------------------------------------------------------------


def behind(chance, y, n_best=5):
    """That of `compare`: the less, the more standard errors behind the best."""
    answers = [each[:, None] for each in chance]
    return blend_weights(answers, lambda one: losses(one[:, 0], y), np.ones(len(y)), n_best)


def drawn_to_merits(chance, y, merits, n_best=5):
    """The same, mean losses being drawn towards a falling line in the merits of the table, as far
    as chance explains how far they are away from it (empirical Bayes)."""
    table = losses(chance, y)
    means, apart = table.mean(axis=1), table - table.mean(axis=0)
    noise, centred = apart.var(axis=1) / len(y), merits - merits.mean()
    line = means.mean() + min(0.0, centred @ means / (centred @ centred)) * centred
    spread = max(0.0, np.sum((means - line) ** 2) / (len(means) - 2) - noise.mean())
    expected = (spread * means + noise * line) / (spread + noise)
    best = np.argsort(expected, kind="stable")[:n_best]
    lead, weights = table[best] - table[best[0]], np.zeros(len(chance))
    error = np.maximum(lead.std(axis=1) / np.sqrt(len(y)), _SURE)
    weights[best] = np.exp(-(((expected[best] - expected[best[0]]) / error) ** 2))
    return weights / weights.sum()


def equal(chance, y, n_best=5):
    """The best few alike."""
    best = np.argsort(losses(chance, y).mean(axis=1), kind="stable")[:n_best]
    return np.isin(np.arange(len(chance)), best) / len(best)


def by_root(chance, y, n_best=5, factor=4.0):
    """exp(-4 √n · how much larger the mean loss is)."""
    means = losses(chance, y).mean(axis=1)
    weights = np.exp(-factor * np.sqrt(len(y)) * (means - means.min()))
    weights[np.argsort(means, kind="stable")[n_best:]] = 0.0
    return weights / weights.sum()


def ridge(chance, y, n_best=8, strength=3.0):
    """Least loss of the mean on the simplex, drawn towards equal weights."""
    best = np.argsort(losses(chance, y).mean(axis=1), kind="stable")[:n_best]
    right, n = np.where(y == 1, chance[best], 1.0 - chance[best]), len(best)

    def objective(z):
        w = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
        mean = np.maximum(w @ right, _SURE)
        by_w = -(right / mean).sum(axis=1) + 2 * strength * n * (w - 1 / n)
        value = -np.log(mean).sum() + strength * n * ((w - 1 / n) ** 2).sum()
        return value, w * (by_w - w @ by_w)

    z = minimize(objective, np.zeros(n), jac=True, method="L-BFGS-B").x
    weights = np.zeros(len(chance))
    weights[best] = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
    return weights


def greedy(chance, y, n_best=5, steps=12, n_samples=20):
    """Bagged greedy selection (Caruana and others, 2004): what `compare` did before."""
    n_bags, shares = len(y), np.zeros(len(chance))
    rng = np.random.default_rng(0)
    alone = losses(chance, y)
    for sample in rng.multinomial(n_bags, np.full(n_bags, 1 / n_bags), size=n_samples):
        pool = np.argsort(alone @ sample, kind="stable")[:n_best]
        counts, total, best, least = np.zeros(len(pool)), np.zeros(n_bags), None, np.inf
        for step in range(1, steps + 1):
            after = losses((total + chance[pool]) / step, y) @ sample
            chosen = int(after.argmin())
            total, counts[chosen] = total + chance[pool][chosen], counts[chosen] + 1
            if after[chosen] < least:
                best, least = counts / step, after[chosen]
        shares[pool] += best
    return shares / shares.sum()


# After the mean -----------------------------------------------------------------------------------


def tempered(inside, y, asked, prior=2.0):
    """Log-odds of the mean times a factor, learned inside and drawn towards one."""
    z = logit(np.clip(inside, _SURE, 1 - _SURE))

    def surprise(a):
        return np.sum(np.logaddexp(0.0, a * z) - y * a * z) + prior * (a - 1.0) ** 2

    a = minimize_scalar(surprise, bounds=(0.2, 5.0), method="bounded").x
    return expit(a * logit(np.clip(asked, _SURE, 1 - _SURE)))


class Choice(NamedTuple):
    """How to calibrate, how to weigh, whether weights see answers whose calibrations were learned
    without them, whether the mean is one of log-odds, whether it is tempered, and whether weights
    see how good learners usually are."""

    calibrate: Any = rising
    weigh: Any = behind
    crossed: bool = False
    of_log_odds: bool = False
    is_tempered: bool = False
    sees_merits: bool = False

    def answer(self, inner, outer, y, folds, merits):
        """Chances of the bags asked about; evidence has a row a learner."""
        known = [self.calibrate(scores, y) for scores in inner]
        inside = np.array([one(scores) for one, scores in zip(known, inner)])
        outside = np.array([one(scores) for one, scores in zip(known, outer)])
        seen = self._crossed(inner, y, folds) if self.crossed else inside
        weights = self.weigh(seen, y, merits) if self.sees_merits else self.weigh(seen, y)
        if self.of_log_odds:
            clipped = np.clip(outside, _SURE, 1 - _SURE)
            return expit(weights @ logit(clipped))
        if self.is_tempered:
            return tempered(weights @ seen, y, weights @ outside)
        return weights @ outside

    def _crossed(self, inner, y, folds):
        seen = np.empty_like(inner)
        for fold in np.unique(folds):
            out = folds == fold
            for row, scores in zip(seen, inner):
                row[out] = self.calibrate(scores[~out], y[~out])(scores[out])
        return seen


SHIPPED, BEFORE, SINGLE = "as shipped", "as before", "best single"
CHOICES = {
    SHIPPED: Choice(),
    BEFORE: Choice(free, greedy),
    SINGLE: Choice(weigh=partial(behind, n_best=1)),
    "calibration may fall": Choice(free),
    "drawn to zero as before": Choice(partial(rising, strength=1.0)),
    "drawn to zero less": Choice(partial(rising, strength=100.0)),
    "bagged greedy selection": Choice(weigh=greedy),
    "best eight": Choice(weigh=partial(behind, n_best=8)),
    "best twelve": Choice(weigh=partial(behind, n_best=12)),
    "best five alike": Choice(weigh=equal),
    "by the root of bags": Choice(weigh=by_root),
    "drawn towards merits": Choice(weigh=drawn_to_merits, sees_merits=True),
    "ridge on the simplex": Choice(weigh=ridge),
    "weights see crossed answers": Choice(crossed=True),
    "mean of log-odds": Choice(of_log_odds=True),
    "tempered": Choice(is_tempered=True),
}
