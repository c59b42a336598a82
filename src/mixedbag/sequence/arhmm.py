"""ARHMM-MIL: sequences with bag labels, explained by an autoregressive hidden Markov model."""

from mixedbag.sequence.chain import Chain
from mixedbag.sequence.classifier import SequenceClassifier


class ARHMMClassifier(SequenceClassifier):
    _dynamics = Chain

    def _store_dynamics(self, chain):
        self.initial_, self.transition_ = chain.initial, chain.transition

    def _stored_dynamics(self):
        return Chain(self.initial_, self.transition_)
