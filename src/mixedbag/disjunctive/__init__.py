"""Maximum margin by the 1-norm: learners over one disjunctive program."""

from mixedbag.disjunctive.sparse_margin import SparseBagMarginSVC

__all__ = ["SparseBagMarginSVC"]
