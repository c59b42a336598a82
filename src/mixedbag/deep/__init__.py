"""Networks with attention, through the models of torchmil: ``pip install 'mixedbag[torch]'``.

Nothing else of the package imports torch, and this package does so only when it fits or answers.
"""

from mixedbag.deep.attention import AttentionClassifier
from mixedbag.deep.transformer import TransformerClassifier

__all__ = ["AttentionClassifier", "TransformerClassifier"]


def __dir__():
    return __all__
