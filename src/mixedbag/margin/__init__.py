"""Maximum-margin learners: the largest margin of bags, or of instances, in the 2-norm."""

from mixedbag.margin.annealed_bag_margin import AnnealedBagMarginSVC
from mixedbag.margin.annealed_instance_margin import AnnealedInstanceMarginSVC
from mixedbag.margin.bag_margin import BagMarginSVC
from mixedbag.margin.instance_margin import InstanceMarginSVC
from mixedbag.margin.similarity_margin import SimilarityMarginSVC

__all__ = [
    "AnnealedBagMarginSVC",
    "AnnealedInstanceMarginSVC",
    "BagMarginSVC",
    "InstanceMarginSVC",
    "SimilarityMarginSVC",
]


def __dir__():
    return __all__
