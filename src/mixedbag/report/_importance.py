"""Which features matter: what a model loses on unseen bags when one comes from other bags."""

import numpy as np
from scipy.stats import rankdata

from mixedbag.inspection import permutation_importance

_FOLDS = 2
_REPEATS = 3
_TRIED = 24  # features; of more, those that go most with the label
_ROWS = 2_000_000  # instances asked about in all
_SHOWN = 12


def importance(result):
    """The features that matter most, with their spread; None where asking takes too long.

    The stack is fitted on the training bags of a fold or two and asked about the others; importance
    is how much its loss grows.
    """
    bags = result.bags
    tried = _tried(result)
    work = bags.n_instances / len(result.splits) * _REPEATS * len(tried)
    if bags.is_sparse or work > _ROWS or len(tried) < 2:
        return None
    finished = result.finalists()
    parts = []
    for split in result.splits[:_FOLDS]:
        model = result.stack_of(finished).model(result.protocol, split)
        found = permutation_importance(
            model,
            bags[split.test],
            split.test,
            scoring=_minus_loss(result),
            n_repeats=_REPEATS,
            random_state=0,
            features=tried,
        )
        parts.append(found.importances)
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


def _minus_loss(result):
    """A scorer whose labels are the places of the bags: the loss knows what is true of them."""
    question = result.question

    def score(model, bags, rows):
        if question.kind == "classes":
            answer = model.predict_proba(bags)
        else:
            answer = np.asarray(model.predict(bags), dtype=np.float64).reshape(len(rows), -1)
        return -question.mean(question.loss(answer, rows), rows)

    return score


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
