"""How much each of several answers should count in their mean: the less, the surer it is behind."""

import numpy as np

_FAR = 2.0  # standard errors behind the best: enough not to count at all


def blend_weights(answers, losses, bag_weight, n_best=5, judge=None):
    """Weights of answers whose mean has a small loss.

    Who is z standard errors of the difference behind the best counts ``exp(-z²)`` times as much: a
    few dozen bags cannot tell who is best, and the mean of those who may be is better than either a
    choice among them or weights that are fitted freely, which both follow the noise.

    Parameters
    ----------
    answers : list of arrays of shape (n_bags, k)
        Out-of-fold answers, one array a learner.
    losses : callable
        From one answer to its losses, bag by bag.
    bag_weight : array of shape (n_bags,)
        How much each bag's loss counts.
    n_best : int
        How many take part at most; one means a choice of the single best.
    judge : callable, optional
        From one answer and weights of bags to how good it is: who is best. Without it, who has the
        smallest loss.

    Returns
    -------
    array of shape (n_learners,)
        Not negative, sums to one.
    """
    table = np.array([losses(answer) for answer in answers])
    badness = table @ bag_weight
    if judge is not None:
        badness = np.array([-judge(answer, bag_weight) for answer in answers])
    best = np.argsort(badness, kind="stable")[:n_best]
    distance = standard_errors_behind(table[best], bag_weight)
    weights = np.zeros(len(answers))
    weights[best] = np.where(distance <= _FAR, np.exp(-(np.minimum(distance, _FAR) ** 2)), 0.0)
    return weights / weights.sum()


def standard_errors_behind(losses, weight):
    """How far each is behind the best of all, in standard errors of the difference of means.

    A row of `losses` is a rival, a column a bag of this weight.
    """
    share = weight / weight.sum()
    lead = losses - losses[(losses @ share).argmin()]
    mean = lead @ share
    error = np.sqrt((lead - mean[:, None]) ** 2 @ share**2)
    tiny = 1e-9 * np.abs(losses).mean()  # equal but for rounding
    return np.divide(mean, np.maximum(error, tiny), out=np.zeros_like(mean), where=mean > tiny)
