"""Find every learner of the package, so that a new one takes part the moment it exists."""

import importlib.util
import inspect

from mixedbag.base import BagEstimator

__all__ = ["all_learners"]

# The families of learners; bases, wrappers and tools are not learners of their own.
FAMILIES = ("aggregate", "boosting", "classics", "disjunctive", "embeddings", "margin", "sequence")
# Families that take part where the package they are made of is installed.
OPTIONAL = {"deep": "torchmil"}


def all_learners(
    broken: dict[str, str] | None = None, *, installed: bool = True
) -> list[type[BagEstimator]]:
    """All public learner classes of mixedbag, sorted by name: those that a family's list names.

    Parameters
    ----------
    broken : dict, optional
        Where to note families that cannot be imported, with the reason; without it they raise.
    installed : bool, default=True
        Whether to leave out those made of a package that is not installed: the extra "torch".

    Returns
    -------
    list of classes
        The learners.

    See Also
    --------
    mixedbag.testing.example_learners : An instance of each, with settings that fit quickly.

    Examples
    --------
    >>> from mixedbag.learners import all_learners
    >>> [learner.__name__ for learner in all_learners() if "Rectangle" in learner.__name__]
    ['AxisParallelRectangle', 'EliminationRectangle']
    """
    found: dict[str, type[BagEstimator]] = {}
    optional = filter(_is_installed, OPTIONAL) if installed else OPTIONAL
    for name in (*FAMILIES, *optional):
        try:
            family = importlib.import_module(f"mixedbag.{name}")
        except Exception as error:
            if broken is None:
                raise
            broken[f"mixedbag.{name}"] = f"{type(error).__name__}: {error}"
            continue
        members = {name: getattr(family, name) for name in family.__all__}
        found |= {name: kind for name, kind in members.items() if _is_learner(kind)}
    return [found[name] for name in sorted(found)]


def _is_installed(family):
    return importlib.util.find_spec(OPTIONAL[family]) is not None


def _is_learner(member):
    return (
        inspect.isclass(member) and issubclass(member, BagEstimator) and hasattr(member, "predict")
    )


def __dir__():
    return __all__
