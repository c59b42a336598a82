"""Checks of values, labels, weights and options: errors name the bag, feature or option."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mixedbag._tables import is_missing
from mixedbag.bags import Bags
from mixedbag.exceptions import InputError

# No measurement is this large. Trees and neighbours compare values in single precision, most other
# learners square them: a million of these squares still have a finite sum. By the size in bytes.
_LARGEST = {4: 1e15, 8: 1e30}
_ROUNDED = 1e-12


def refuse_unusable(bags: Bags, allow_nan: bool, largest: float = np.inf) -> None:
    """Raise a `ValueError` that names the first value that no learner could compute with.

    So does a value farther from zero than `largest`, for learners that ask for more.
    """
    bags.check_finite(allow_nan, min(largest, _LARGEST[bags.instances.dtype.itemsize]))


def read_weights(bags: Bags, sample_weight: ArrayLike | None) -> np.ndarray:
    """Bag weights as floats: ones by default; negative, missing or all-zero ones are refused."""
    if sample_weight is None:
        return np.ones(len(bags))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(len(bags), float(weight))
    if weight.ndim != 1:
        raise InputError("Sample weights must be 1D array or scalar: one a bag")
    if len(weight) != len(bags):
        raise InputError(f"{len(weight)} weights for {len(bags)} bags")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(f"{bags.name(i)} has weight {weight[i]}: weights must not be negative")
    if not weight.any():
        raise InputError("all bags have weight zero")
    return weight


def refuse_missing_labels(bags: Bags, y: np.ndarray) -> None:
    """Raise a `ValueError` that names the first bag whose label is NaN, None or infinite."""
    missing = unlabelled(y)
    if y.dtype.kind == "f":
        missing |= np.isinf(y).reshape(len(y), -1).any(axis=1)
    if missing.any():
        i = int(np.argmax(missing))
        kind = "infinity" if y.dtype.kind == "f" and np.isinf(y[i]).any() else "NaN"
        raise InputError(f"{bags.name(i)} has no usable label: Input y contains {kind}")


def unlabelled(y: Any) -> np.ndarray:
    """Which bags have no label: None, or a NaN among their numbers."""
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.isnan(y).any(axis=tuple(range(1, y.ndim)))
    if y.dtype.kind == "O" and y.ndim == 1:
        return np.array([is_missing(value) for value in y.tolist()], dtype=bool)
    return np.zeros(len(y), dtype=bool)


def labelled(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Which bags have a label, and those labels: numbers, where only a gap made them objects."""
    y = np.asarray(y)
    known = ~unlabelled(y)
    y = y[known]
    if y.dtype.kind == "O" and not any(isinstance(value, str) for value in y.flat):
        y = np.array(y.tolist())
    return known, y


def note_unlabelled(n: int) -> tuple[str, ...]:
    """What users are told about the `n` bags that were left out."""
    told = f"{n} bags have no label: they are" if n > 1 else "1 bag has no label: it is"
    return (f"{told} not learned from",) if n else ()


def leave_out_unknown(bags: Bags, y: Any, weight: np.ndarray) -> tuple:
    """Bags, targets and weights without the bags of unknown count or total; a warning says so."""
    values = np.asarray(y)
    if values.dtype.kind not in "fO" or len(values) != len(bags):
        return bags, y, weight
    unknown = unlabelled(values)
    if not unknown.any() or unknown.all():
        return bags, y, weight
    first = bags.name(int(unknown.argmax()))
    n_others = unknown.sum() - 1
    others = "1 other" if n_others == 1 else f"{n_others} others"
    some = f" and {others} of {len(bags)} bags have" if n_others else " has"
    warnings.warn(
        f"{first}{some} no known count or total: no part in the fit; instances can be predicted "
        "all the same",
        UserWarning,
        stacklevel=6,
    )
    return bags[~unknown], labelled(values)[1], weight[~unknown]


def alike(mean: np.ndarray) -> bool:
    """Whether all bags have the same, but for rounding (shares of bags of several sizes)."""
    return bool((np.ptp(mean, axis=0) <= _ROUNDED * np.abs(mean).max(axis=0)).all())


def warn_if_alike(bags: Bags, mean: np.ndarray, what: str) -> None:
    """Say so where every bag has the same shares or mean: nothing tells instances apart."""
    if bags.n_instances > len(bags) > 1 and alike(mean):
        warnings.warn(
            f"all {len(bags)} bags have the same {what}: they carry no information on which of "
            "their instances are which",
            UserWarning,
            stacklevel=6,
        )


def named_groups(groups: Any) -> np.ndarray:
    """Groups of instances as an array, with one of each instance."""
    groups = np.asarray(groups)
    missing = unlabelled(groups)
    if missing.any():
        raise InputError(
            f"instance {int(missing.argmax())} has no group: name those that are not known, "
            "such as 'unknown'"
        )
    return groups


def check_choice(name: str, value: Any, options: Sequence[str]) -> None:
    """Raise a `ValueError` that lists the options when `value` is not one of them."""
    if not isinstance(value, str) or value not in options:
        raise InputError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}")
