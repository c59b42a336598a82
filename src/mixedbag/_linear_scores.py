"""What a linear model needs of a row, its scores, and of a bag: one score that is pooled of them.

So an engine of tables can answer for the rows where they lie. Answers are those of a *twin*: the
same model, with the scores for features, on bags that are reduced to one row.
"""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixedbag._evidence import is_pipeline
from mixedbag.pooling import Max, Mean, NoisyOr, Sum

# Aggregates of the engine, for scores s. Of the noisy or, Σ log(1 + eˢ) = t, and log(eᵗ - 1) by a
# series where t is small; the inverse hyperbolic tangent is the logarithm that is precise near 1.
# Where t is smaller than numbers are precise, rows must be looked at.
_TOTAL = "sum(greatest({0}, 0) + 2 * atanh(exp(-abs({0})) / (2 + exp(-abs({0})))))"
_POOLED = {
    Max(): "max({0})",
    Mean(): "avg({0})",
    Sum(): "sum({0})",
    NoisyOr(): (
        f"case when {_TOTAL} < 1e-306 then error('no score') "
        f"when {_TOTAL} < 0.01 then ln({_TOTAL}) + {_TOTAL} / 2 + {_TOTAL} ** 2 / 24 - "
        f"{_TOTAL} ** 4 / 2880 else {_TOTAL} + ln(1 - exp(-{_TOTAL})) end"
    ),
}


@dataclass(frozen=True)
class LinearScore:
    """The score ``(x - centre) @ coef + intercept`` of a row, gaps in `x` filled where it can be.

    `centre` is apart, because features may be far from zero beside their spread. `fill` is NaN
    where a gap is refused; `pooled` is the SQL that makes one of many scores ``{0}``.
    Steps before the learner compute in the precision of the table: `stepped` says that some did.
    """

    coef: np.ndarray
    intercept: float
    pooled: str
    centre: np.ndarray
    fill: np.ndarray
    stepped: bool = False

    def before(self, step):
        """The same score of what `step` makes its features of, or None."""
        inner: Any = getattr(step, "transformer_", None)
        name = type(inner).__name__  # by which no library is imported to find out
        if name == "SimpleImputer":
            gaps = inner.missing_values != inner.missing_values  # NaN, and no code for a gap
            if not gaps or inner.add_indicator or not np.isfinite(inner.statistics_).all():
                return None
            return replace(self, fill=inner.statistics_, stepped=True)
        if name == "StandardScaler":
            centre, scale = inner.mean_ if inner.with_mean else None, inner.scale_
        elif name == "MaxAbsScaler" and not getattr(inner, "clip", False):
            centre, scale = None, inner.scale_
        else:
            return None
        centre = np.zeros(len(self.coef)) if centre is None else centre
        scale = np.ones(len(self.coef)) if scale is None else scale
        return replace(
            self,
            coef=self.coef / scale,
            centre=centre + scale * self.centre,
            fill=centre + scale * self.fill,
            stepped=True,
        )


@dataclass(frozen=True)
class LinearAnswers:
    """The scores that a model asks of each row, and the `twin` that answers by them."""

    scores: list
    twin: Any


def linear_answers(model):
    """The `LinearAnswers` of a model about bags, or None where rows must be looked at."""
    found: list = []
    twin = _twin(model, found)
    if twin is None:
        return None
    for k, (learner, _) in enumerate(found):
        learner.coef_, learner.intercept_ = np.eye(len(found))[k], 0.0
        learner.n_features_in_ = len(found)
    return LinearAnswers([score for _, score in found], twin)


def _twin(model, found):
    """The twin of a model, or None; its learners are noted in `found` with their scores."""
    if is_pipeline(model):
        return _twin_of_steps(model, found)
    if hasattr(model, "members"):
        return _twin_of_members(model, found)
    linear = getattr(model, "_linear", False) and getattr(model, "coef_", np.empty(())).ndim == 1
    if not linear or model._pooling not in _POOLED:
        return None
    n = len(model.coef_)
    parts = np.asarray(model.coef_), float(model.intercept_), _POOLED[model._pooling]
    twin = copy.copy(model)
    vars(twin).pop("feature_names_in_", None)
    found.append((twin, LinearScore(*parts, np.zeros(n), np.full(n, np.nan))))
    return twin


def _twin_of_steps(model, found):
    inner: list = []
    twin = _twin(model.steps[-1][1], inner)
    for learner, score in inner:
        for _, step in reversed(model.steps[:-1]):
            score = None if score is None else score.before(step)
        if score is None:
            return None
        found.append((learner, score))
    return twin


def _twin_of_members(model, found):
    """Of members that have weight: no other is asked about bags."""
    if not hasattr(model, "origin") or model.origin.rule in ("count", "proportion"):
        return None  # which look at the sizes of bags
    twin = copy.copy(model)
    asked = [m for m, weight in enumerate(model.weights) if weight > 0]
    twin.members = [_twin(model.members[m], found) for m in asked]
    twin.calibrators = [model.calibrators[m] for m in asked]
    twin.weights = [model.weights[m] for m in asked]
    return None if None in twin.members else twin
