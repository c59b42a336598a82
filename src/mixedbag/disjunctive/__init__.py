"""Maximum margin by the 1-norm: learners over one disjunctive program."""

from mixedbag.disjunctive.exact import ExactBagMarginSVC
from mixedbag.disjunctive.lnpboost import LNPBoost
from mixedbag.disjunctive.sparse_margin import SparseBagMarginSVC

__all__ = ["ExactBagMarginSVC", "LNPBoost", "SparseBagMarginSVC"]
