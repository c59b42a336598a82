"""What every learner can do, asked of the classes themselves."""

from dataclasses import dataclass
from inspect import signature

from sklearn.utils import get_tags

from _tools.times import LIMITED
from mixedbag.base._levels import Levels
from mixedbag.comparison._effort import UNKNOWN, known
from mixedbag.learners import all_learners

# The order in which the rules are shown.
RULES = ("any", "unknown", "majority", "count", "proportion", "sum", "mean", "sequence")

# Those whose memory tests/test_wide.py measures.
NOT_COPIED = frozenset(
    {
        "AggregateEasyLLPClassifier", "AggregateLogisticRegression", "AggregateMLPClassifier",
        "AggregateMLPRegressor", "AggregateMeanMapClassifier", "AggregatePoissonRegressor",
        "AggregateRidgeClassifier", "AggregateRidgeRegressor", "AggregateSVR", "BagMarginSVC",
        "DissimilarityClassifier", "DiverseDensity", "EMDD", "ExpBinBoost", "ExpRegBoost",
        "ISRBoost", "InstanceMarginSVC", "MILogisticRegression", "MINetworkClassifier",
        "MeanNetworkClassifier", "NoisyOrBoost", "OWABoost", "PooledBoostingClassifier",
        "SetKernelSVC", "TwoLevelClassifier",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Capability:
    """One learner: a row of the table."""

    name: str
    home: str
    rules: tuple[str, ...]
    instances: bool  # scores them itself; else as bags of one
    sparse: bool
    missing: bool
    probabilities: bool
    multiclass: bool | None
    weights: bool
    single: bool  # a table in single precision is not copied
    scaling: bool
    cluster: bool
    limited: bool  # searches until a time limit
    compared: bool
    growth: float | None  # the exponent of the number of bags in the seconds of a fit

    @property
    def path(self):
        return f"{self.home}.{self.name}"


def of(kind):
    """What a learner class can do, from its attributes and tags."""
    tags = get_tags(kind())
    home = next(p for p in kind.__module__.split(".")[1:] if not p.startswith("_"))
    rules = ("unknown",) if kind.__name__ == "TransductiveClassifier" else tuple(kind._rules)
    return Capability(
        name=kind.__name__,
        home=f"mixedbag.{home}",
        rules=rules,
        instances=kind._score_instances is not Levels._score_instances,
        sparse=tags.input_tags.sparse,
        missing=tags.input_tags.allow_nan,
        probabilities=hasattr(kind, "predict_proba"),
        multiclass=None if tags.classifier_tags is None else tags.classifier_tags.multi_class,
        weights="sample_weight" in signature(kind.fit).parameters,
        single=kind.__name__ in NOT_COPIED,
        scaling=bool(kind._needs_scaling),
        cluster=hasattr(kind, "_fit_blocks"),  # sums over blocks of bags, wherever they are
        limited=kind.__name__ in LIMITED,
        compared=bool(kind._compared),
        growth=_growth(kind.__name__, rules),
    )


def _growth(name, rules):
    """How a fit grows with bags of one size, by the measured table of efforts; None if unknown."""
    laws = [known(rule, name) for rule in rules]
    powers = [line.law.bags + line.law.instances for line in laws if line is not UNKNOWN]
    return max(powers, default=None)


def table():
    """Every learner, in the order of rules, then of names."""
    rows = [of(kind) for kind in all_learners(installed=False)]
    return sorted(rows, key=lambda row: (min(RULES.index(r) for r in row.rules), row.name))
