"""The stack: which learners take part and how much, decided on training bags alone."""

from functools import partial
from types import MappingProxyType

import numpy as np

from mixedbag._evidence import knows_instances
from mixedbag._laws import Events, law_of
from mixedbag._origin import Origin
from mixedbag.comparison._accounts import EventAccount, account_for, feasible
from mixedbag.comparison._models import model_for
from mixedbag.comparison._trials import fit
from mixedbag.comparison._weights import blend_weights

_ASKED = 5  # candidates that may be asked about instances


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
        self._witnesses = {}

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
        weight, judge = question.weight[split.train], question.judge(split.train)
        return blend_weights(answers, losses, weight, self.n_best, judge)

    def witnesses(self, split):
        """The candidates that are asked about instances, and their account.

        Those that only know bags take no part unless nobody else can.
        """
        if split.name not in self._witnesses:
            able = [c for c in self.candidates if knows_instances(c.estimator)] or self.candidates
            trials = [self.calibrated.store.get(candidate, split) for candidate in able]
            best = np.argsort([trial.loss for trial in trials], kind="stable")[:_ASKED]
            chosen, account = account_for(
                self.calibrated.question,
                [trials[i].inner_instances for i in best],
                self.calibrated.offsets(split.train),
                split.train,
                [self.calibrated.calibrator(able[i], split) for i in best],
                self.n_best,
            )
            asked = [able[best[m]] for m in chosen]
            if all(_of_events(candidate.estimator) for candidate in asked):
                account = EventAccount(account.weights, account.of_means)
            self._witnesses[split.name] = asked, account
        return self._witnesses[split.name]

    def answer(self, split):
        """The stack's answers on the test bags."""
        mean = sum(
            weight * self.calibrated.outside(candidate, split)
            for candidate, weight in self.members(split)
        )
        return feasible(self.calibrated.question, mean, self.calibrated.sizes[split.test])

    def answer_of_instances(self, split):
        """Its answers on the instances of the test bags, which agree with those on the bags."""
        witnesses, account = self.witnesses(split)
        evidence = [self.calibrated.store.get(c, split).instances for c in witnesses]
        return account.agree(evidence, self.answer(split), self.calibrated.offsets(split.test))

    def taking_part(self, split):
        """Candidates that are asked about bags or about instances."""
        asked = [candidate for candidate, _ in self.members(split)] + self.witnesses(split)[0]
        return [c for c in self.candidates if c.name in {candidate.name for candidate in asked}]

    def setting(self, candidate, split):
        return self.calibrated.store.get(candidate, split).setting

    def model(self, protocol, split, fitted=MappingProxyType({})):
        """The members fitted on the training bags of `split`, as one estimator.

        Those in `fitted`, by name, are so already.
        """
        weights = {candidate.name: weight for candidate, weight in self.members(split)}
        witnesses, account = self.witnesses(split)
        asked = [candidate.name for candidate in witnesses]
        taking_part = self.taking_part(split)
        names = [candidate.name for candidate in taking_part]
        store = self.calibrated.store
        models = [
            fitted[c.name]
            if c.name in fitted
            else fit(protocol, c, self.setting(c, split), split.train)
            for c in taking_part
        ]
        is_final = split.name == protocol.everything.name
        learned = protocol.whole.bags if is_final else protocol.bags[split.train]
        evidence = [store.get(candidate, split).inner_instances for candidate in witnesses]
        notes = account.doubts(evidence, self.calibrated.offsets(split.train))
        if not any(knows_instances(candidate.estimator) for candidate in witnesses):
            notes.insert(0, f"{' and '.join(asked)} only know bags: each instance was one alone")
        return model_for(
            protocol.question,
            names,
            models,
            [self.calibrated.calibrator(candidate, split) for candidate in taking_part],
            [weights.get(name, 0.0) for name in names],
            [names.index(name) for name in asked],
            account,
            Origin.of(protocol.question, learned, notes),
        )


def _of_events(estimator):
    return isinstance(law_of(estimator), Events)


class Stacks:
    """The stacks of a comparison: that of the same candidates is made once."""

    def __init__(self, calibrated, known=None):
        self.calibrated = calibrated
        self._known = {} if known is None else known

    def on(self, store):
        """The same on other trials; stacks of those that they share are kept."""
        return Stacks(self.calibrated.on(store), self._known)

    def of(self, candidates, n_best):
        tried = self.calibrated.store.n_settings
        key = (tuple((candidate.name, tried(candidate)) for candidate in candidates), n_best)
        if key not in self._known:
            self._known[key] = Stack(self.calibrated, candidates, n_best)
        return self._known[key]
