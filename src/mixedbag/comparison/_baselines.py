"""The honest baselines that every clever method must face: a line of scikit-learn each."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from mixedbag._forests import ExtraTrees, RandomForest
from mixedbag.bags import as_bags
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels

# Labels spread over a bag are noisy: small leaves would learn them by heart.
_CALM = {"min_samples_leaf": 3}
_SVM_GRID = {"model__C": [1.0, 10.0, 100.0]}


class Offer(NamedTuple):
    """An unfitted learner, a small grid for it, and whether it wants standardised features."""

    name: str
    learner: Any
    grid: dict
    scaled: bool = False


class BagMeanRegressor(RegressorMixin, BaseEstimator):
    """Amounts of bags from their statistics: the mean an instance, times the size of the bag.

    Learning the mean, not the total, keeps it sensible for bags of another size, and so for single
    instances.

    Parameters
    ----------
    estimator : scikit-learn regressor
    """

    _accepts_sparse = True
    _accepts_nan = False

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, bags, y, sample_weight=None):
        bags = as_bags(bags)
        self.n_features_in_ = bags.n_features
        if bags.feature_names is not None:
            self.feature_names_in_ = np.asarray(bags.feature_names, dtype=object)
        means = (np.asarray(y).T / bags.sizes).T
        self.model_ = _summary(clone(self.estimator))
        self.model_.fit(bags, means, model__sample_weight=sample_weight)
        return self

    def predict(self, bags):
        bags = as_bags(bags)
        return (self.model_.predict(bags).T * bags.sizes).T


def baselines(rule):
    """What plain scikit-learn can offer for a rule, the quickest first."""
    if rule in ("count", "proportion", "sum", "mean"):
        counts, adds_up = rule in ("count", "proportion"), rule in ("count", "sum")
        aggregate, of_bags = ("sum", BagMeanRegressor) if adds_up else ("mean", _summary)
        return [
            *(_spread_counts(aggregate) if counts else _spread_totals(aggregate)),
            Offer("bag statistics + extra trees", of_bags(ExtraTreesRegressor()), {}),
            Offer("bag statistics + forest", of_bags(RandomForestRegressor()), {}),
        ]
    offers = [
        Offer("bag statistics + SVM", _summary(SVC()), _SVM_GRID, scaled=True),
        Offer("bag statistics + extra trees", _summary(ExtraTrees()), {}),
        Offer("bag statistics + forest", _summary(RandomForest()), {}),
    ]
    return [*offers, *(_of_windows() if rule == "sequence" else _spread_labels(rule))]


def _spread_labels(rule):
    logistic = SpreadLabels(LogisticRegression(max_iter=1000), rule=rule)
    forest = SpreadLabels(RandomForest(**_CALM), rule=rule)
    grid = {"estimator__C": [0.01, 0.1, 1.0]}
    return [
        Offer("spread labels + logistic", logistic, grid, scaled=True),
        Offer("spread labels + forest", forest, {}),
    ]


def _of_windows():
    """Sequences cut into windows, described by numbers: bags again."""
    from mixedbag.classics import MIForestClassifier, MILogisticRegression
    from mixedbag.sequence import QuantileWindows, SlidingWindows, StateWindows

    logistic = SpreadLabels(LogisticRegression(max_iter=1000, C=0.1), rule="majority")
    learners: dict[str, list[Any]] = {
        "logistic": [InstanceWise(StandardScaler()), logistic],
        "MILogisticRegression": [InstanceWise(StandardScaler()), MILogisticRegression()],
        "forest": [BagFeatures(), RandomForest()],
    }
    sizes = {"slidingwindows__size": [50, 20]}
    offers = [
        Offer(f"windows + {name}", make_pipeline(SlidingWindows(), *steps), sizes)
        for name, steps in learners.items()
    ]
    described = {"quantiles": QuantileWindows(), "states": StateWindows()}
    return offers + [
        Offer(f"{name} of windows + MI-Forest", make_pipeline(windows, MIForestClassifier()), {})
        for name, windows in described.items()
    ]


def _spread_counts(aggregate):
    given = {"rule": "mean", "aggregate": aggregate}
    logistic = SpreadLabels(LogisticRegression(max_iter=1000), **given)
    forest = SpreadLabels(RandomForest(**_CALM), **given)
    noun = "counts" if aggregate == "sum" else "shares"
    return [
        Offer(f"spread {noun} + logistic", logistic, {"estimator__C": [0.1, 1.0]}, scaled=True),
        Offer(f"spread {noun} + forest", forest, {}),
    ]


def _spread_totals(aggregate):
    given = {"rule": "mean", "aggregate": aggregate}
    ridge, svm = (SpreadLabels(model, **given) for model in (Ridge(), SVR()))
    forest = SpreadLabels(RandomForestRegressor(**_CALM), **given)
    noun = "totals" if aggregate == "sum" else "means"
    alphas = {"estimator__alpha": [0.1, 1.0, 10.0, 100.0]}
    return [
        Offer(f"spread {noun} + ridge", ridge, alphas, scaled=True),
        Offer(f"spread {noun} + SVM", svm, {"estimator__C": [1.0, 10.0]}, scaled=True),
        Offer(f"spread {noun} + forest", forest, {}),
    ]


def _summary(model):
    return Pipeline([("statistics", BagFeatures()), ("model", model)])
