"""MARMIL: the same without memory between states, a mixture of autoregressions."""

from mixedbag.sequence.classifier import SequenceClassifier
from mixedbag.sequence.independent import Independent


class MARClassifier(SequenceClassifier):
    _dynamics = Independent

    def _store_dynamics(self, independent):
        self.weights_ = independent.weights

    def _stored_dynamics(self):
        return Independent(self.weights_)
