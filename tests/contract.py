"""Many checks in one test: dozens of tests would cost more than what they do."""

from contextlib import contextmanager
from unittest import SkipTest

from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from mixedbag.testing import bag_checks


@contextmanager
def together(whose):
    """Every check is tried, whatever becomes of the others; those that fail are told together."""
    faults = []

    @contextmanager
    def trying(name):
        try:
            yield
        except SkipTest:
            pass
        except Exception as fault:
            fault.add_note(f"in {name}")
            faults.append(fault)

    yield trying
    if faults:
        raise ExceptionGroup(f"{len(faults)} checks of {whose}", faults)


def keeps_our_contract(learner):
    """Fails with all checks of ours that do not hold."""
    with together(type(learner).__name__) as trying:
        for check in bag_checks(learner):
            with trying(check.__name__):
                check(clone(learner))


def keeps_scikit_learns_contract(estimator, expected=(), before=lambda name: None):
    """Fails with all of scikit-learn's checks that do not hold, or do though `expected` not to.

    `before` is called with the name of a check that comes.
    """
    with together(type(estimator).__name__) as trying:
        for clean, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            before(name)
            with trying(f"{name}({check.keywords or ''})"):
                try:
                    check(clean)
                except Exception:
                    if name not in expected:
                        raise
                else:
                    assert name not in expected, "it holds, and was expected not to"
