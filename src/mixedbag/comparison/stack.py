"""The stack: learners chosen and weighted by their out-of-fold answers on training bags alone."""

from functools import partial

from mixedbag.comparison.blend import blend_weights


class Calibrated:
    """Calibrated answers of trials and their weights in a stack, each worked out once."""

    def __init__(self, question, store):
        self.question = question
        self.store = store
        self._known = {}

    def inside(self, candidate, split):
        """A candidate's out-of-fold answers on the training bags."""
        return self._of(candidate, split)[0]

    def outside(self, candidate, split, part):
        """Its answers on the test bags (`part` "outer") or on their "instances"."""
        evidence = getattr(self.store.get(candidate, split), part)
        return self.calibrator(candidate, split)(evidence)

    def calibrator(self, candidate, split):
        return self._of(candidate, split)[1]

    def weights(self, candidates, split, n_best):
        """Weights of a stack of candidates, from a split's training bags alone."""
        key = (tuple(candidate.name for candidate in candidates), split.name, n_best)
        if key not in self._known:
            answers = [self.inside(candidate, split) for candidate in candidates]
            losses = partial(self.question.loss, rows=split.train)
            weight = self.question.weight[split.train]
            self._known[key] = blend_weights(answers, losses, weight, n_best)
        return self._known[key]

    def _of(self, candidate, split):
        key = (candidate.name, split.name)
        if key not in self._known:
            evidence = self.store.get(candidate, split).inner
            calibrate = self.question.calibrator(evidence, split.train)
            self._known[key] = calibrate(evidence), calibrate
        return self._known[key]


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

    def members(self, split):
        """Pairs of candidate and weight, without those of weight zero."""
        weights = self.calibrated.weights(self.candidates, split, self.n_best)
        return [(c, float(w)) for c, w in zip(self.candidates, weights) if w > 0]

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
        fitted = [protocol.fit(c, store.get(c, split).setting, split.train) for c, _ in members]
        return self.calibrated.question.blend(
            [candidate.name for candidate, _ in members],
            fitted,
            [self.calibrated.calibrator(candidate, split) for candidate, _ in members],
            [weight for _, weight in members],
        )
