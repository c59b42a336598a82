"""Values of instances by bag: the sum, the largest and the like of each, and the way back.

Bags lie one after the other in flat arrays; offsets say where each begins. Users find these in
`mixedbag.pooling`.
"""

import numpy as np


def spread(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """One value a bag, repeated to one an instance.

    Parameters
    ----------
    values : array of shape (n_bags, …)
        A value, or a row of values, for each bag.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins, as in `Bags`.

    Returns
    -------
    array of shape (n_instances, …)
        The value of each instance's bag.

    See Also
    --------
    bag_sum : The way back, adding up.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import spread
    >>> spread(np.array([7, 8]), np.array([0, 3, 4]))
    array([7, 7, 7, 8])
    """
    return np.repeat(values, offsets[1:] - offsets[:-1], axis=0)


def bag_sum(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sum of each bag's values; a table is summed column by column.

    Parameters
    ----------
    values : array of shape (n_instances, …)
        A value, or a row of values, for each instance.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins, as in `Bags`.

    Returns
    -------
    array of shape (n_bags, …)
        The sums.

    See Also
    --------
    bag_max : The largest in place of the sum.
    spread : The way back: one value a bag to all of its instances.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import bag_sum
    >>> bag_sum(np.array([1, 2, 3, 10]), np.array([0, 3, 4]))
    array([ 6, 10])
    """
    return np.add.reduceat(values, offsets[:-1], axis=0)


def bag_max(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Largest of each bag's values; a table is searched column by column.

    Parameters
    ----------
    values : array of shape (n_instances, …)
        A value, or a row of values, for each instance.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins, as in `Bags`.

    Returns
    -------
    array of shape (n_bags, …)
        The largest values.

    See Also
    --------
    bag_argmax : Where they are.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import bag_max
    >>> bag_max(np.array([1, 3, 2, 10]), np.array([0, 3, 4]))
    array([ 3, 10])
    """
    return np.maximum.reduceat(values, offsets[:-1], axis=0)


def bag_argmax(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Row of the (first) largest value of each bag; a table is searched column by column.

    Parameters
    ----------
    values : array of shape (n_instances, …)
        A value, or a row of values, for each instance.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins, as in `Bags`.

    Returns
    -------
    array of shape (n_bags, …)
        Rows among all instances.

    See Also
    --------
    bag_max : The values there.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import bag_argmax
    >>> bag_argmax(np.array([1, 3, 2, 10]), np.array([0, 3, 4]))
    array([1, 3])
    """
    rows = np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1))
    is_largest = values == spread(bag_max(values, offsets), offsets)
    return np.minimum.reduceat(np.where(is_largest, rows, len(values)), offsets[:-1])


def bag_logsumexp(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """``log Σ_j exp(v_ij)`` of each bag.

    Parameters
    ----------
    values : array of shape (n_instances, …)
        A value, or a row of values, for each instance; any size is safe.
    offsets : array of shape (n_bags + 1,)
        Where each bag begins, as in `Bags`.

    Returns
    -------
    array of shape (n_bags, …)
        The logarithms of the sums.

    See Also
    --------
    mixedbag.pooling.LogSumExp : The same as a pooling, with derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.pooling import bag_logsumexp
    >>> bag_logsumexp(np.array([1000.0, 1000.0, 3.0]), np.array([0, 2, 3])).round(2)
    array([1000.69,    3.  ])
    """
    top = bag_max(values, offsets)
    return top + np.log(bag_sum(np.exp(values - spread(top, offsets)), offsets))
