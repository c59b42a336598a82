"""One score an instance, from any fitted model, and what it is called."""

from typing import Any

import numpy as np

from mixedbag import _evidence
from mixedbag.bags import as_bags


def instance_scores(estimator: Any, bags: Any, label: Any = None) -> np.ndarray:
    """One score an instance, from any fitted model.

    Parameters
    ----------
    estimator : fitted estimator
        Any model of bags.
    bags : Bags, or anything that `as_bags` reads
        What it is asked about.
    label : optional
        The class to score for. By default the second of two, and of more the class that the
        instance's bag is given. Models of amounts tell the amount: of several, that of this class,
        by default the last.

    Returns
    -------
    array of shape (n_instances,)
        The scores, in the order of ``bags.instances``.

    See Also
    --------
    InstanceScoreDisplay : Draws them.
    permutation_importance : Which features matter.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.inspection import instance_scores
    >>> data = make_any(n_bags=30, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> len(instance_scores(model, data.bags)) == data.bags.n_instances
    True
    """
    bags = as_bags(bags)
    if _evidence.speaks_of_amounts(estimator):
        amounts = _evidence.amount_evidence_of_instances(estimator, bags)
        # One: all of them together are the same for everybody.
        if label is None or amounts.shape[1] == 1:
            return amounts[:, -1]
        return amounts[:, _code(getattr(estimator, "classes_", range(amounts.shape[1])), label)]
    values = _evidence.class_evidence_of_instances(estimator, bags)
    code = None if label is None else _code(estimator.classes_, label)
    if values.shape[1] == 1:
        return -values[:, 0] if code == 0 else values[:, 0]
    if code is not None:
        return values[:, code]
    answers = np.array([_code(estimator.classes_, answer) for answer in estimator.predict(bags)])
    return values[np.arange(len(values)), bags.spread(answers)]


def _code(classes, label):
    found = np.flatnonzero(np.asarray(classes) == label)
    if not len(found):
        raise ValueError(f"no class is called {label!r}; there are {list(classes)}")
    return int(found[0])


def caption(estimator, label):
    """What such scores are, in words."""
    if _evidence.speaks_of_amounts(estimator):
        classes: Any = getattr(estimator, "classes_", ())
        which = f" {classes[-1] if label is None else label}" if len(classes) > 2 else ""
        return f"predicted amount{which} of the instance"
    if label is None and len(estimator.classes_) > 2:
        return "instance score for the class that the bag is given"
    return f"instance score for {estimator.classes_[1] if label is None else label}"
