"""The stack: which learners take part and how much, decided on training bags alone."""

from functools import partial

import numpy as np

from mixedbag.comparison._blend import blend
from mixedbag.comparison._trials import fit

_STEPS = 12
_SAMPLES = 20


class Stack:
    """A weighted mean of the best few candidates, chosen anew inside every split's training bags.

    Parameters
    ----------
    calibrated : Calibrated
    candidates : list of Candidate
        Those that may take part; each has a trial on every split asked for.
    n_best : int
        How many take part at most; one makes it a choice of the best single learner.
    """

    def __init__(self, calibrated, candidates, n_best):
        self.calibrated = calibrated
        self.candidates = candidates
        self.n_best = n_best
        self._members = {}

    def members(self, split):
        """Pairs of candidate and weight, without those of weight zero."""
        if split.name not in self._members:
            weights = self._weights(split)
            self._members[split.name] = [
                (candidate, float(weight))
                for candidate, weight in zip(self.candidates, weights)
                if weight > 0
            ]
        return self._members[split.name]

    def _weights(self, split):
        question = self.calibrated.question
        answers = [self.calibrated.inside(candidate, split) for candidate in self.candidates]
        losses = partial(question.loss, rows=split.train)
        return blend_weights(answers, losses, question.weight[split.train], self.n_best)

    def answer(self, split, part="outer"):
        """The stack's answers on the test bags, or on their "instances"."""
        return sum(
            weight * self.calibrated.outside(candidate, split, part)
            for candidate, weight in self.members(split)
        )

    def model(self, protocol, split):
        """The members fitted on the training bags of `split`, as one estimator."""
        members = self.members(split)
        store = self.calibrated.store
        return blend(
            protocol.question,
            [candidate.name for candidate, _ in members],
            [fit(protocol, c, store.get(c, split).setting, split.train) for c, _ in members],
            [self.calibrated.calibrator(candidate, split) for candidate, _ in members],
            [weight for _, weight in members],
        )


class Stacks:
    """The stacks of a comparison: that of the same candidates is made once."""

    def __init__(self, calibrated):
        self.calibrated = calibrated
        self._known = {}

    def of(self, candidates, n_best):
        key = (tuple(candidate.name for candidate in candidates), n_best)
        if key not in self._known:
            self._known[key] = Stack(self.calibrated, candidates, n_best)
        return self._known[key]


def blend_weights(answers, losses, bag_weight, n_best=5, random_state=0):
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
    random_state : int

    Returns
    -------
    array of shape (n_learners,)
        Not negative, sums to one.
    """
    alone = np.array([losses(answer) for answer in answers])
    if n_best == 1 or len(answers) == 1:
        return np.eye(len(answers))[(alone @ bag_weight).argmin()]
    n_bags = alone.shape[1]
    samples = np.random.default_rng(random_state).multinomial(
        n_bags, np.full(n_bags, 1 / n_bags), size=_SAMPLES
    )
    shares = np.zeros(len(answers))
    for sample in samples:
        weight = sample * bag_weight
        pool = np.argsort(alone @ weight, kind="stable")[:n_best]
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
