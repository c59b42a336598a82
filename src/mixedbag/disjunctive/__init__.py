"""Maximum margin by the 1-norm: learners over one disjunctive program."""

from mixedbag.disjunctive.dpboost import DPBoost
from mixedbag.disjunctive.exact import ExactBagMarginSVC
from mixedbag.disjunctive.lnpboost import LNPBoost
from mixedbag.disjunctive.sparse_margin import SparseBagMarginSVC
from mixedbag.disjunctive.transductive import TransductiveClassifier

__all__ = [
    "DPBoost",
    "ExactBagMarginSVC",
    "LNPBoost",
    "SparseBagMarginSVC",
    "TransductiveClassifier",
]


def __dir__():
    return __all__
