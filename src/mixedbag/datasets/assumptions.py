"""Does a learner respect the rule that labels follow? Bags on which a wrong rule is the easy one.

After the algorithmic unit tests of Raff and Holt (2023): training bags offer, beside what makes
them positive, an easy sign that goes with the label and has nothing to do with it. In other bags,
``shifted=True``, what makes a bag positive is the same and the sign is exchanged. A learner that
respects the rule orders both kinds of bags alike; one that has learned the sign orders the second
kind the wrong way round (an area under the ROC curve below one half).
"""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.datasets.generators import _halves, _offsets, _sizes
from mixedbag.datasets.records import BagData

# Each kind of instance has an axis of its own, so that training and shifted bags share them.
_CONCEPT, _OTHER, _SIGN = 0, 1, 2
_PLAIN, _TIGHT = -1, 0.1
_FAR = 10.0
_OFTEN = 8


def make_single_concept(
    n_bags: int = 100,
    size: int | tuple[int, int] = (8, 15),
    n_features: int = 10,
    separation: float = 4.0,
    shifted: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Rule *any*, and a sign against it: a concept makes bags positive, poison goes with the rest.

    Positive bags hold 1 to 3 instances of the concept, `separation` away from the others. Every
    negative bag, and no positive one, holds an instance of a tight far cluster, the poison, which
    is easier to see. By the rule an instance can only speak *for* a bag, so the poison says
    nothing; a learner that takes its absence for a reason has broken the rule. With `shifted`,
    poison is in the positive bags alone.

    Parameters
    ----------
    n_bags : int
        Number of bags, half of them positive.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features, at least 3.
    separation : float
        How far instances of the concept lie from the others, in standard deviations.
    shifted : bool
        Whether the poison changes sides: for bags to test on.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are 1 for instances of the concept, else 0.

    See Also
    --------
    make_threshold : Two concepts are needed.
    make_false_frequency : How often concepts come is the sign to resist.
    make_any : The same rule without a sign against it.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_single_concept
    >>> train = make_single_concept(random_state=0)
    >>> test = make_single_concept(shifted=True, random_state=1)
    >>> model = MILogisticRegression().fit(train.bags, train.y)
    >>> bool(model.score(test.bags, test.y) > 0.8)
    True
    """
    rng = check_random_state(random_state)
    sizes, y = _sizes(rng, n_bags, size), _halves(rng, n_bags)
    kinds = []
    for n, label in zip(sizes, y):
        bag = [_CONCEPT] * rng.randint(1, 4) if label else []
        kinds.append(_filled(rng, bag + _poison(label, shifted), n))
    return _instances(rng, kinds, y, n_features, separation)


def make_threshold(
    n_bags: int = 100,
    size: int | tuple[int, int] = (8, 15),
    n_features: int = 10,
    separation: float = 4.0,
    shifted: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Two concepts are needed, and poison goes with bags that lack one.

    A bag is positive when it holds an instance of both concepts; negative bags hold 1 to 3 of one
    of them. Poison as in `make_single_concept`. This is no rule *any*: a learner that scores bags
    by their best instance cannot tell them apart without the poison, and should not use it.

    Parameters
    ----------
    n_bags : int
        Number of bags, half of them positive.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features, at least 3.
    separation : float
        How far instances of a concept lie from the others, in standard deviations.
    shifted : bool
        Whether the poison changes sides: for bags to test on.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are 1 and 2 for instances of the two concepts, else 0.

    See Also
    --------
    make_single_concept : One concept is enough.
    make_false_frequency : How often concepts come is the sign to resist.

    Examples
    --------
    >>> from mixedbag.datasets import make_threshold
    >>> data = make_threshold(n_bags=20, random_state=0)
    >>> hidden = [set(data.instance_labels[data.bags.bag_of == i]) - {0} for i in range(20)]
    >>> all((len(found) == 2) == bool(label) for found, label in zip(hidden, data.y))
    True
    """
    rng = check_random_state(random_state)
    sizes, y = _sizes(rng, n_bags, size), _halves(rng, n_bags)
    kinds = []
    for n, label in zip(sizes, y):
        first, second = rng.permutation([_CONCEPT, _OTHER])
        bag = [first] * rng.randint(1, 4) + [second] * (rng.randint(1, 4) if label else 0)
        kinds.append(_filled(rng, bag + _poison(label, shifted), n))
    return _instances(rng, kinds, y, n_features, separation)


def make_false_frequency(
    n_bags: int = 100,
    size: int | tuple[int, int] = (12, 18),
    n_features: int = 10,
    separation: float = 4.0,
    shifted: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> BagData:
    """Two concepts are needed, and how often they come goes with the label.

    A bag is positive when it holds an instance of both concepts. Positive bags hold one of them
    eight times and the other once, negative bags hold one of them once: counting tells them apart
    more easily than looking for both. With `shifted`, negative bags hold one concept eight times,
    and positive ones each of the two once.

    Parameters
    ----------
    n_bags : int
        Number of bags, half of them positive.
    size : int or pair
        Instances a bag, or the smallest and largest number of them.
    n_features : int
        Number of features, at least 3.
    separation : float
        How far instances of a concept lie from the others, in standard deviations.
    shifted : bool
        Whether negative bags hold a concept often, and positive ones do not: for bags to test on.
    random_state : int, RandomState or None
        Draws the bags; a number gives the same ones every time.

    Returns
    -------
    BagData
        `instance_labels` are 1 and 2 for instances of the two concepts, else 0.

    See Also
    --------
    make_single_concept : One concept is enough, and poison is the sign to resist.
    make_threshold : Two concepts, and poison is the sign to resist.

    Examples
    --------
    >>> from mixedbag.datasets import make_false_frequency
    >>> data = make_false_frequency(n_bags=20, random_state=0)
    >>> concepts = [(data.instance_labels[data.bags.bag_of == i] > 0).sum() for i in range(20)]
    >>> {int(label): int(n) for label, n in sorted(zip(data.y, concepts))}
    {0: 1, 1: 9}
    """
    rng = check_random_state(random_state)
    sizes, y = _sizes(rng, n_bags, size), _halves(rng, n_bags)
    kinds = []
    for n, label in zip(sizes, y):
        first, second = rng.permutation([_CONCEPT, _OTHER])
        often = _OFTEN if bool(label) != shifted else 1
        kinds.append(_filled(rng, [first] * often + [second] * int(label), n))
    return _instances(rng, kinds, y, n_features, separation)


def _poison(label, shifted):
    return [_SIGN] if bool(label) == shifted else []


def _filled(rng, bag, size):
    """The given kinds of instances and plain ones, in random order."""
    if len(bag) > size:
        raise ValueError(f"bags of {size} cannot hold {len(bag)} that stand out")
    return rng.permutation([*bag, *[_PLAIN] * (size - len(bag))])


def _instances(rng, kinds, y, n_features, separation):
    if n_features < 3:
        raise ValueError(f"n_features must be at least 3, got {n_features}")
    offsets = _offsets([len(bag) for bag in kinds])
    kinds = np.concatenate(kinds)
    X = rng.standard_normal((len(kinds), n_features))
    X[kinds == _SIGN] *= _TIGHT
    for kind, distance in ((_CONCEPT, separation), (_OTHER, separation), (_SIGN, _FAR)):
        X[kinds == kind, kind] += distance
    hidden = np.isin(kinds, [_CONCEPT, _OTHER]) * (kinds + 1)
    return BagData(Bags(X, offsets), y, instance_labels=hidden)
