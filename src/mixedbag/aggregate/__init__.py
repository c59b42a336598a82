"""Learning from aggregate outputs: counts and totals of bags, values and classes of instances."""

from mixedbag.aggregate.boosting import (
    AggregateGradientBoostingClassifier,
    AggregateGradientBoostingRegressor,
)
from mixedbag.aggregate.easy_llp import AggregateEasyLLPClassifier
from mixedbag.aggregate.forest import AggregateForestClassifier, AggregateForestRegressor
from mixedbag.aggregate.logistic import AggregateLogisticRegression
from mixedbag.aggregate.mean_map import AggregateMeanMapClassifier
from mixedbag.aggregate.neighbors import (
    AggregateKNeighborsClassifier,
    AggregateKNeighborsRegressor,
)
from mixedbag.aggregate.neural import AggregateMLPClassifier, AggregateMLPRegressor
from mixedbag.aggregate.poisson import AggregatePoissonRegressor
from mixedbag.aggregate.rbf import AggregateRBFClassifier, AggregateRBFRegressor
from mixedbag.aggregate.ridge import AggregateRidgeClassifier, AggregateRidgeRegressor
from mixedbag.aggregate.svc import AggregateSVC
from mixedbag.aggregate.svr import AggregateSVR
from mixedbag.aggregate.tree import AggregateTreeClassifier, AggregateTreeRegressor

__all__ = [
    "AggregateEasyLLPClassifier",
    "AggregateForestClassifier",
    "AggregateForestRegressor",
    "AggregateGradientBoostingClassifier",
    "AggregateGradientBoostingRegressor",
    "AggregateKNeighborsClassifier",
    "AggregateKNeighborsRegressor",
    "AggregateLogisticRegression",
    "AggregateMLPClassifier",
    "AggregateMLPRegressor",
    "AggregateMeanMapClassifier",
    "AggregatePoissonRegressor",
    "AggregateRBFClassifier",
    "AggregateRBFRegressor",
    "AggregateRidgeClassifier",
    "AggregateRidgeRegressor",
    "AggregateSVC",
    "AggregateSVR",
    "AggregateTreeClassifier",
    "AggregateTreeRegressor",
]


def __dir__():
    return __all__
