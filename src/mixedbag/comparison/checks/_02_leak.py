"""Whether one number alone gives the label away: often one that is only known afterwards."""

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mixedbag.comparison.checks._tools import statistics

TITLE = "A single number gives the label away"
LEVEL = "warning"
_BY_FEATURE, _BY_SIZE = 0.95, 0.8  # balanced accuracy, or R², on unseen bags
_TRIED = 3
_PIECES = 16  # of a column, and leaves of a tree
_FEWEST = 12


def find(result):
    if len(result.bags) < _FEWEST:
        return None
    size = result.bags.sizes.astype(np.float64)
    target = _target(result)
    if np.ptp(size) > 0 and _alone(result, size, target) >= _BY_SIZE:
        return (
            f"The number of instances of a bag alone tells its label "
            f"({_said(result, _alone(result, size, target))} on unseen bags).",
            "If bags are larger for a reason that comes after the label, cut them to one size or "
            "leave out what makes them grow.",
        )
    known = statistics(result.bags)
    if known is None:
        return None
    names, table = known
    for j in _most_telling(table, target):
        quality = _alone(result, table[:, j], target)
        if quality >= _BY_FEATURE:
            how = "" if result.bags.feature_names is None else " with --drop"
            return (
                f"From {names[j]} alone, {_said(result, quality)} on unseen bags.",
                f"If it is only known after the label, or made from it, leave it out{how}.",
            )
    return None


def _target(result):
    """Codes of classes, or amounts; of counts the share, which does not grow with the bag."""
    question = result.question
    if question.kind == "classes":
        return question.codes
    amounts = question.cases.truth[:, -1]
    return amounts / question.cases.sizes if question.kind == "counts" else amounts


def _most_telling(table, target):
    """The columns that the label goes most with: by rank, or in pieces, as dates and batches do."""
    ranks = rankdata(table, axis=0)
    pieces = np.minimum((ranks - 1) * _PIECES // len(table), _PIECES - 1).astype(np.int64)
    ranks -= ranks.mean(axis=0)
    scale = np.maximum(np.sqrt((ranks**2).sum(axis=0)), 1e-12)
    columns = [target == k for k in np.unique(target)] if target.dtype.kind in "iu" else [target]
    by_rank, by_piece = np.zeros((2, table.shape[1]))
    for column in columns:
        label = rankdata(column) - (len(column) + 1) / 2
        by_rank = np.maximum(by_rank, np.abs(label @ ranks) / scale)
        by_piece = np.maximum(by_piece, [_between(label, piece) for piece in pieces.T])
    best = [np.argsort(-merit, kind="stable")[:_TRIED] for merit in (by_rank, by_piece)]
    return list(dict.fromkeys(np.concatenate(best).tolist()))


def _between(label, piece):
    """How much the means of a centred label differ between pieces of a column."""
    total, n = np.bincount(piece, label), np.bincount(piece)
    return float((total**2 / np.maximum(n, 1)).sum())


def _alone(result, values, target):
    """How well a small tree on one column answers about unseen bags."""
    is_class = result.question.kind == "classes"
    weight = result.question.weight
    answer = np.empty(len(target), dtype=target.dtype if is_class else np.float64)
    for split in result.splits:
        tree = (
            DecisionTreeClassifier(max_leaf_nodes=_PIECES, min_samples_leaf=2, random_state=0)
            if is_class
            else DecisionTreeRegressor(max_leaf_nodes=_PIECES, random_state=0)
        )
        tree.fit(values[split.train, None], target[split.train], weight[split.train])
        answer[split.test] = tree.predict(values[split.test, None])
    score = balanced_accuracy_score if is_class else r2_score
    return float(score(target, answer, sample_weight=weight))


def _said(result, quality):
    if result.question.kind == "classes":
        return f"{100 * quality:.0f} % are right, every class counted alike,"
    return f"R² {quality:.2f}"
