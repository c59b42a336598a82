"""The leaderboard: figures with intervals, and paired tests against the best and the constant."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from mixedbag.comparison._intervals import fold_spread, paired_p_value
from mixedbag.comparison._measures import suitable


@dataclass(frozen=True)
class Row:
    """One learner's line.

    `mean`, `low` and `high` are the measure that decides, over all finished folds, with a 95 %
    interval; `p_value` and `p_constant` are those of paired tests, fold by fold, against the best
    row and against the constant; `seconds` is the total time; `scores` has all measures by name.
    """

    name: str
    kind: str  # "learner", "stack", "choice" or "constant"
    status: str  # "done", "partial", "waiting", or how it failed: "error", "crash", "stopped"
    folds: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    p_constant: float | None = None
    seconds: float = 0.0
    note: str = ""
    scores: dict = field(default_factory=dict)

    def as_dict(self):
        return asdict(self)


class Figure(NamedTuple):
    """How good answers to some folds are: the figure, its interval, each fold, other measures."""

    mean: float
    low: float
    high: float
    by_fold: dict
    scores: dict


class Figures:
    """Figures of answers to folds, each computed once.

    Answers of all folds of a repeat are measured together, as anybody can who reads the table of
    predictions; repeats are averaged.

    Parameters
    ----------
    protocol : Protocol
    """

    def __init__(self, protocol):
        self.cases = replace(protocol.question.cases, groups=protocol.groups)
        self.measure = protocol.question.measure
        self.measures = suitable(self.cases)
        self._known = {}

    def of(self, key, splits, answer):
        """The figure of `answer`, a function of a split; `key` names whose answers they are."""
        splits = list(splits)
        key = key, tuple(split.name for split in splits)
        if key not in self._known:
            self._known[key] = self._measured([(split, answer(split)) for split in splits])
        return self._known[key]

    def _measured(self, answered):
        repeats: dict[str, list] = {}
        for split, answer in answered:
            repeat = split.name.partition(".")[0]
            repeats.setdefault(repeat, []).append((split.test, answer))
        pooled = [
            (self.cases[np.concatenate(rows)], np.concatenate(answers))
            for rows, answers in (zip(*parts) for parts in repeats.values())
        ]
        ends = np.mean([self.measure.interval(*pair) for pair in pooled], axis=0)
        mean, low, high = ends.tolist()
        return Figure(
            *(mean, low, high),
            {s.name: self.measure.score(self.cases[s.test], answer) for s, answer in answered},
            {m.name: float(np.mean([m.score(*pair) for pair in pooled])) for m in self.measures},
        )


class Entry(NamedTuple):
    """What a row is made of; no figure where no fold was met."""

    name: str
    kind: str
    figure: Figure | None
    seconds: float = 0.0
    failure: Any = None


def make_rows(entries, n_folds, share_tested, measure):
    """A `Row` an entry, the best first, then those that have not met every fold."""
    whole = [e for e in entries if e.figure is not None and len(e.figure.by_fold) == n_folds]
    whole = [entry for entry in whole if np.isfinite(entry.figure.mean)]
    best = max(whole, key=lambda entry: entry.figure.mean, default=None)
    constant = next((entry for entry in whole if entry.kind == "constant"), None)
    rows = {entry.name: _row(entry, n_folds, share_tested, measure) for entry in entries}
    for entry in whole:
        rows[entry.name] = replace(
            rows[entry.name],
            p_value=_paired(entry, best, share_tested),
            p_constant=_paired(entry, constant, share_tested),
        )
    return sorted(rows.values(), key=_place)


def _place(row):
    return row.status != "done", np.inf if row.mean is None else -row.mean


def _row(entry, n_folds, share_tested, measure):
    name, kind, figure, seconds, failure = entry
    note = failure.message if failure else ""
    status = failure.kind if failure else "waiting" if figure is None else "partial"
    if figure is None:
        return Row(name, kind, status, 0, seconds=seconds, note=note)
    folds = len(figure.by_fold)
    status = "done" if folds == n_folds else status
    scores = {name: _known(value) for name, value in figure.scores.items()}
    if not np.isfinite(figure.mean):
        return Row(name, kind, status, folds, seconds=seconds, note=note, scores=scores)
    low, high = widened(figure, share_tested, measure.limits)
    return Row(
        *(name, kind, status, folds, figure.mean, low, high),
        seconds=seconds,
        note=note,
        scores=scores,
    )


def widened(figure, share_tested, limits):
    """The interval that bags allow, never narrower than what the folds show."""
    half = fold_spread([v for v in figure.by_fold.values() if np.isfinite(v)], share_tested) or 0.0
    low, high = min(figure.low, figure.mean - half), max(figure.high, figure.mean + half)
    return max(low, limits[0]), min(high, limits[1])


def _paired(entry, other, share_tested):
    """The p-value of a test on the folds that both can be measured on."""
    if other is None or entry is other:
        return None
    ours, theirs = entry.figure.by_fold, other.figure.by_fold
    pairs = np.array([(ours[name], theirs[name]) for name in ours])
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    return paired_p_value(pairs[:, 0], pairs[:, 1], share_tested) if len(pairs) else None


def _known(value):
    return float(value) if np.isfinite(value) else None
