"""Which features matter: what a model loses on unseen bags when one comes from other bags."""

from itertools import chain, islice

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from mixedbag._permutation import with_columns_of_others
from mixedbag.bags import Bags
from mixedbag.comparison._afterwards import FOLDS_ASKED, worth_asking
from mixedbag.comparison.checks._tools import feature_names, filled
from mixedbag.pooling import bag_max, bag_sum

_REPEATS = 3
_TRIED = 24  # features asked about one by one; of more, those that go most with the label
_ROWS = 2_000_000  # instances asked about in all; of larger tables, fewer bags are asked about
_AT_ONCE = 100_000  # of these together
_BLOCK = 2_000_000  # cells screened at a time
_PROMISING = 500  # columns of a sparse table that are screened
_SHOWN = 12


def importance(result):
    """The features that matter most, with their spread; None where there is one alone, or no time.

    The stack is fitted on the training bags of a fold or two and asked about the others; importance
    is how much its loss grows. Of many features, those are asked about one by one that go most with
    the label, and all others together.
    """
    bags = result.bags
    if bags.n_features < 2 or not worth_asking(result):
        return None
    tried = _tried(result)
    others = np.setdiff1d(np.arange(bags.n_features), tried)
    asked = [*tried, others] if len(others) else tried
    finished = result.finalists()
    parts, n_asked = [], 0
    for split in result.splits[:FOLDS_ASKED]:
        model = result.stack_of(finished).model(result.protocol, split)
        test = _affordable(bags, split.test, _ROWS // (FOLDS_ASKED * _REPEATS * len(asked)))
        parts.append(_growth(result, model, test, asked))
        n_asked += len(test)
    values = np.hstack(parts)
    names = [str(feature_names(bags)[j]) for j in tried]
    if len(others):
        names.append(f"the other {len(others)} together")
    order = np.argsort(-values.mean(axis=1), kind="stable")[:_SHOWN]
    return {
        "features": [
            {
                "name": names[k],
                "mean": round(float(values[k].mean()), 5),
                "spread": round(float(values[k].std(ddof=1)), 5),
            }
            for k in order
        ],
        "tried": len(tried),
        "of": bags.n_features,
        "bags": n_asked,
    }


def _affordable(bags, rows, n_instances):
    """As many of the bags, in a random order, as hold so many instances; two at least."""
    order = np.random.default_rng(0).permutation(rows)
    n_bags = np.searchsorted(np.cumsum(bags.sizes[order]), n_instances, side="right")
    return np.sort(order[: max(int(n_bags), 2)])


def _growth(result, model, rows, columns):
    """What the loss on the bags `rows` grows by, a row a column and a column a repeat.

    As `permutation_importance` has it, but the model is asked about all changed bags at once.
    """
    bags, random = result.bags[rows], np.random.RandomState(0)
    changed = chain.from_iterable(
        with_columns_of_others(bags, columns, random) for _ in range(_REPEATS)
    )
    whole = _losses(result.question, model, [bags], rows)
    at_once = max(1, _AT_ONCE // bags.n_instances)
    losses: list = []
    while some := list(islice(changed, at_once)):
        losses += _losses(result.question, model, some, rows)
    return (np.array(losses) - whole).reshape(_REPEATS, len(columns)).T


def _losses(question, model, parts, rows):
    """The mean loss of each of several versions of the bags `rows`."""
    bags = Bags.concat(parts)
    if question.kind == "classes":
        answers = model.predict_proba(bags)
    else:
        answers = np.asarray(model.predict(bags), dtype=np.float64)
    answers = answers.reshape(len(parts), len(rows), -1)
    return [question.mean(question.loss(answer, rows), rows) for answer in answers]


def _tried(result):
    """All features, or of many those whose mean or extremes in a bag go most with the label."""
    bags, question = result.bags, result.question
    if bags.n_features <= _TRIED:
        return list(range(bags.n_features))
    truth = question.codes if question.kind == "classes" else question.cases.truth[:, -1]
    label = rankdata(truth) - (len(bags) + 1) / 2
    X, columns = bags.instances, np.arange(bags.n_features)
    if bags.is_sparse:
        columns = _promising(X, bags, label)
        X = sparse.csc_array(X)[:, columns]
    width = max(1, _BLOCK // bags.n_instances)
    blocks = range(0, len(columns), width)
    merit = np.concatenate([_merit(X[:, at : at + width], bags, label) for at in blocks])
    return np.sort(columns[np.argsort(-merit, kind="stable")[:_TRIED]]).tolist()


def _promising(X, bags, label):
    """The columns of a sparse table whose sum weighted by the label is largest for its size."""
    per_row = (label / bags.sizes)[bags.bag_of]
    size = np.sqrt(np.asarray(X.power(2).sum(axis=0)).ravel())
    merit = np.abs(X.T @ per_row) / np.maximum(size, 1e-300)
    return np.sort(np.argsort(-merit, kind="stable")[:_PROMISING])


def _merit(X, bags, label):
    """How much the smallest, mean or largest value of each feature in a bag goes with the label."""
    X = filled(X.toarray() if sparse.issparse(X) else X)
    parts = -bag_max(-X, bags.offsets), bag_sum(X, bags.offsets) / bags.sizes[:, None]
    merits = []
    for values in (*parts, bag_max(X, bags.offsets)):
        ranks = rankdata(values, axis=0)
        ranks = (ranks - ranks.mean(axis=0)) / np.maximum(ranks.std(axis=0), 1e-12)
        merits.append(np.abs(label @ ranks))
    return np.max(merits, axis=0)
