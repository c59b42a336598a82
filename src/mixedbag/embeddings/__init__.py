"""A bag becomes one vector, and any scikit-learn classifier learns from the vectors."""

from mixedbag.embeddings.dissimilarity import DissimilarityClassifier
from mixedbag.embeddings.fisher import FisherVectorClassifier
from mixedbag.embeddings.network import MeanNetworkClassifier
from mixedbag.embeddings.pooled_network import MINetworkClassifier
from mixedbag.embeddings.prototypes import PrototypeClassifier
from mixedbag.embeddings.vlad import VLADClassifier
from mixedbag.embeddings.vocabulary import VocabularyClassifier

__all__ = [
    "DissimilarityClassifier",
    "FisherVectorClassifier",
    "MINetworkClassifier",
    "MeanNetworkClassifier",
    "PrototypeClassifier",
    "VLADClassifier",
    "VocabularyClassifier",
]


def __dir__():
    return __all__
