"""Values of bags that cannot be computed with, and where they are."""

import numpy as np


def check_finite(bags, allow_nan, most):
    """Raise a `ValueError` that names the first NaN, infinity, or value farther out than `most`."""
    values = _stored(bags)
    flat = values.ravel(order="K")
    # The sum of squares is one quick pass; only a suspicious one calls for a closer look.
    with np.errstate(all="ignore"):
        squares = np.vdot(flat, flat)
        if np.isfinite(squares) and squares <= float(most) ** 2:
            return
        bad = ~((np.abs(values) <= most) & np.isfinite(values))
    if allow_nan:
        bad &= ~np.isnan(values)
    if bad.any():
        value, where, feature = _cell(bags, int(np.argmax(bad)))
        advice = ": too large to compute with, scale it first" if np.isfinite(value) else ""
        shown = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else f"{value:.4g}"
        raise ValueError(f"{where} has {shown} in feature {feature}{advice}")


def largest(bags):
    """A sentence on the place of the value farthest from zero."""
    values = _stored(bags)
    if values.size == 0:
        return "all values are zero"
    value, where, feature = _cell(bags, int(np.nanargmax(np.abs(values))))
    return f"the value farthest from zero is {value:.4g}, of feature {feature} in {where}"


def _stored(bags):
    return bags.instances.data if bags.is_sparse else bags.instances


def _cell(bags, place):
    """The value at a place among those stored, and how messages call its row and feature."""
    rows = bags.instances
    if bags.is_sparse:
        row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
        column, value = int(rows.indices[place]), rows.data[place]
    else:
        row, column = divmod(place, bags.n_features)
        value = rows[row, column]
    i = int(np.searchsorted(bags.offsets, row, side="right")) - 1
    names = bags.feature_names
    feature = repr(names[column]) if names else str(column)
    return value, f"instance {row - bags.offsets[i]} of {bags.name(i)}", feature
