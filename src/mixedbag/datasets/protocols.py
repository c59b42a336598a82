"""Bags built from plain tables, as the papers on majority and aggregate labels build theirs."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, check_random_state, check_scalar

from mixedbag.bags import Bags
from mixedbag.datasets.records import BagData


def aggregate(
    X: ArrayLike,
    y: ArrayLike,
    size: int,
    randomness: int = 0,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Cut a table into bags of which only the total, or the number of each class, is known.

    The rows are sorted by target, `randomness` random pairs of rows are swapped, and the result is
    cut from the top into bags of `size` (the last may be smaller). Without swaps a bag holds rows
    of nearly equal target; with many it holds any.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Floats are numbers to be summed; anything else is classes to be counted.
    size : int
        Rows a bag.
    randomness : int, default=0
        The number of swapped pairs.
    random_state : int, RandomState or None
        Draws the swaps; a number gives the same ones every time.

    Returns
    -------
    BagData
        `y` is the total of each bag; or for two classes the number of rows of the second one (in
        sorted order); or for more an array (n_bags, n_classes) of counts. `instance_labels` are
        the rows' own targets and `instance_ids` their positions in `X`.

    See Also
    --------
    make_sessions : Bags labelled by the class of most rows.
    load_aggregates : The same of tables that come with scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.datasets import aggregate
    >>> data = aggregate(np.arange(5).reshape(-1, 1), np.array([3.0, 1.0, 2.0, 5.0, 4.0]), size=2)
    >>> data.y
    array([3., 7., 5.])
    >>> data.instance_ids
    array([1, 2, 0, 4, 3])
    """
    X, y = _checked(X, y)
    check_scalar(size, "size", (int, np.integer), min_val=1)
    check_scalar(randomness, "randomness", (int, np.integer), min_val=0)
    rng = check_random_state(random_state)
    order = np.argsort(y, kind="stable")
    if len(y) > 1:
        for _ in range(randomness):
            i, j = rng.randint(len(y)), rng.randint(len(y) - 1)
            j += j >= i  # two different rows, all pairs equally likely
            order[[i, j]] = order[[j, i]]
    starts = np.arange(0, len(y), size)
    offsets = np.append(starts, len(y))
    values = y[order]
    if y.dtype.kind == "f":
        totals = np.add.reduceat(values, starts)
    else:
        classes = np.unique(y)
        counts = np.add.reduceat(values[:, None] == classes, starts, axis=0, dtype=np.int64)
        totals = counts[:, -1] if len(classes) <= 2 else counts
    return BagData(Bags(X[order], offsets), totals, instance_labels=values, instance_ids=order)


def make_sessions(
    X: ArrayLike,
    y: ArrayLike,
    n_sessions: int | None = None,
    size: int = 10,
    replace: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Group the rows of a table into sessions, each labelled by the class of most of its rows.

    A session of a class holds a random number of rows of other classes, from 1 to just under half
    of `size` (0 when `size` is below 3), and is filled up with rows of its own class. All its rows
    are different.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Classes.
    n_sessions : int, optional
        By default as many as the rows allow; needed with `replace`.
    size : int, default=10
        Rows a session.
    replace : bool, default=False
        Whether a row may be part of several sessions. Without, what is learned in one session
        cannot be remembered in another.
    random_state : int, RandomState or None
        Draws the rows of each session; a number gives the same ones every time.

    Returns
    -------
    BagData
        `y` is the class of each session, `instance_labels` the rows' own classes and
        `instance_ids` their positions in `X`.

    See Also
    --------
    aggregate : Counts or totals in place of majorities.
    load_sessions : The same of tables that come with scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mixedbag.datasets import make_sessions
    >>> data = make_sessions(*load_wine(return_X_y=True), n_sessions=4, size=5, random_state=0)
    >>> own = data.instance_labels.reshape(4, 5) == data.y[:, None]
    >>> bool((own.sum(axis=1) >= 3).all())
    True
    """
    X, y = _checked(X, y)
    check_scalar(size, "size", (int, np.integer), min_val=1)
    if n_sessions is None and replace:
        raise ValueError("n_sessions is needed when rows may be used again")
    rng = check_random_state(random_state)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("sessions need rows of at least two classes")
    pools = [rng.permutation(np.flatnonzero(codes == k)) for k in range(len(classes))]
    sessions: list[np.ndarray] = []
    labels: list[int] = []
    while n_sessions is None or len(sessions) < n_sessions:
        others = rng.randint(1, (size - 1) // 2 + 1) if size > 2 else 0
        possible = np.array([_enough(pools, k, size, others) for k in range(len(classes))])
        if not possible.any():
            if n_sessions is None and sessions:
                break
            raise ValueError(
                f"{len(y)} rows are enough for {len(sessions)} sessions of {size}; ask for fewer, "
                "or set replace=True"
            )
        # Classes in proportion to the rows they still have, so that they run out together.
        left = np.array([len(pool) for pool in pools]) * possible
        k = rng.choice(len(classes), p=left / left.sum())
        strangers = np.concatenate([pool for j, pool in enumerate(pools) if j != k])
        rows = np.concatenate(
            [
                rng.choice(pools[k], size - others, replace=False),
                rng.choice(strangers, others, replace=False),
            ]
        )
        if not replace:
            pools = [pool[~np.isin(pool, rows)] for pool in pools]
        sessions.append(rng.permutation(rows))
        labels.append(k)
    rows = np.concatenate(sessions)
    return BagData(
        Bags(X[rows], np.arange(len(sessions) + 1) * size),
        classes[labels],
        instance_labels=y[rows],
        instance_ids=rows,
    )


def _enough(pools, k, size, others):
    strangers = sum(len(pool) for j, pool in enumerate(pools) if j != k)
    return len(pools[k]) >= size - others and strangers >= others


def _checked(X, y):
    X, y = np.asarray(X), np.asarray(y)
    if X.ndim != 2 or y.ndim != 1:
        raise ValueError(f"expected a 2-D X and a 1-D y, got shapes {X.shape} and {y.shape}")
    check_consistent_length(X, y)
    if not len(y):
        raise ValueError("no rows")
    return X, y
