"""The search for the labels of eq. 9 on problems whose similarities fit in memory."""

import numpy as np

from mixedbag.aggregate._count_program import assign_labels, signs
from mixedbag.aggregate._descent import descend, kick

_WORK = 100_000  # steps of the dual ascent × rows that a descent may take on average


def search_labels(gram, bags, positives, cost, ratio, scores, n_init, max_iter, rng):
    """The best labels of at most `n_init` descents, and the objectives on the way to them.

    The first descent starts from `scores`, later ones in turn from random exchanges in the best
    labels so far and from other labels (`_labels`). Those that are not near a good solution descend
    at a tenth of C first: wider margins smooth the objective and are found sooner.
    """
    budget = n_init * _WORK / bags.n_instances
    best_sign, best_beta, history = None, None, []
    for start in range(n_init):
        if start % 2:
            sign, beta = best_sign.copy(), best_beta.copy()
            strength = rng.randint(2, max(4, bags.n_instances // 2))
            kick(bags.offsets, bags.bag_of, sign, beta, rng.uniform(size=(strength, 2)))
            shares = (1.0,)
        else:
            sign = signs(_labels(start // 2, gram, bags, positives, ratio, scores, rng))
            beta = np.zeros(bags.n_instances)
            shares = (0.1, 1.0)
        for share in shares:
            objective, done = descend(
                gram, bags.offsets, positives, share * cost, ratio, sign, beta, max_iter, budget
            )
            budget -= done
            if share < 1.0:
                beta /= share
        if not history or objective < history[-1]:
            best_sign, best_beta = sign, beta
            history.append(objective)
        if budget <= 0.0:
            break
    return best_sign > 0.0, history


def _labels(k, gram, bags, positives, ratio, scores, rng):
    """The `k`-th labels to start from.

    As far as counts are facts, they are met, by `scores` and then by random ranks. Where a miss has
    a price, it may be worth paying: every other start breaks counts. It has one class alone, then
    the other, then the two sides of a random plane.
    """
    if np.isinf(ratio) or k % 2 == 0:
        ranks = scores if k == 0 else rng.normal(size=bags.n_instances)
        return assign_labels(ranks, bags.offsets, positives, 1.0, np.inf)[0]
    if k < 4:
        return np.full(bags.n_instances, k == 1)
    side = gram @ rng.normal(size=bags.n_instances)
    return side > np.quantile(side, rng.uniform())
