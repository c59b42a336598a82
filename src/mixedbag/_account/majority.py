"""Majorities: the shares of classes among instances agree with the class of the bag."""

import numpy as np
from scipy.special import log_softmax

from mixedbag.pooling import bag_sum, spread


def share_for_majority(probability, offsets, answered):
    """Class probabilities of instances among which the answered class has the largest share.

    The log-odds of a bag's answered class rise by the least amount that makes its expected share
    no smaller than any other; bags whose shares agree already stay as they are.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    offsets : array of shape (n_bags + 1,)
    answered : array of int, shape (n_bags,)
        The code of the class that the bag was given.
    """
    sizes = np.diff(offsets)
    chosen = spread(answered, offsets)
    rows = np.arange(len(probability))
    log_q = np.log(np.clip(probability, 1e-300, None))

    def lead(shift):
        moved = log_q.copy()
        moved[rows, chosen] += spread(shift, offsets)
        q = np.exp(log_softmax(moved, axis=1))
        share = bag_sum(q, offsets) / sizes[:, None]
        own = share[np.arange(len(answered)), answered]
        share[np.arange(len(answered)), answered] = -np.inf
        return q, own - share.max(axis=1)

    low = np.zeros(len(answered))
    q, ahead = lead(low)
    if (ahead >= 0).all():
        return q
    high = np.where(ahead >= 0, 0.0, 1.0)
    while ((behind := lead(high)[1] < 0) & (high < 1e4)).any():
        high = np.where(behind, 2 * high, high)
    for _ in range(60):
        middle = (low + high) / 2
        enough = lead(middle)[1] >= 0
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return lead(high)[0]


def name_majority(probability, codes, offsets, answered):
    """Codes of the instances' classes among which no class is more frequent than the answered one.

    Every instance has the class it would have alone. Where that gives another class the majority,
    the instances nearest to the answered class go over to it, no more than needed.

    Parameters
    ----------
    probability : array of shape (n_instances, n_classes)
    codes : array of int, shape (n_instances,)
        The classes of the instances alone.
    offsets : array of shape (n_bags + 1,)
    answered : array of int, shape (n_bags,)
        The code of the class that the bag was given.
    """
    codes = codes.copy()
    n_classes = probability.shape[1]
    votes = bag_sum(np.eye(n_classes)[codes], offsets)
    own = votes[np.arange(len(answered)), answered]
    for i in np.flatnonzero(votes.max(axis=1) > own):
        part = codes[offsets[i] : offsets[i + 1]]
        q = probability[offsets[i] : offsets[i + 1]]
        nearest = np.argsort(_lead_over(q, answered[i]), kind="stable")
        for row in nearest[part[nearest] != answered[i]]:
            part[row] = answered[i]
            counts = np.bincount(part, minlength=n_classes)
            if counts.max() == counts[answered[i]]:
                break
    return codes


def _lead_over(probability, code):
    """By how much the best class of each row leads over the class `code`."""
    return probability.max(axis=1) - probability[:, code]
