"""Sequence learners and their rivals, each with one setting that was fixed beforehand."""

from benchmarks.arhmm._class_models import OnClassModels
from benchmarks.arhmm._methods import (
    OnSequences,
    OnWindows,
    annealed_trees,
    linear_margin,
    rbf_margin,
    spread_logistic,
    spread_trees,
)
from benchmarks.arhmm._window_features import RandomConvolutions
from mixedbag.sequence import ARHMMClassifier, QuantileWindows

STATES, ORDER = 10, 3


def on_states(learner=ARHMMClassifier, **setting):
    return OnSequences(learner, [{"n_states": STATES, "order": ORDER} | setting])


def methods(**more):
    """Fresh learners by name; those in `more` come after ARHMM-MIL."""
    mild = [{"C": 0.01}]  # hundreds of features
    return {
        "ARHMM-MIL": on_states(),
        **more,
        "ARHMM-MIL, level 1": on_states(level=1.0),
        "ARHMM-MIL of order 0": on_states(order=0),
        "mi-SVM on windows": OnWindows(rbf_margin, [{"C": 1.0, "gamma": "scale"}]),
        "MI-Forest on windows": OnWindows(annealed_trees, [{}]),
        "SpreadLabels on windows": OnWindows(spread_logistic, [{"C": 1.0}]),
        "quantiles, extra trees": OnWindows(spread_trees, [{}], make_windows=QuantileWindows),
        "quantiles, MI-Forest": OnWindows(annealed_trees, [{}], make_windows=QuantileWindows),
        "convolutions, mi-SVM": OnWindows(linear_margin, mild, make_windows=RandomConvolutions),
        "convolutions, logistic": OnWindows(spread_logistic, mild, make_windows=RandomConvolutions),
        "HMM a class": OnClassModels([{"n_states": STATES // 2, "order": 0}]),
        "ARHMM a class": OnClassModels([{"n_states": STATES // 2, "order": ORDER}]),
    }
