"""Bags with known truth, one generator for each rule that ties a bag's label to its instances.

Every generator returns `BagData` whose `instance_labels` are the hidden labels.
"""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.datasets.records import BagData


def make_any(
    n_bags: int = 100,
    size: int | tuple[int, int] = (5, 15),
    n_features: int = 10,
    separation: float = 3.0,
    max_witnesses: int = 3,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *any*: a bag is positive when at least one instance is.

    Instances are normal around the origin; positive ones are shifted by `separation` along a
    random direction. Half of the bags are positive, with 1 to `max_witnesses` positive instances.

    Parameters
    ----------
    n_bags : int
        Number of bags.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features.
    separation : float
        How far positive instances lie from the others, in standard deviations.
    max_witnesses : int
        The largest number of positive instances in a positive bag.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are 1 for positive instances, else 0.

    See Also
    --------
    make_majority : Most instances decide, not one.
    make_single_concept : The same rule, with an easy sign against it.
    load_digits_bags : The same rule on images.

    Examples
    --------
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=4, random_state=0)
    >>> data.y
    array([0, 0, 1, 1])
    >>> all(data.instance_labels[data.bags.bag_of == i].max() == data.y[i] for i in range(4))
    True
    """
    rng = check_random_state(random_state)
    sizes = _sizes(rng, n_bags, size)
    y = _halves(rng, n_bags)
    hidden = [
        _marked(rng, m, rng.randint(1, min(max_witnesses, m) + 1) if positive else 0)
        for m, positive in zip(sizes, y)
    ]
    return _shifted(rng, sizes, y, np.concatenate(hidden), n_features, separation)


def make_majority(
    n_bags: int = 100,
    size: int | tuple[int, int] = (5, 15),
    n_features: int = 10,
    separation: float = 2.0,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *majority*: a bag has the class of most of its instances.

    Every bag holds a random number, fewer than half, of instances of the other class.

    Parameters
    ----------
    n_bags : int
        Number of bags, half of each class.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features.
    separation : float
        How far the classes lie apart, in standard deviations.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are the classes of the instances, 0 and 1.

    See Also
    --------
    make_any : One positive instance is enough.
    make_sessions : The same rule, from the rows of a table.

    Examples
    --------
    >>> from mixedbag.datasets import make_majority
    >>> data = make_majority(n_bags=4, random_state=0)
    >>> shares = [data.instance_labels[data.bags.bag_of == i].mean() for i in range(4)]
    >>> [bool(share > 0.5) for share in shares] == (data.y == 1).tolist()
    True
    """
    rng = check_random_state(random_state)
    sizes = _sizes(rng, n_bags, size)
    y = _halves(rng, n_bags)
    hidden = []
    for m, label in zip(sizes, y):
        strangers = rng.randint(0, (m - 1) // 2 + 1)
        hidden.append(_marked(rng, m, m - strangers if label else strangers))
    return _shifted(rng, sizes, y, np.concatenate(hidden), n_features, separation)


def make_count(
    n_bags: int = 100,
    size: int | tuple[int, int] = (5, 15),
    n_features: int = 10,
    n_classes: int = 2,
    separation: float = 3.0,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *count*: of a bag it is known how many instances each class has.

    Class shares differ from bag to bag (drawn evenly from all shares); instances of each class are
    normal around a centre at distance `separation` from the origin. With two classes `y` is the
    number of instances of class 1, otherwise an array (n_bags, n_classes).

    Parameters
    ----------
    n_bags : int
        Number of bags.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features.
    n_classes : int
        Number of classes.
    separation : float
        How far the centre of a class lies from the origin, in standard deviations.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are the classes of the instances.

    See Also
    --------
    make_sum : Totals of a value in place of counts.
    aggregate : Counts, or totals, from the rows of a table.

    Examples
    --------
    >>> from mixedbag.datasets import make_count
    >>> data = make_count(n_bags=3, size=10, random_state=0)
    >>> data.y.tolist() == data.instance_labels.reshape(3, 10).sum(axis=1).tolist()
    True
    >>> make_count(n_bags=3, n_classes=4, random_state=0).y.shape
    (3, 4)
    """
    rng = check_random_state(random_state)
    sizes = _sizes(rng, n_bags, size)
    shares = rng.dirichlet(np.ones(n_classes), size=n_bags)
    hidden = np.concatenate([rng.choice(n_classes, m, p=p) for m, p in zip(sizes, shares)])
    centres = separation * _directions(rng, n_classes, n_features)
    counts = np.zeros((n_bags, n_classes), dtype=np.int64)
    np.add.at(counts, (np.repeat(np.arange(n_bags), sizes), hidden), 1)
    X = centres[hidden] + rng.standard_normal((len(hidden), n_features))
    return BagData(
        Bags(X, _offsets(sizes)), counts[:, 1] if n_classes == 2 else counts, instance_labels=hidden
    )


def make_sum(
    n_bags: int = 100,
    size: int | tuple[int, int] = (5, 15),
    n_features: int = 5,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *sum*: of a bag it is known what its instances' values add up to.

    A value is ``x₁ + 2 sin(x₂) + x₃²/2`` (with fewer features, the first terms) plus normal noise.

    Parameters
    ----------
    n_bags : int
        Number of bags.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features.
    noise : float
        Standard deviation of what features do not tell of a value.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are the values of the instances.

    See Also
    --------
    make_count : Counts of classes in place of totals.
    aggregate : Totals, or counts, from the rows of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.datasets import make_sum
    >>> data = make_sum(n_bags=3, size=10, random_state=0)
    >>> np.allclose(data.y, data.instance_labels.reshape(3, 10).sum(axis=1))
    True
    """
    rng = check_random_state(random_state)
    sizes = _sizes(rng, n_bags, size)
    X = rng.standard_normal((sizes.sum(), n_features))
    terms = (X[:, 0], *(2 * np.sin(x) for x in X.T[1:2]), *(x**2 / 2 for x in X.T[2:3]))
    values = sum(terms) + noise * rng.standard_normal(len(X))
    offsets = _offsets(sizes)
    return BagData(Bags(X, offsets), np.add.reduceat(values, offsets[:-1]), instance_labels=values)


def make_sequences(
    n_bags: int = 60,
    length: int | tuple[int, int] = 200,
    n_features: int = 3,
    n_activities: int = 4,
    target: int | None = 1,
    omega: float | None = None,
    stay: float = 0.98,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *sequence*: recordings of a body that switches between activities.

    Each activity is a second-order autoregression of its own level and rhythm (an oscillator
    driven by noise); after each sample it goes on with probability `stay`, else another begins.

    Parameters
    ----------
    n_bags : int
        Number of recordings.
    length : int or pair
        Samples a bag, or the smallest and largest number of them.
    n_features : int
        Number of channels.
    n_activities : int
        Number of activities that alternate.
    target : int or None, default=1
        The activity asked for: `y` and `instance_labels` are 1 where it is, else 0. With None they
        are the activities 0 to ``n_activities - 1`` themselves, a bag's being that of most samples.
    omega : float or None, default=None
        With None, a bag is positive when most of its samples are. A number draws the label instead:
        positive with probability ``N exp(omega) / (N exp(omega) + n - N)`` when N of n samples are.
    stay : float, default=0.98
        How probable an activity goes on after a sample.
    random_state : int, RandomState or None
        Draws the recordings; a number gives the same ones every time.

    Returns
    -------
    BagData
        One bag a recording, its instances in the order of time.

    See Also
    --------
    Recordings : Recordings of people, to cut into bags.
    mixedbag.sequence.ARHMMClassifier : Learns from such bags.

    Examples
    --------
    >>> from mixedbag.datasets import make_sequences
    >>> data = make_sequences(n_bags=6, length=50, random_state=0)
    >>> data.bags
    Bags(6 bags, 300 instances × 3 features)
    >>> all(data.y == (data.instance_labels.reshape(6, 50).mean(axis=1) > 0.5))
    True
    """
    if target is None and omega is not None:
        raise ValueError("omega draws two-class labels: it needs a target activity")
    if target is not None and not 0 <= target < n_activities:
        raise ValueError(f"target must be between 0 and {n_activities - 1}, got {target}")
    rng = check_random_state(random_state)
    sizes = _sizes(rng, n_bags, length)
    activity = _switching(rng, n_bags, sizes.max(), n_activities, stay)
    X = _oscillators(rng, activity, n_activities, n_features)
    inside = np.arange(sizes.max()) < sizes[:, None]
    hidden = activity[inside] if target is None else (activity[inside] == target).astype(np.int64)
    votes = np.zeros((n_bags, n_activities if target is None else 2), dtype=np.int64)
    np.add.at(votes, (np.repeat(np.arange(n_bags), sizes), hidden), 1)
    if omega is None:
        y = votes.argmax(axis=1)
    else:
        odds = votes[:, 1] * np.exp(omega)
        y = (rng.uniform(size=n_bags) < odds / (odds + votes[:, 0])).astype(np.int64)
    return BagData(Bags(X[inside], _offsets(sizes)), y, instance_labels=hidden)


def _switching(rng, n_bags, length, n_activities, stay):
    """Activities over time, one row a bag: a chain that stays, or moves to any other activity."""
    activity = np.empty((n_bags, length), dtype=np.int64)
    activity[:, 0] = rng.randint(n_activities, size=n_bags)
    for t in range(1, length):
        step = rng.randint(1, n_activities, size=n_bags) if n_activities > 1 else 0
        moves = rng.uniform(size=n_bags) > stay
        activity[:, t] = (activity[:, t - 1] + moves * step) % n_activities
    return activity


def _oscillators(rng, activity, n_activities, n_features):
    """Damped oscillators around a level, both set by the activity of the moment."""
    n_bags, length = activity.shape
    level = rng.uniform(-2, 2, size=(n_activities, n_features))
    rhythm = rng.uniform(0.1, 2.5, size=(n_activities, n_features))
    damping = rng.uniform(0.6, 0.9, size=(n_activities, n_features))
    first, second = 2 * damping * np.cos(rhythm), -(damping**2)
    X = np.empty((n_bags, length, n_features))
    before = last = level[activity[:, 0]]
    for t in range(length):
        k = activity[:, t]
        pull = first[k] * (last - level[k]) + second[k] * (before - level[k])
        before, last = last, level[k] + pull + 0.3 * rng.standard_normal((n_bags, n_features))
        X[:, t] = last
    return X


def _shifted(rng, sizes, y, hidden, n_features, separation):
    shift = separation * _directions(rng, 1, n_features)[0]
    X = rng.standard_normal((len(hidden), n_features)) + hidden[:, None] * shift
    return BagData(Bags(X, _offsets(sizes)), y, instance_labels=hidden)


def _sizes(rng, n_bags, size):
    low, high = (size, size) if np.ndim(size) == 0 else size
    if not 1 <= low <= high:
        raise ValueError(f"bag sizes must be at least 1 and in order, got {size}")
    if n_bags < 1:
        raise ValueError(f"n_bags must be at least 1, got {n_bags}")
    return rng.randint(low, high + 1, size=n_bags)


def _halves(rng, n_bags):
    """Labels 0 and 1, half of each, in random order."""
    return rng.permutation(np.arange(n_bags) % 2)


def _marked(rng, n, k):
    """n zeros of which k, at random places, are one."""
    marks = np.zeros(n, dtype=np.int64)
    marks[rng.choice(n, k, replace=False)] = 1
    return marks


def _directions(rng, n, n_features):
    directions = rng.standard_normal((n, n_features))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def _offsets(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])
