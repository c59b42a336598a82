"""Boosting for bags: pooled boosting under the *any* rule, SBoost under the *majority* rule."""

from mixedbag.boosting.exponential import ExpBinBoost, ExpRegBoost
from mixedbag.boosting.losses import ExponentialLoss, LogisticLoss
from mixedbag.boosting.pooled import (
    ISRBoost,
    NoisyOrBoost,
    OWABoost,
    PooledBoostingClassifier,
)
from mixedbag.boosting.sboost import SBoost
from mixedbag.boosting.steps import NewtonStep, PartitionStep, SignStep

__all__ = [
    "ExpBinBoost",
    "ExpRegBoost",
    "ExponentialLoss",
    "ISRBoost",
    "LogisticLoss",
    "NewtonStep",
    "NoisyOrBoost",
    "OWABoost",
    "PartitionStep",
    "PooledBoostingClassifier",
    "SBoost",
    "SignStep",
]


def __dir__():
    return __all__
