"""Visits to web pages in which something happens at a known time, to ask learners *when*.

After the WebTraffic data of MILLET (Early et al., "Inherently interpretable time series
classification via multiple instance learning", ICLR 2024): the same kinds of events in series of
the same form, made anew.
"""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.datasets.records import BagData

A_DAY = 144  # samples: one in ten minutes
SHORTEST, LONGEST = A_DAY // 4, 2 * A_DAY  # samples of an event
NOISE = 0.05  # of the visits, whose daily swing is about 1


def make_traffic(
    n_bags: int = 100,
    days: int = 7,
    target: str | None = "peak",
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *sequence*: days of visits to a web page, each with at most one event of some kind.

    Visits rise and fall with the hours and are fewer at weekends; level, swing and phase differ
    from page to page. Kinds of events: "spikes" (single samples jump), "flip" (a stretch runs
    backwards), "skew" (its middle comes early or late), "noise", "cutoff" (almost no visits),
    "average" (smooth), "wander" (a slow drift), "peak", "trough"; and "none".

    Parameters
    ----------
    n_bags : int
        Number of pages.
    days : int, default=7
        Days of a series, of 144 samples each; at least 3.
    target : str or None, default="peak"
        The kind of event asked for: half of the bags have it and the others have one of the other
        kinds, or none. With None every kind, "none" included, is as frequent as any other.
    random_state : int, RandomState or None
        Draws the series; a number gives the same ones every time.

    Returns
    -------
    BagData
        One bag a page, its instances in the order of time. `y` is 1 with an event of the kind
        `target`, else 0; `instance_labels` are 1 where that event is. With ``target=None`` they
        are the names of the kinds, "none" where nothing happens.

    See Also
    --------
    make_sequences : Activities that take turns, the label being that of most samples.

    Examples
    --------
    >>> from mixedbag.datasets import make_traffic
    >>> data = make_traffic(n_bags=4, days=3, target="cutoff", random_state=0)
    >>> data.bags
    Bags(4 bags, 1728 instances × 1 features)
    >>> found = data.instance_labels.reshape(4, -1)
    >>> (found.any(axis=1) == data.y).all()
    np.True_
    >>> visits = data.bags.instances.reshape(4, -1)
    >>> bool(visits[found == 1].mean() < visits[found == 0].mean())
    True
    """
    if target is not None and target not in EVENTS:
        raise ValueError(f"target must be one of {', '.join(EVENTS)}; got {target!r}")
    if days < 3:
        raise ValueError(f"days must be at least 3, for an event of two to fit; got {days}")
    if n_bags < 1:
        raise ValueError(f"n_bags must be at least 1, got {n_bags}")
    rng = check_random_state(random_state)
    kinds = _kinds(rng, n_bags, target)
    length = days * A_DAY
    visits = _plain(rng, n_bags, length)
    place = np.zeros((n_bags, length), dtype=bool)
    for x, here, kind in zip(visits, place, kinds):
        if kind != "none":
            size = rng.randint(SHORTEST, LONGEST + 1)
            start = rng.randint(0, length - size + 1)
            here[start : start + size] = True
            happened = EVENTS[kind](rng, x[start : start + size].copy())
            if kind == "spikes":  # single samples, not all of the stretch
                here[start : start + size] = happened != x[start : start + size]
            x[start : start + size] = happened
    bags = Bags(visits.reshape(-1, 1), length * np.arange(n_bags + 1), feature_names=["visits"])
    if target is None:
        hidden = np.where(place, kinds[:, None], "none")
        return BagData(bags, kinds, instance_labels=hidden.ravel())
    asked = kinds == target
    hidden = place & asked[:, None]
    return BagData(bags, asked.astype(np.int64), instance_labels=hidden.ravel().astype(np.int64))


def _kinds(rng, n_bags, target):
    """The kind of every bag's event."""
    others = np.array(["none", *(kind for kind in EVENTS if kind != target)])
    drawn = np.resize(others, n_bags) if target is None else others[rng.randint(9, size=n_bags)]
    if target is not None:
        drawn = np.where(np.arange(n_bags) % 2, target, drawn)
    return rng.permutation(drawn)


def _plain(rng, n_bags, length):
    """Series in which nothing happens, and which are positive almost always."""
    hour = 2 * np.pi * np.arange(length) / A_DAY
    phase, swing, second, weekend, level = rng.uniform(
        [0, 0.6, 0, 0.1, 2.5], [2 * np.pi, 1.2, 0.4, 0.6, 4.0], size=(n_bags, 5)
    ).T[:, :, None]
    x = level + swing * np.sin(hour + phase) + second * np.sin(2 * (hour + phase))
    x -= weekend * ((np.arange(length) // A_DAY) % 7 >= 5)
    return x + NOISE * rng.standard_normal((n_bags, length))


# Kinds of events: what becomes of a stretch -------------------------------------------------------


def _spikes(rng, x):
    at = rng.choice(len(x), max(3, len(x) // 12), replace=False)
    x[at] += rng.uniform(0.8, 2.0, size=len(at))
    return x


def _flip(rng, x):
    return x[::-1]


def _skew(rng, x):
    """The stretch's middle comes at a quarter, or at three quarters, of its time."""
    time = np.linspace(0, 1, len(x))
    middle = 0.5 + rng.choice([-1, 1]) * rng.uniform(0.2, 0.4)
    return np.interp(np.interp(time, [0, middle, 1], [0, 0.5, 1]), time, x)


def _noise(rng, x):
    return x + rng.uniform(3, 6) * NOISE * rng.standard_normal(len(x))


def _cutoff(rng, x):
    return np.abs(NOISE * rng.standard_normal(len(x)))


def _average(rng, x):
    """A moving average over about two hours, the ends repeated."""
    reach = 6
    padded = np.pad(x, reach, mode="edge")
    return np.convolve(padded, np.full(2 * reach + 1, 1 / (2 * reach + 1)), mode="valid")


def _wander(rng, x):
    return x + rng.choice([-1, 1]) * rng.uniform(0.8, 1.6) * np.linspace(0, 1, len(x))


def _peak(rng, x):
    return x + rng.uniform(0.8, 1.6) * _bell(len(x))


def _trough(rng, x):
    return x - rng.uniform(0.8, 1.6) * _bell(len(x))


def _bell(n):
    return np.exp(-0.5 * np.linspace(-2.5, 2.5, n) ** 2)


EVENTS = {
    "spikes": _spikes,
    "flip": _flip,
    "skew": _skew,
    "noise": _noise,
    "cutoff": _cutoff,
    "average": _average,
    "wander": _wander,
    "peak": _peak,
    "trough": _trough,
}
