"""What a fit of each learner costs, and how good it usually is: the measured table.

``effort.json`` is written by ``python -m benchmarks product/effort``. It decides in which order
work is done and how much of it is worth beginning, never what a trial finds.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).with_name("effort.json")
SPARSE = "any, sparse"  # where most values are zero, a feature costs something else

# Shares are counts and means are totals, as far as cost and merit go.
_KIN = {"proportion": "count", "mean": "sum"}
_WORDS = {"spread shares": "spread counts", "spread means": "spread totals"}


class Law(NamedTuple):
    """How the seconds of a fit grow: overhead + e^constant · bags^b · instances^c · features^d.

    For more than two classes, k, the product is (k − 1)^classes times as large. Where that was not
    measured it is one: a machine a class.
    """

    overhead: float
    constant: float
    bags: float
    instances: float
    features: float
    classes: float = 1.0

    def of_classes(self, n_classes):
        """The law for so many classes."""
        longer = self.classes * math.log(max(n_classes - 1, 1))
        return self._replace(constant=self.constant + longer)

    def seconds(self, n_bags, n_instances, n_features):
        return self.overhead + math.exp(
            self.constant
            + self.bags * math.log(max(n_bags, 1))
            + self.instances * math.log(max(n_instances, 1))
            + self.features * math.log(max(n_features, 1))
        )


class Known(NamedTuple):
    """A learner's line: merit between 0 and 1, its law, and how far its time hangs on the labels.

    Where labels are drawn at random it takes up to `longer` times as long.
    """

    merit: float
    law: Law
    longer: float = 1.0


# A learner that nobody has measured: an average one, which may take any time.
UNKNOWN = Known(0.5, Law(0.05, -8.0, 0.3, 0.7, 0.3), math.inf)


@cache
def _table():
    return json.loads(TABLE.read_text())["learners"]


def known(rule, name, is_sparse=False):
    """What the table says of a learner for a rule."""
    for word, kin in _WORDS.items():
        name = name.replace(word, kin)
    line = _table().get(_KIN.get(rule, rule), {}).get(name)
    if is_sparse and rule == "any":
        line = _table().get(SPARSE, {}).get(name, line)
    if line is None:
        return UNKNOWN
    merit, longer, *law = line
    return Known(merit, Law(*law), math.inf if longer is None else longer)
