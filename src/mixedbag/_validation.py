"""Checks of what users pass, with errors that name the bag, the feature or the option."""

import warnings

import numpy as np

from mixedbag.bags import Bags


def is_plain_rows(x):
    """Whether `x` is a plain table, whose rows would be bags of one."""
    if isinstance(x, Bags):
        return False
    if hasattr(x, "columns") or getattr(x, "ndim", None) == 2:
        return True
    return isinstance(x, (list, tuple)) and len(x) > 0 and np.ndim(x[0]) < 2


def check_features(estimator, n_features, names):
    """Refuse features other than those an estimator was fitted on."""
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    known = getattr(estimator, "feature_names_in_", None)
    if names is None or known is None or list(known) == names:
        if (names is None) != (known is None):
            _warn_about_names(type(estimator).__name__, names)
        return
    lines = ["The feature names should match those that were passed during fit."]
    unseen = sorted(set(names) - set(known))
    missing = sorted(set(known) - set(names))
    if unseen:
        lines += ["Feature names unseen at fit time:", *(f"- {n}" for n in unseen[:5])]
    if missing:
        lines += ["Feature names seen at fit time, yet now missing:"]
        lines += [f"- {n}" for n in missing[:5]]
    if not unseen and not missing:
        lines += ["Feature names must be in the same order as they were in fit."]
    raise ValueError("\n".join(lines) + "\n")


def _warn_about_names(learner, names):
    if names is None:
        message = (
            f"X does not have valid feature names, but {learner} was fitted with feature names"
        )
    else:
        message = f"X has feature names, but {learner} was fitted without feature names"
    warnings.warn(message, UserWarning, stacklevel=5)


def read_weights(bags, sample_weight):
    """Bag weights as floats: ones by default; negative, missing or all-zero ones are refused."""
    if sample_weight is None:
        return np.ones(len(bags))
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(len(bags), float(weight))
    if weight.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar: one a bag")
    if len(weight) != len(bags):
        raise ValueError(f"{len(weight)} weights for {len(bags)} bags")
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"{bags.name(i)} has weight {weight[i]}: weights must not be negative")
    if not weight.any():
        raise ValueError("all bags have weight zero")
    return weight


def refuse_missing_labels(bags, y):
    """Raise a `ValueError` that names the first bag whose label is NaN, None or infinite."""
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in y.tolist()], dtype=bool)
    else:
        return
    if missing.any():
        i = int(np.argmax(missing))
        kind = "infinity" if y.dtype.kind == "f" and np.isinf(y[i]) else "NaN"
        raise ValueError(f"{bags.name(i)} has no usable label: Input y contains {kind}")


def check_choice(name, value, options):
    """Raise a `ValueError` that lists the options when `value` is not one of them."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; got {value!r}")
