"""What every learner can do, asked of the classes themselves."""

from dataclasses import dataclass

from sklearn.utils import get_tags

from mixedbag.comparison._effort import UNKNOWN, known
from mixedbag.learners import all_learners

# The order in which the rules are shown.
RULES = ("any", "unknown", "majority", "count", "proportion", "sum", "mean", "sequence")


@dataclass(frozen=True)
class Capability:
    """One learner: a row of the table."""

    name: str
    home: str
    rules: tuple[str, ...]
    sparse: bool
    missing: bool
    probabilities: bool
    multiclass: bool | None
    scaling: bool
    cluster: bool
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
        sparse=tags.input_tags.sparse,
        missing=tags.input_tags.allow_nan,
        probabilities=hasattr(kind, "predict_proba"),
        multiclass=None if tags.classifier_tags is None else tags.classifier_tags.multi_class,
        scaling=bool(kind._needs_scaling),
        cluster=hasattr(kind, "_fit_blocks"),  # sums over blocks of bags, wherever they are
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
    rows = [of(kind) for kind in all_learners()]
    return sorted(rows, key=lambda row: (min(RULES.index(r) for r in row.rules), row.name))
