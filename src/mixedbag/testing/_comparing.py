"""What the checks are made of: fits, outputs at both levels, and comparisons of them."""

import copy

import numpy as np
from sklearn.base import clone

from mixedbag.testing._problems import toy_problem

# Learners stop at a tolerance of their own: outputs may differ by this share of their spread.
TOLERANCE = 1e-3


def outputs(model, bags):
    """The most telling prediction of a model at both levels, one after the other."""
    level = "decision_function" if hasattr(model, "decision_function") else "predict"
    instances = level + "_instances"
    return [np.asarray(getattr(model, name)(bags), dtype=float) for name in (level, instances)]


def assert_same(one, other, bags, what):
    for a, b in zip(outputs(one, bags), outputs(other, bags)):
        scale = max(np.ptp(a), 1e-12)
        worst = np.abs(a - b).max()
        assert worst <= TOLERANCE * scale, (
            f"{type(one).__name__}: {what} changes the predictions by {worst:.3g}, "
            f"{worst / scale:.2%} of their spread"
        )


def assert_refused(call, *parts):
    try:
        call()
    except (ValueError, TypeError) as error:
        message = str(error)
        for part in parts:
            assert part in message, f"the error should mention {part!r}: {message!r}"
        return
    raise AssertionError(f"bad input was accepted; expected an error about {parts}")


def fitted(estimator, problem, **kwargs):
    return clone(estimator).fit(problem.bags, problem.y, **kwargs)


_kept: dict = {}


def on_toys(estimator, n_classes=2):
    """A toy problem and the estimator fitted on it, once for the many checks that ask for that.

    The very same bags, which nobody can write to: copies elsewhere in memory may change the last
    digit of a sum. The model is the caller's own.
    """
    kind = type(estimator), estimator.__repr__(N_CHAR_MAX=10**6)
    if _kept.get("kind") != kind:
        _kept.clear()
        _kept["kind"] = kind
    if n_classes not in _kept:
        problem = toy_problem(estimator, n_classes=n_classes)
        problem.y.flags.writeable = False
        _kept[n_classes] = problem, fitted(estimator, problem)
    problem, model = _kept[n_classes]
    return problem, _own_copy(model, problem.bags)


def _own_copy(model, bags):
    """A copy that shares the bags and nothing else, the bags held for probabilities as well.

    Made by hand: a copy by way of ``__getstate__`` would settle what probabilities are.
    """
    own = copy.copy(model)
    known = {id(shared): shared for shared in (bags, bags.instances, bags.offsets)}
    for name, value in vars(model).items():
        vars(own)[name] = dict(value) if name == "_held_" else copy.deepcopy(value, known)
    return own


def assert_close(a, b):
    np.testing.assert_allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-7)
