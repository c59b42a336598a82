"""What mistakes cost, as people write it: "10:1", or a small table."""

import numpy as np

from mixedbag.exceptions import InputError


def read_costs(given, classes):
    """A table of costs, a row a true class and a column an answered one; None stays None.

    Parameters
    ----------
    given : str, array of shape (n_classes, n_classes), or None
        ``"10:1"`` for two classes: a positive bag that is missed costs 10, a false alarm 1. Or a
        table, as an array or as text with a row a true class in the order of `classes`:
        ``"0,1;10,0"``.
    classes : array
        The classes, the positive one of two last.
    """
    if given is None:
        return None
    n_classes, order = len(classes), ", ".join(map(str, classes.tolist()))
    how = f'write "miss:alarm", such as 10:1, or a row a true class (in the order {order})'
    try:
        costs = _parsed(given)
    except ValueError as error:
        raise InputError(f"the costs {given!r} cannot be read: {how}") from error
    if costs.shape != (n_classes, n_classes):
        raise InputError(f"costs {given!r} are no table of {n_classes} by {n_classes}: {how}")
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise InputError(f"the costs {given!r} must be finite and not negative")
    if np.diag(costs).any():
        raise InputError(f"a right answer costs nothing: the diagonal of {given!r} must be zero")
    if not (costs + np.eye(n_classes) > 0).all():
        raise InputError(f"a mistake that costs nothing is none: {given!r} has a zero")
    return costs


def _parsed(given):
    if not isinstance(given, str):
        return np.array(given, dtype=np.float64, ndmin=2)
    if ":" in given:
        miss, alarm = (float(part) for part in given.split(":"))
        return np.array([[0.0, alarm], [miss, 0.0]])
    return np.array([[float(v) for v in row.split(",")] for row in given.split(";")])
