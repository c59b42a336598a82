"""Where a model comes from: the table it learned from, in so far as new tables must be like it."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from mixedbag._contributions import typical_values

_MARGIN = 0.25  # of a feature's range: no further beyond it is like what was learned from
_NAMED = 3  # features that a mark names


@dataclass(frozen=True)
class Origin:
    """What a model remembers of the data that it learned from.

    Attributes
    ----------
    rule : str
        What a bag's label says of its instances.
    unit : str
        What the answer about a bag is, in words.
    n_bags, n_instances : int
    low, high : array of shape (n_features,)
        The range of each feature; NaN where no value was known.
    typical : array of shape (n_features,)
        The median of each feature.
    columns : dict
        The column of each role ("bag", "label", "time", "instance", "group", "weight"), where the
        data came from a table.
    positive : str or None
        The label that counts as positive, where one of several was chosen.
    run : str
        What was typed, without what changes no answer: a run is the same if this is.
    notes : list of str
        What people should know before they act on answers.
    """

    rule: str
    unit: str
    n_bags: int
    n_instances: int
    low: Any
    high: Any
    typical: Any
    columns: dict = field(default_factory=dict)
    positive: Any = None
    run: str = ""
    notes: list = field(default_factory=list)

    @classmethod
    def of(cls, question, bags, notes=()):
        """The origin of a model that learned from `bags`."""
        low, high = _ranges(bags)
        facts = question.rule, _unit(question), len(bags), bags.n_instances
        return cls(*facts, low, high, typical_values(bags), notes=list(notes))

    def with_table(self, **facts):
        """The same with what a table and a command tell."""
        return replace(self, **facts)

    def outside(self, bags):
        """Features far from anything the model has learned from, a text a bag; empty: none.

        A value is far when it is beyond the range of its feature by more than a quarter of it.
        """
        rows, features = self._far(bags)
        names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
        return self.marks(len(bags), bags.bag_of[rows], features, names)

    def span(self):
        """The least and the largest value of each feature that is not far."""
        margin = _MARGIN * np.nan_to_num(self.high - self.low)
        return self.low - margin, self.high + margin

    def marks(self, n_bags, bags, features, names):
        """A text a bag, given pairs of a bag and a feature that is far in it."""
        marks = np.full(n_bags, "", dtype=object)
        found = np.unique(np.column_stack([bags, features]), axis=0)
        far, starts = np.unique(found[:, 0], return_index=True)
        for bag, features in zip(far, np.split(found[:, 1], starts[1:])):
            more = f" and {len(features) - _NAMED} more" if len(features) > _NAMED else ""
            marks[bag] = ", ".join(names[j] for j in features[:_NAMED]) + more
        return marks

    def _far(self, bags):
        """Rows and columns of values that are far from the range of their feature."""
        low, high = self.span()
        X = bags.instances
        if not bags.is_sparse:
            return np.nonzero((low > X) | (high < X))
        stored = X.tocoo()
        is_far = (stored.data < low[stored.col]) | (stored.data > high[stored.col])
        return stored.row[is_far], stored.col[is_far]


def _ranges(bags):
    X = bags.instances
    if sparse.issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)


def _unit(question):
    return {
        "count": "number of instances",
        "proportion": "share of instances",
        "sum": "total over the instances",
        "mean": "mean over the instances",
    }.get(question.rule, "class")
