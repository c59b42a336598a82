"""Find every learner of the package, so that a new one is under test the moment it exists."""

import importlib
import inspect
import pkgutil

import mixedbag
from mixedbag.base import BagEstimator
from mixedbag.testing.configurations import FAST

# Bases and wrappers are not learners of their own; the wrappers have tests of their own.
_NOT_LEARNERS = ("mixedbag.base", "mixedbag.counts", "mixedbag.wrappers", "mixedbag.testing")


def all_learners():
    """All public learner classes of mixedbag, sorted by name."""
    found = {}
    for info in pkgutil.walk_packages(mixedbag.__path__, "mixedbag."):
        if info.name.startswith((*_NOT_LEARNERS, "mixedbag.cli", "mixedbag.report")):
            continue
        module = importlib.import_module(info.name)
        for name, member in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(member, BagEstimator)
                and not name.startswith("_")
                and member.__module__ == module.__name__
                and hasattr(member, "predict")
                and not inspect.isabstract(member)
            ):
                found[name] = member
    return [found[name] for name in sorted(found)]


def example_learners():
    """One quick instance of every learner, for tests."""
    return [learner(**FAST.get(learner.__name__, {})) for learner in all_learners()]
