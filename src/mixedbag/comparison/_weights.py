"""How much each of several answers should count in their mean: bagged greedy selection."""

import numpy as np

_STEPS = 12
_SAMPLES = 20


def blend_weights(answers, losses, bag_weight, n_best=5, judge=None, random_state=0):
    """Weights of answers whose mean has a small loss: bagged greedy selection.

    On a bootstrap sample of the bags, the answer that lowers the loss of the running mean most is
    added to it, again and again, with replacement; weights are the shares of additions, averaged
    over samples (Caruana and others, 2004). Samples and few steps keep the weights from fitting the
    noise of a few dozen bags, as a free linear model would.

    Parameters
    ----------
    answers : list of arrays of shape (n_bags, k)
        Out-of-fold answers, one array a learner.
    losses : callable
        From one answer to its losses, bag by bag.
    bag_weight : array of shape (n_bags,)
        How much each bag's loss counts.
    n_best : int
        How many of the best on a sample take part; one means a choice of the single best of all.
    judge : callable, optional
        From one answer and weights of bags to how good it is: who is best. Without it, who has the
        smallest loss.
    random_state : int

    Returns
    -------
    array of shape (n_learners,)
        Not negative, sums to one.
    """
    alone = np.array([losses(answer) for answer in answers])

    def badness(weight):
        return alone @ weight if judge is None else [-judge(answer, weight) for answer in answers]

    if n_best == 1 or len(answers) == 1:
        return np.eye(len(answers))[np.argmin(badness(bag_weight))]
    n_bags = alone.shape[1]
    samples = np.random.default_rng(random_state).multinomial(
        n_bags, np.full(n_bags, 1 / n_bags), size=_SAMPLES
    )
    shares = np.zeros(len(answers))
    for sample in samples:
        weight = sample * bag_weight
        pool = np.argsort(badness(weight), kind="stable")[:n_best]
        shares[pool] += _greedy([answers[i] for i in pool], losses, weight)
    return shares / shares.sum()


def _greedy(answers, losses, weight):
    """Shares of additions up to the step of smallest loss on weighted bags."""
    counts, total = np.zeros(len(answers)), np.zeros_like(answers[0])
    best, best_loss = None, np.inf
    for step in range(1, _STEPS + 1):
        after = [losses((total + answer) / step) @ weight for answer in answers]
        chosen = int(np.argmin(after))
        total = total + answers[chosen]
        counts[chosen] += 1
        if after[chosen] < best_loss:
            best, best_loss = counts / step, after[chosen]
    return best
