"""Bags made of the data that comes with scikit-learn: nothing to download."""

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.datasets.protocols import aggregate, make_sessions
from mixedbag.datasets.records import BagData


def load_digits_bags(
    n_bags: int = 100,
    size: int | tuple[int, int] = (6, 12),
    digit: int = 9,
    max_witnesses: int = 2,
    random_state: int | np.random.RandomState | None = 0,
) -> BagData:
    """Bags of handwritten digits, to ask which of them contain a 9.

    Half of the bags are positive, with 1 to `max_witnesses` images of `digit`. No image is used
    twice, so a bag of the test set cannot be answered by memory.

    Parameters
    ----------
    n_bags : int, default=100
        Number of bags.
    size : int or pair, default=(6, 12)
        Images a bag, or the smallest and largest number of them.
    digit : int, default=9
        The digit that makes a bag positive.
    max_witnesses : int, default=2
        The largest number of its images in a positive bag.
    random_state : int, RandomState or None, default=0
        Draws the images of each bag; a number gives the same ones every time.

    Returns
    -------
    BagData
        Instances are the 64 pixels of an image, from 0 to 1; `images` shows them as 8 × 8. `y` and
        `instance_labels` are 1 for bags with `digit` and for its images; `instance_ids` are
        positions in scikit-learn's digits.

    See Also
    --------
    make_any : The same rule on made-up numbers, of any difficulty.
    load : Data sets that were published.

    Examples
    --------
    >>> from mixedbag.datasets import load_digits_bags
    >>> data = load_digits_bags(n_bags=20)
    >>> data.y.sum(), data.images.shape[1:]
    (np.int64(10), (8, 8))
    """
    if digit not in range(10):
        raise ValueError(f"digit must be between 0 and 9, got {digit!r}")
    rng = check_random_state(random_state)
    digits = load_digits()
    low, high = np.broadcast_to(size, 2)
    sizes = rng.randint(low, high + 1, size=n_bags)
    y = rng.permutation(np.arange(n_bags) % 2)
    witnesses = np.where(y == 1, rng.randint(1, np.minimum(max_witnesses, sizes) + 1), 0)
    wanted = rng.permutation(np.flatnonzero(digits.target == digit))
    others = rng.permutation(np.flatnonzero(digits.target != digit))
    if witnesses.sum() > len(wanted) or (sizes - witnesses).sum() > len(others):
        raise ValueError(
            f"{n_bags} bags need {sizes.sum()} different images, {witnesses.sum()} of them of "
            f"digit {digit}; there are {len(digits.target)} and {len(wanted)}"
        )
    bags_of_rows = [
        rng.permutation(np.concatenate(parts))
        for parts in zip(
            np.split(wanted[: witnesses.sum()], np.cumsum(witnesses)[:-1]),
            np.split(others[: (sizes - witnesses).sum()], np.cumsum(sizes - witnesses)[:-1]),
        )
    ]
    rows = np.concatenate(bags_of_rows)
    return BagData(
        Bags(digits.data[rows] / 16, np.concatenate([[0], np.cumsum(sizes)])),
        y,
        instance_labels=(digits.target[rows] == digit).astype(np.int64),
        instance_ids=rows,
        image_shape=(8, 8),
    )


def load_sessions(
    name: str = "cancer", random_state: int | np.random.RandomState | None = 0, **options: Any
) -> BagData:
    """Majority-labelled sessions of scikit-learn's "cancer" or "wine" rows; see `make_sessions`.

    Parameters
    ----------
    name : {"cancer", "wine"}
        The table.
    random_state : int, RandomState or None, default=0
        Draws the rows of each session; a number gives the same ones every time.
    **options
        As in `make_sessions`.

    Returns
    -------
    BagData
        `y` is the class of most rows of a session.

    See Also
    --------
    make_sessions : The same of any table.
    load_aggregates : Counts of classes in place of majorities.

    Examples
    --------
    >>> from mixedbag.datasets import load_sessions
    >>> load_sessions("wine", size=5).bags.sizes.max()
    np.int64(5)
    """
    X, y = _table(name)
    return make_sessions(X, y, random_state=random_state, **options)


def load_aggregates(
    name: str = "cancer",
    size: int = 5,
    randomness: int = 50,
    random_state: int | np.random.RandomState | None = 0,
) -> BagData:
    """Class counts in bags of scikit-learn's "cancer" or "wine" rows; see `aggregate`.

    Parameters
    ----------
    name : {"cancer", "wine"}
        The table.
    size : int, default=5
        Rows a bag.
    randomness : int, default=50
        The number of swapped pairs of rows: with few, bags are nearly of one class.
    random_state : int, RandomState or None, default=0
        Draws the swaps; a number gives the same ones every time.

    Returns
    -------
    BagData
        `y` counts the rows of the second class, or of each where there are three.

    See Also
    --------
    aggregate : The same of any table.
    load_sessions : Majorities in place of counts.

    Examples
    --------
    >>> from mixedbag.datasets import load_aggregates
    >>> data = load_aggregates("wine", size=10)
    >>> data.y.shape, int(data.y.sum())
    ((18, 3), 178)
    """
    X, y = _table(name)
    return aggregate(X, y, size, randomness, random_state)


def _table(name):
    loaders = {"cancer": load_breast_cancer, "wine": load_wine}
    if name not in loaders:
        raise ValueError(f"name must be one of {sorted(loaders)}, got {name!r}")
    return loaders[name](return_X_y=True)
