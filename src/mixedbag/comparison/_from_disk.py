"""`fit_from_disk`: one learner on more bags than memory holds, its setting chosen on some."""

import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from mixedbag.comparison._compare import Fitted, choose_setting
from mixedbag.comparison._rules import Guess
from mixedbag.engines import Labelled, SpooledBags
from mixedbag.engines._sampling import sample_bags
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners

_SAMPLE = 2_000_000  # numbers that cross-validation gets, about
_FEWEST = 20  # bags that it gets at least,
_MOST = 20_000_000  # if they do not have more numbers than this together


def fit_from_disk(
    source: SpooledBags,
    rule: str | Guess = "auto",
    learner: str | None = None,
    random_state: int = 0,
    positive: Any = None,
    exposure: str | None = None,
) -> Fitted:
    """Fit one learner on all bags of `source`, which are on disk.

    What takes many fits or all values at once is done on a sample of whole bags: the choice of the
    setting, the calibration of answers, and the preparation (scaling, filling gaps).

    Parameters
    ----------
    source : SpooledBags
        The bags, kept on disk.
    rule, learner, random_state, positive, exposure
        As in `fit_best_setting`; by default a learner that learns from blocks:
        `MILogisticRegression`, `AggregateLogisticRegression` or `AggregateRidgeRegressor`.

    Returns
    -------
    Fitted
        A named tuple of `model`, `name`, `rule` and `setting`.

    See Also
    --------
    fit_best_setting : The same of bags in memory.

    Examples
    --------
    >>> from mixedbag.comparison import fit_from_disk
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.engines import SpooledBags
    >>> parts = [make_any(n_bags=20, random_state=seed) for seed in range(2)]
    >>> fit_from_disk(SpooledBags(parts), "any").model.predict(parts[0].bags).shape
    (20,)
    """
    sample = sample_bags(source.blocks, _sample_size(source))
    chosen = choose_setting(
        *(sample.bags, sample.target, rule, learner, random_state, sample.weight),
        positive=positive,
        exposure=exposure,
        prepare=_learning_from_blocks,
        from_disk=True,
    )
    question, candidate = chosen.protocol.question, chosen.candidate
    classes = question.classes if question.kind == "classes" else None
    if classes is not None and len(unseen := np.setdiff1d(source.labels, classes)):
        raise InputError(f"label {str(unseen[0])!r} is too rare to be learned from disk")
    model = clone(candidate.estimator).set_params(**chosen.setting)
    steps, bags = [step for _, step in model.steps[:-1]], chosen.protocol.bags
    for step in steps:
        bags = step.fit_transform(bags)
    everything = copy.copy(source)
    weight = source.blocks.sum(Labelled.total_weight) / len(source)
    everything.blocks = source.blocks.map(_prepared, steps, classes, weight)
    everything.labels = source.labels if classes is None else np.arange(len(classes))
    everything.n_features, everything.feature_names = bags.n_features, bags.feature_names
    model.steps[-1][1].fit(everything)
    answer = chosen.model({candidate.name: model})
    low, high = zip(*source.blocks.collect(_ranges))
    answer.origin = answer.origin.with_table(
        n_bags=source.n_bags,
        n_instances=source.n_instances,
        low=np.fmin.reduce(low),
        high=np.fmax.reduce(high),
        notes=[
            *answer.origin.notes,
            f"learned from disk; setting, scaling and calibration from {len(bags)} of its bags",
        ],
    )
    return Fitted(answer, candidate.name, question.rule, chosen.setting)


def _sample_size(source):
    """How many instances the sample has, about."""
    n_bags = min(_FEWEST, len(source))
    n_instances = -(-n_bags * source.n_instances // len(source))
    if n_instances * source.n_features > _MOST:
        raise InputError(
            f"bags of {source.n_instances // len(source):,} instances × {source.n_features:,} "
            f"features are too large to be learned from disk: {n_bags} of them, to choose a "
            f"setting on, have more than {_MOST:,} numbers; drop features, thin out instances, or "
            "learn in memory"
        )
    return max(n_instances, _SAMPLE // source.n_features)


def _learning_from_blocks(candidate):
    """The candidate as it learns from blocks: kernel machines are linear there."""
    last = candidate.estimator.steps[-1][1]
    if not hasattr(last, "_fit_blocks"):
        rules = set(getattr(last, "_rules", ("any",)))
        kinds = [kind for kind in all_learners() if rules & set(kind._rules)]
        able = [kind.__name__ for kind in kinds if hasattr(kind, "_fit_blocks")]
        raise InputError(
            f"{candidate.name} needs all bags in memory; from disk learn {', '.join(able)}"
        )
    if "kernel" in last.get_params():
        last.set_params(kernel="linear")
    return candidate


def _prepared(block, steps, classes, weight):
    bags = block.bags
    for step in steps:
        bags = step.transform(bags)
    target = block.target
    if classes is not None:
        order = np.argsort(classes)
        target = order[np.searchsorted(classes, target, sorter=order)]
    return type(block)(bags, target, block.weight / weight)


def _ranges(block):
    X = block.bags.instances
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
