"""Which features matter: what a model loses on unseen bags when one comes from other bags."""

from itertools import chain, islice

import numpy as np
from scipy.stats import rankdata

from mixedbag.bags import Bags
from mixedbag.comparison._afterwards import FOLDS_ASKED, worth_asking
from mixedbag.inspection import with_columns_of_others

_REPEATS = 3
_TRIED = 24  # features; of more, those that go most with the label
_ROWS = 2_000_000  # instances asked about in all
_AT_ONCE = 100_000  # of these together
_SHOWN = 12


def importance(result):
    """The features that matter most, with their spread; None where asking takes too long.

    The stack is fitted on the training bags of a fold or two and asked about the others; importance
    is how much its loss grows.
    """
    bags = result.bags
    tried = _tried(result)
    work = bags.n_instances / len(result.splits) * _REPEATS * len(tried)
    if bags.is_sparse or work > _ROWS or len(tried) < 2 or not worth_asking(result):
        return None
    finished = result.finalists()
    parts = []
    for split in result.splits[:FOLDS_ASKED]:
        model = result.stack_of(finished).model(result.protocol, split)
        parts.append(_growth(result, model, split.test, tried))
    values = np.hstack(parts)
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    order = np.argsort(-values.mean(axis=1), kind="stable")[:_SHOWN]
    return {
        "features": [
            {
                "name": str(names[tried[k]]),
                "mean": round(float(values[k].mean()), 5),
                "spread": round(float(values[k].std(ddof=1)), 5),
            }
            for k in order
        ],
        "tried": len(tried),
        "of": bags.n_features,
    }


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
    if bags.n_features <= _TRIED or bags.is_sparse:
        return list(range(bags.n_features))
    from mixedbag.comparison.checks._tools import statistics

    known = statistics(bags)
    if known is None:
        return list(range(_TRIED))
    ranks = rankdata(known[1], axis=0)
    ranks = (ranks - ranks.mean(axis=0)) / np.maximum(ranks.std(axis=0), 1e-12)
    truth = question.codes if question.kind == "classes" else question.cases.truth[:, -1]
    label = rankdata(truth)
    merit = np.abs((label - label.mean()) @ ranks).reshape(3, -1).max(axis=0)
    return np.sort(np.argsort(-merit, kind="stable")[:_TRIED]).tolist()
