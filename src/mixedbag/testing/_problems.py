"""Small problems with known truth, one for each kind of bag label."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags

from mixedbag.bags import Bags


class Problem(NamedTuple):
    bags: Bags
    y: np.ndarray


def toy_problem(
    estimator: Any, n_bags: int = 30, n_classes: int = 2, random_state: int = 0
) -> Problem:
    """Bags and labels of the kind that `estimator` learns from, easy but not separable.

    Instances of class ``k`` lie around ``k`` times a fixed direction. Bag sizes vary; sequences
    are long enough for any small order.

    Parameters
    ----------
    estimator : bag learner
        What the labels must suit.
    n_bags : int
        Number of bags.
    n_classes : int
        Number of classes, for learners of classes or counts.
    random_state : int
        Draws the problem.

    Returns
    -------
    Problem
        A named pair of `bags` and `y`.

    See Also
    --------
    mixedbag.datasets.make_any : Bags of any size and difficulty, with the truth about instances.

    Examples
    --------
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.testing import toy_problem
    >>> bags, y = toy_problem(CitationKNN(), n_bags=6)
    >>> y
    array([0, 1, 0, 1, 0, 1])
    """
    rng = np.random.default_rng(random_state)
    if estimator._is_sequence:
        return _sequences(rng, n_bags, n_classes)
    sizes = rng.integers(1, 6, size=n_bags)
    # Every rule needs bags of each kind, whatever the seed.
    codes = np.arange(n_bags) % n_classes
    hidden = _hidden_classes(rng, estimator._rules, sizes, codes, n_classes)
    instances = rng.normal(size=(sizes.sum(), 3))
    instances[:, :2] += 2.5 * np.concatenate(hidden)[:, None] * np.array([1.0, -1.0])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    bags = Bags(instances, offsets, ids=[f"b{i:02d}" for i in range(n_bags)])
    if "count" in estimator._rules:
        if n_classes == 2:
            return Problem(bags, np.array([h.sum() for h in hidden]))
        return Problem(bags, np.array([np.bincount(h, minlength=n_classes) for h in hidden]))
    if "sum" in estimator._rules:
        value = instances @ np.array([1.0, -2.0, 0.5])
        if get_tags(estimator).target_tags.positive_only:
            value = np.exp(value / 4)
        return Problem(bags, np.add.reduceat(value, offsets[:-1]))
    return Problem(bags, codes)


def _hidden_classes(rng, rules, sizes, codes, n_classes):
    if "count" in rules:
        return [rng.integers(n_classes, size=n) for n in sizes]
    hidden = []
    for n, code in zip(sizes, codes):
        classes = np.zeros(n, dtype=int)
        own = n // 2 + 1 if "majority" in rules else 1
        classes[:own] = code
        if "majority" in rules:
            classes[own:] = rng.integers(n_classes, size=n - own)
        hidden.append(rng.permutation(classes))
    return hidden


def _sequences(rng, n_bags, n_classes):
    """Two-channel noise that turns into an oscillation of class ``k``'s speed for a while."""
    arrays = []
    codes = np.arange(n_bags) % n_classes
    for code in codes:
        length = int(rng.integers(24, 40))
        series = 0.3 * rng.normal(size=(length, 2))
        start = int(rng.integers(0, length // 3))
        time = np.arange(length // 2)
        if code:
            series[start : start + len(time), 0] += 2 * np.sin(code * 1.1 * time)
            series[start : start + len(time), 1] += 2 * np.cos(code * 1.1 * time)
        arrays.append(series)
    return Problem(Bags.from_list(arrays, ids=[f"s{i:02d}" for i in range(n_bags)]), codes)
