"""Learn from labels that belong to groups.

A bag of instances carries one label; the instances' own labels are hidden. `Bags` holds the data,
learners follow scikit-learn's conventions and predict at both levels.
"""

import importlib

from mixedbag._version import __version__
from mixedbag.bags import Bags, as_bags

# Everything else is imported on first use, so that `import mixedbag` stays instant.
_HOMES = {"compare": "mixedbag.comparison", "save": "mixedbag.io", "load": "mixedbag.io"}
_SUBPACKAGES = {
    "aggregate",
    "base",
    "boosting",
    "classics",
    "datasets",
    "deep",
    "disjunctive",
    "embeddings",
    "engines",
    "inspection",
    "io",
    "margin",
    "metrics",
    "model_selection",
    "pooling",
    "sequence",
    "testing",
    "wrappers",
}

__all__ = ["Bags", "__version__", "as_bags", "compare", "load", "save"]


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f"mixedbag.{name}")
    raise AttributeError(f"module 'mixedbag' has no attribute {name!r}")


def __dir__():
    return sorted(set(__all__) | _SUBPACKAGES)
