"""Parameters are declared: what each may be, said once, checked at every fit, in plain words.

A learner lists its parameters in ``_parameter_constraints``, scikit-learn's mechanism: a name, and
the kinds of value that it may have. The words below make such kinds; ``None``, a type, "boolean",
"array-like" and the rest of scikit-learn's words go with them::

    _parameter_constraints = {
        "C": [above(0)],
        "gamma": [above(0), one_of("scale", "auto")],
        "n_init": [whole(1)],
    }

A subclass lists what it adds. `BagEstimator` knows the parameters that mean the same everywhere.
"""

from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any

from numpy.random import RandomState

# The one place that leans on this private module, which is how scikit-learn's own estimators and
# those of its satellites declare parameters since 1.2.
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    make_constraint,
)


def whole(low: int | None, high: int | None = None) -> Interval:
    """A whole number from `low` to `high`, both included; None is no limit."""
    closed = "left" if high is None else "right" if low is None else "both"
    return Interval(Integral, low, high, closed=closed)


def at_least(low: float) -> Interval:
    """A finite number that is `low` or more."""
    return Interval(Real, low, None, closed="left")


def above(low: float) -> Interval:
    """A finite number that is more than `low`."""
    return Interval(Real, low, None, closed="neither")


def between(low: float, high: float, closed: str = "both") -> Interval:
    """A number from `low` to `high`; `closed` says which of them it may be itself."""
    return Interval(Real, low, high, closed=closed)


def number() -> Interval:
    """Any finite number."""
    return Interval(Real, None, None, closed="neither")


def one_of(*names: str) -> StrOptions:
    """One of a few words."""
    return StrOptions(set(names))


def having(*methods: str) -> HasMethods:
    """An object with certain methods."""
    return HasMethods(list(methods))


# What these mean is the same in every learner that has them.
COMMON: dict[str, list] = {
    "aggregate": [one_of("sum", "mean")],
    "class_weight": [one_of("balanced"), Mapping, None],
    "n_jobs": [whole(1), whole(None, -1), None],
    "random_state": [whole(0, 2**32 - 1), RandomState, None],
    "tol": [at_least(0)],
}


@cache
def declared(kind: type) -> dict[str, list]:
    """The constraints of a class: its own, and those of its bases."""
    found: dict[str, list] = {}
    for base in reversed(kind.__mro__):
        found |= vars(base).get("_parameter_constraints", {})
    return found


def check_parameters(params: Mapping[str, Any], constraints: Mapping[str, list]) -> None:
    """Raise an error (a `ValueError` and a `TypeError`) on the first value that is not allowed."""
    for name, value in params.items():
        kinds = constraints.get(name, ())
        if kinds and not any(make_constraint(kind).is_satisfied_by(value) for kind in kinds):
            words = _listed([word for kind in kinds for word in _described(kind)])
            raise InvalidParameterError(f"{name} must be {words}, got {value!r}")


def _described(kind):
    """The values of one kind, in words that finish the sentence "it must be … or …"."""
    if isinstance(kind, StrOptions):
        return [repr(name) for name in sorted(kind.options)]
    if isinstance(kind, Interval):
        return [_range(kind)]
    if isinstance(kind, HasMethods):
        return [f"an object with the methods {' and '.join(sorted(kind.methods))}"]
    if isinstance(kind, type):
        return [f"a {kind.__name__}"]
    return [_WORDS.get(kind) or str(make_constraint(kind))]


def _range(kind):
    noun = "a whole number" if kind.type is Integral else "a number"
    if kind.closed == "both":
        return f"{noun} from {kind.left} to {kind.right}"
    limits = []
    if kind.left is not None:
        limits.append(f"{'of at least' if kind.closed == 'left' else 'above'} {kind.left}")
    if kind.right is not None:
        limits.append(f"{'of at most' if kind.closed == 'right' else 'below'} {kind.right}")
    return " ".join([noun, *limits[:1], *(f"and {limit}" for limit in limits[1:])])


def _listed(words):
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


_WORDS = {"boolean": "True or False", callable: "a function"}
