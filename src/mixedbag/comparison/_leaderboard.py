"""The leaderboard: means with intervals, and paired tests against the best."""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Row:
    """One learner's line.

    `mean`, `low` and `high` are the measure over finished folds with a 95 % interval; `p_value` is
    that of a paired test against the best row, fold by fold; `seconds` is the total time.
    """

    name: str
    kind: str  # "learner", "stack" or "choice"
    status: str  # "done", "partial", "waiting", or how it failed: "error", "crash", "stopped"
    folds: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    seconds: float = 0.0
    note: str = ""

    def as_dict(self):
        return asdict(self)


class Entry(NamedTuple):
    """What a row is made of: the mean quality on each fold that was met, and how it ended."""

    name: str
    kind: str
    quality: dict
    seconds: float = 0.0
    failure: Any = None


def make_rows(entries, n_folds, share_tested, floor):
    """A `Row` an entry, the best first, then those that have not met every fold."""
    whole = [entry for entry in entries if len(entry.quality) == n_folds]
    best = max(whole, key=lambda entry: np.mean(_values(entry)), default=None)
    rows = [_row(entry, best, n_folds, share_tested, floor) for entry in entries]
    return sorted(rows, key=lambda row: (row.status != "done", -(row.mean or 0.0)))


def _row(entry, best, n_folds, share_tested, floor):
    name, kind, quality, seconds, failure = entry
    note = failure.message if failure else ""
    status = failure.kind if failure else "partial" if quality else "waiting"
    if not quality:
        return Row(name, kind, status, 0, seconds=seconds, note=note)
    mean, low, high = fold_interval(_values(entry), share_tested, floor)
    p_value = None
    if len(quality) == n_folds:
        status = "done"
        if entry is not best:
            p_value = paired_p_value(_values(entry), _values(best), share_tested)
    return Row(name, kind, status, len(quality), mean, low, high, p_value, seconds, note)


def _values(entry):
    return list(entry.quality.values())


def fold_interval(values, share_tested, floor=-np.inf, level=0.95):
    """Mean of fold results and an interval for it.

    Folds share training bags, so their results are not independent: the variance is widened by the
    ratio of test to training bags (Nadeau and Bengio, 2003). No measure passes one, some have a
    `floor`. Fewer than three folds say nothing of their spread.
    """
    values = np.asarray(values, dtype=np.float64)
    mean = float(values.mean())
    if len(values) < 3:
        return mean, None, None
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * _corrected_error(values, share_tested)
    return mean, float(max(mean - half, floor)), float(min(mean + half, 1.0))


def paired_p_value(values, best, share_tested):
    """P-value of the corrected paired t-test that two learners are equally good."""
    difference = np.asarray(values) - np.asarray(best)
    if len(difference) < 2:
        return None
    error = _corrected_error(difference, share_tested)
    if error == 0:
        return 1.0 if difference.mean() == 0 else 0.0
    return float(2 * stats.t.sf(abs(difference.mean()) / error, len(difference) - 1))


def _corrected_error(values, share_tested):
    n = len(values)
    return np.sqrt(values.var(ddof=1) * (1 / n + share_tested / (1 - share_tested)))
