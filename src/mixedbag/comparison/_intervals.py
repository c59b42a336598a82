"""How sure a figure is: intervals that stay honest at their edges, and paired tests.

Two things make a figure uncertain. It rests on a number of bags (or of groups of them that belong
together), and that alone says how far it may be off: `wilson`, `ranking_interval` and
`ratio_interval`, none of which collapses when nothing went wrong. And models differ from fold to
fold, which folds that share training bags show only in part: `fold_spread`. An interval is never
narrower than either.
"""

import numpy as np
from scipy import stats
from scipy.optimize import brentq

_Z = float(stats.norm.ppf(0.975))


def units(weight, groups=None):
    """The unit of every bag as a code: its group, or itself; and the weight of each unit."""
    if groups is None:
        return np.arange(len(weight)), np.asarray(weight, dtype=np.float64)
    _, code = np.unique(groups, return_inverse=True)
    return code, np.bincount(code, weight)


def kish(weight):
    """How many equal weights say as much as these."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def share_interval(hits, weight, groups=None):
    """A weighted share of bags, and its Wilson interval.

    The number of bags in Wilson's formula is the one that gives the variance between units, so
    unequal weights and groups widen it; where all or none are hits, every unit counts once.
    """
    hits = np.asarray(hits, dtype=np.float64)
    code, of_unit = units(weight, groups)
    total = of_unit.sum()
    share = float(hits @ weight / total)
    n, k = kish(of_unit), len(of_unit)
    apart = np.bincount(code, (hits - share) * weight, minlength=k)
    variance = (apart**2).sum() / total**2 * k / max(k - 1, 1)
    if variance > 0:
        # Few mistakes may by chance sit in different groups: never more than there are bags.
        n = min(share * (1 - share) / variance, kish(np.asarray(weight)))
    return share, *wilson(share, n)


def wilson(share, n, z=_Z):
    """The shares that n bags cannot tell from the one observed (Wilson, 1927)."""
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return min(max(float(centre - half), 0.0), share), max(min(float(centre + half), 1.0), share)


def mean_of_shares(parts):
    """The mean of independent shares, each (share, low, high), with the interval of the mean.

    Distances to the ends add up as variances do (Zou and Donner, 2008), so an interval that is
    lopsided at an edge stays so.
    """
    share, low, high = np.array(parts).T
    mean, k = share.mean(), len(parts)
    below, above = np.sqrt(((share - low) ** 2).sum()), np.sqrt(((high - share) ** 2).sum())
    return float(mean), float(max(mean - below / k, 0.0)), float(min(mean + above / k, 1.0))


def ranking_interval(area, n_positive, n_negative, z=_Z):
    """Areas under the ROC curve that the data cannot tell from the observed one.

    The score interval of Newcombe (2006, method 5): the variance is that of the area asked about,
    so a perfect ranking of a few bags has a lower end well below one.
    """
    half = (n_positive + n_negative) / 2 - 1
    area = min(max(area, 0.0), 1.0)  # weights are rounded

    def variance(area):
        spread = 1 + half * ((1 - area) / (2 - area) + area / (1 + area))
        return area * (1 - area) * spread / (n_positive * n_negative)

    def ends(sign):
        def gap(a):
            return area - a + sign * z * np.sqrt(variance(a))

        # The lower end lies between 0 and the area, the upper above it. At an area of 0 or 1 itself
        # the variance is zero, which is no end: the search stays a little inside.
        lower, upper = (0.0, min(area, 1 - 1e-9)) if sign < 0 else (max(area, 1e-9), 1.0)
        if gap(lower) * gap(upper) >= 0:
            return lower if sign < 0 else upper
        return brentq(gap, lower, upper)

    return float(ends(-1)), float(ends(1))


def ratio_interval(part, whole, weight, groups=None, plain=1.0):
    """The ratio Σ w·part / Σ w·whole of sums over bags, and its interval.

    The variance is that of the linearised ratio between units, with Student's quantile. One more
    unit takes part in the interval, whose ratio is `plain`, what an answer is off that has learned
    nothing: if no bag shows an error, up to about three in n may still have one.
    """
    code, of_unit = units(weight, groups)
    k = len(of_unit)
    a = np.bincount(code, part * weight, minlength=k)
    b = np.bincount(code, whole * weight, minlength=k)
    ratio = a.sum() / b.sum()
    a, b = np.append(a, plain * b.mean()), np.append(b, b.mean())
    centre = a.sum() / b.sum()
    error = np.sqrt(((a - centre * b) ** 2).sum() * (k + 1) / k) / b.sum()
    half = stats.t.ppf(0.975, max(kish(of_unit) - 1, 1)) * error
    return float(ratio), float(min(centre - half, ratio)), float(max(centre + half, ratio))


# Folds --------------------------------------------------------------------------------------------


def fold_spread(values, share_tested):
    """Half the width of a 95 % interval for the mean of fold results; None below three folds.

    Folds share training bags, so their results are not independent: the variance is widened by the
    ratio of test to training bags (Nadeau and Bengio, 2003). Few folds may by chance lie close
    together; the interval that bags allow, which is never undercut, guards against that, where
    Student's quantile would make three folds of any size say nothing.
    """
    values = np.asarray(values, dtype=np.float64)
    if len(values) < 3:
        return None
    return float(_Z * _corrected_error(values, share_tested))


def paired_p_value(values, others, share_tested):
    """P-value of the corrected paired t-test that two learners are equally good on the folds.

    Where every fold differs by the same amount the test knows no noise; then it is that of signs.
    """
    difference = np.asarray(values, dtype=np.float64) - np.asarray(others, dtype=np.float64)
    n = len(difference)
    if n < 2:
        return None
    error = _corrected_error(difference, share_tested)
    if error <= 1e-12 * max(1.0, np.abs(difference).max()):
        return 1.0 if np.allclose(difference, 0.0) else 0.5 ** (n - 1)
    return float(2 * stats.t.sf(abs(difference.mean()) / error, n - 1))


def _corrected_error(values, share_tested):
    n = len(values)
    return np.sqrt(values.var(ddof=1) * (1 / n + share_tested / (1 - share_tested)))
