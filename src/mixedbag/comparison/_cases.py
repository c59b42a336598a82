"""Cases: what is true of some bags, how much each counts, and which class an answer means."""

from dataclasses import dataclass, replace

import numpy as np

from mixedbag.comparison import _intervals


@dataclass(frozen=True, eq=False)
class Cases:
    """What is true of some bags.

    Attributes
    ----------
    kind : {"classes", "counts", "amounts"}
    truth : array
        Codes of classes, of shape (n_bags,), the positive class last; or amounts, of shape
        (n_bags, n_outputs).
    weight : array of shape (n_bags,)
    n_classes : int
    sizes : array of shape (n_bags,), optional
        For counts: how many instances each bag has (ones for proportions).
    groups : array of shape (n_bags,), optional
        What belongs together, such as the bags of a patient.
    costs : array of shape (n_classes, n_classes), optional
        What an answer costs: a row a true class, a column an answered one.
    decided : array of int, shape (n_bags,), optional
        Codes of the classes answered, where these do not follow from probabilities and costs.
    centre, spread : array of shape (n_outputs,), optional
        Mean and variance of all amounts, when these are some of them.
    """

    kind: str
    truth: np.ndarray
    weight: np.ndarray
    n_classes: int = 0
    sizes: np.ndarray | None = None
    groups: np.ndarray | None = None
    costs: np.ndarray | None = None
    decided: np.ndarray | None = None
    centre: np.ndarray | None = None
    spread: np.ndarray | None = None

    def __post_init__(self):
        if self.kind != "classes" and self.spread is None:
            centre = np.average(self.truth, axis=0, weights=self.weight)
            spread = np.average((self.truth - centre) ** 2, axis=0, weights=self.weight)
            object.__setattr__(self, "centre", centre)
            object.__setattr__(self, "spread", np.where(spread > 0, spread, 1.0))

    def __len__(self):
        return len(self.truth)

    def __getitem__(self, rows):
        """Some of the bags; amounts are still measured against the spread of all."""
        return replace(
            self,
            truth=self.truth[rows],
            weight=self.weight[rows],
            sizes=None if self.sizes is None else self.sizes[rows],
            groups=None if self.groups is None else self.groups[rows],
            decided=None if self.decided is None else self.decided[rows],
        )

    def decide(self, answer):
        """Codes of the classes answered: the most probable ones, or those of least cost."""
        return decide(answer, self.costs) if self.decided is None else self.decided

    def per_class(self):
        """The bags of every class, as masks."""
        return [self.truth == k for k in range(self.n_classes)]


def decide(answer, costs=None):
    """Codes of the classes of least expected cost, one a row of probabilities.

    Without costs every mistake costs the same, and that is the most probable class.
    """
    if costs is None:
        return answer.argmax(axis=1)
    return (answer @ costs).argmin(axis=1)


def confusion(cases, answer):
    """Weights of bags, a row a true class, a column an answered one."""
    table = np.zeros((cases.n_classes, cases.n_classes))
    np.add.at(table, (cases.truth, cases.decide(answer)), cases.weight)
    return table


def minus_mean(cases, losses, plain):
    """Minus the mean of losses, none of them negative, and the ends of its interval."""
    plain = float(np.average(plain, weights=cases.weight))
    whole = np.ones(len(cases))
    mean, low, high = _intervals.ratio_interval(losses, whole, cases.weight, cases.groups, plain)
    return -mean, -high, -max(low, 0.0)
