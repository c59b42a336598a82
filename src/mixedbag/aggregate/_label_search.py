"""The search for the labels of eq. 9 on problems whose similarities fit in memory."""

from typing import Any

import numpy as np

from mixedbag.aggregate._count_program import assign_labels, signs
from mixedbag.aggregate._descent import carry_over, descend, kick

_WORK = 100_000  # steps of the dual ascent × rows that a descent may take on average


def search_labels(gram, bags, positives, cost, ratio, scores, n_init, max_iter, rng):
    """The best labels of at most `n_init` descents, and the objectives on the way to them.

    The first descent starts from `scores`, later ones in turn from random changes of the best
    labels so far and from other labels (`_labels`). Labels that meet the counts, but are not near a
    good solution, descend at a tenth of C first: wider margins smooth the objective and are found
    sooner. So small a C would rather miss counts than have a margin at all: until the last descent,
    they are facts.
    """
    budget = n_init * _WORK / bags.n_instances
    best_sign: Any = None
    best_beta: Any = None
    history: list[float] = []
    priced = not np.isinf(ratio)
    for start in range(n_init):
        stages = [(1.0, ratio)]
        if start % 2:
            sign, beta = _changed(best_sign, best_beta, bags, priced, rng)
        else:
            labels, met = _labels(start // 2, gram, bags, positives, priced, scores, rng)
            sign, beta = signs(labels), np.zeros(bags.n_instances)
            if met:
                stages = [(0.1, np.inf), *[(1.0, np.inf)] * priced, (1.0, ratio)]
        for share, price in stages:
            objective, done = descend(
                gram, bags.offsets, positives, share * cost, price, sign, beta, max_iter, budget
            )
            budget -= done
            beta /= share
        if not history or objective < history[-1]:
            best_sign, best_beta = sign, beta
            history.append(objective)
        if budget <= 0.0:
            break
    return best_sign > 0.0, history


def _changed(sign, beta, bags, priced, rng):
    """Labels and multipliers after random exchanges and, where misses have a price, flips."""
    sign, beta = sign.copy(), beta.copy()
    strength = rng.randint(2, max(4, bags.n_instances // 2))
    kick(bags.offsets, bags.bag_of, sign, beta, rng.uniform(size=(strength, 2)))
    if not priced:
        return sign, beta
    new = sign.copy()
    new[rng.randint(bags.n_instances, size=1 + strength // 2)] *= -1.0
    return new, carry_over(bags.offsets, sign, new, beta)


def _labels(k, gram, bags, positives, priced, scores, rng):
    """The `k`-th labels to start from, and whether they meet the counts.

    As far as counts are facts they do, by `scores` and then by random ranks. Where a miss has a
    price, it may be worth paying: every other start breaks counts. It has one class alone, then
    the other, then the two sides of a random plane.
    """
    if not priced or k % 2 == 0:
        ranks = scores if k == 0 else rng.normal(size=bags.n_instances)
        return assign_labels(ranks, bags.offsets, positives, 1.0, np.inf)[0], True
    if k < 4:
        return np.full(bags.n_instances, k == 1), False
    side = gram @ rng.normal(size=bags.n_instances)
    return side > np.quantile(side, rng.uniform()), False
