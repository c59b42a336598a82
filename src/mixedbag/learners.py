"""Find every learner of the package, so that a new one takes part the moment it exists."""

import importlib.util
import inspect
import pkgutil

import mixedbag
from mixedbag.base import BagEstimator

# The families of learners; bases, wrappers and tools are not learners of their own.
_FAMILIES = ("aggregate", "boosting", "classics", "disjunctive", "margin", "sequence")


def all_learners(broken=None):
    """All public learner classes of mixedbag, sorted by name.

    Parameters
    ----------
    broken : dict, optional
        Where to note modules that cannot be imported, with the reason; without it they raise.
    """
    found = {}
    for module in _modules(broken):
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


def _modules(broken):
    for package in pkgutil.iter_modules(mixedbag.__path__, "mixedbag."):
        if package.name.removeprefix("mixedbag.") not in _FAMILIES:
            continue
        names = [package.name]
        if package.ispkg:
            path = importlib.util.find_spec(package.name).submodule_search_locations
            names += [info.name for info in pkgutil.walk_packages(path, package.name + ".")]
        for name in names:
            try:
                yield importlib.import_module(name)
            except Exception as error:
                if broken is None:
                    raise
                broken[name] = f"{type(error).__name__}: {error}"
