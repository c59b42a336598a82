"""One quick instance of every learner, so that a new one is under test the moment it exists."""

from mixedbag.base import BagEstimator
from mixedbag.learners import all_learners
from mixedbag.testing._configurations import FAST

__all__ = ["all_learners", "example_learners"]


def example_learners() -> list[BagEstimator]:
    """One quick instance of every learner, for tests.

    Returns
    -------
    list of learners
        Unfitted, with settings that fit quickly.

    See Also
    --------
    all_learners : The classes.

    Examples
    --------
    >>> from mixedbag.testing import all_learners, example_learners
    >>> len(example_learners()) == len(all_learners())
    True
    """
    return [learner(**FAST.get(learner.__name__, {})) for learner in all_learners()]
