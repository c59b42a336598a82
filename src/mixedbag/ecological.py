"""Ecological inference: how groups answered, from the margins of many small tables.

Of every precinct it is known how many people each group has (rows) and how many gave each answer
(columns), not who answered what. `RowByColumn` holds these margins and offers three views: what is
certain (the method of bounds), Goodman's regression, which takes the rates as the same everywhere,
and a logistic model whose rates may change with covariates and agree with every precinct's margins.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from mixedbag._account.margins import scale_to_counts
from mixedbag._files import drawn
from mixedbag._validation import named_groups
from mixedbag.aggregate import AggregateLogisticRegression
from mixedbag.bags import Bags, as_bags
from mixedbag.counts import are_shares
from mixedbag.exceptions import InputError
from mixedbag.inspection import _Display
from mixedbag.uncertainty import bootstrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PrecinctBoundsDisplay", "RateDisplay", "Rates", "RowByColumn", "TomographyDisplay"]

_LEAST = 1e-3  # of the strength of a Dirichlet law: one person answers nearly all or nothing
_BY_CHANCE = 0.01  # a table of people that is less likely than this was not dealt out at random
_SIDE_BY_SIDE = 50  # letters of names under a picture
_ROOM = 1.2  # times as high as a legend is what is kept free for it


@dataclass(frozen=True)
class Rates:
    """How each group answered: share of row r that gave answer c.

    Parameters
    ----------
    district : array of shape (n_rows, n_columns)
        Over all precincts together.
    low, high : array of shape (n_rows, n_columns)
        Limits of `district`: certain ones for bounds, those of an interval for estimates.
    precincts, precincts_low, precincts_high : array of shape (n_precincts, n_rows, n_columns)
        The same for each precinct; None where a method has nothing to say. NaN for a group that a
        precinct does not have.

    See Also
    --------
    RowByColumn : Makes them, in three ways.
    RateDisplay : Draws them.

    Examples
    --------
    >>> from mixedbag.ecological import RowByColumn
    >>> rates = RowByColumn(rows=[[90, 10], [20, 80]], columns=[[30, 70], [60, 40]]).bounds()
    >>> rates.low.round(2)
    array([[0.18, 0.55],
           [0.44, 0.22]])
    """

    district: np.ndarray
    low: np.ndarray
    high: np.ndarray
    precincts: np.ndarray | None = None
    precincts_low: np.ndarray | None = None
    precincts_high: np.ndarray | None = None


class RowByColumn:
    """Margins of one table a precinct.

    Parameters
    ----------
    rows : array of shape (n_precincts, n_rows)
        How many people of each group a precinct has.
    columns : array of shape (n_precincts, n_columns)
        How many gave each answer, or their shares. Answers add up to the people (turnout: give
        those who did not vote a column).

    See Also
    --------
    Rates : What its methods return.
    mixedbag.aggregate.AggregateLogisticRegression : Where every person's own features are known.
    PrecinctBoundsDisplay : The bounds of every precinct, drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.ecological import RowByColumn
    >>> table = RowByColumn(rows=[[90, 10], [20, 80]], columns=[[30, 70], [60, 40]])
    >>> table.bounds().precincts_low[0].round(2)
    array([[0.22, 0.67],
           [0.  , 0.  ]])
    """

    def __init__(self, rows: ArrayLike, columns: ArrayLike) -> None:
        self.rows = np.asarray(rows, dtype=np.float64)
        columns = np.asarray(columns, dtype=np.float64)
        if self.rows.ndim != 2 or columns.ndim != 2 or len(self.rows) != len(columns):
            raise InputError(
                f"rows and columns are tables with a line a precinct; got {self.rows.shape} and "
                f"{columns.shape}"
            )
        for name, margin in (("rows", self.rows), ("columns", columns)):
            wrong = ~(np.isfinite(margin) & (margin >= 0)).all(axis=1)
            if wrong.any():
                raise InputError(f"precinct {int(wrong.argmax())} has {name} that are no counts")
        people, answers = self.rows.sum(axis=1), columns.sum(axis=1)
        if np.allclose(answers, 1.0, atol=1e-6):
            columns, answers = columns * people[:, None], people
        if (people <= 0).any():
            raise InputError(f"precinct {int(people.argmin())} has no people: leave it out")
        wrong = ~np.isclose(people, answers, rtol=1e-6)
        if wrong.any():
            i = int(wrong.argmax())
            raise InputError(
                f"precinct {i} has {people[i]:g} people and {answers[i]:g} answers: give those "
                "without an answer a column of their own"
            )
        self.columns = columns

    @classmethod
    def from_bags(cls, bags: Any, groups: ArrayLike, counts: ArrayLike) -> Self:
        """The margins of bags whose instances have a group and whose counts are known.

        Parameters
        ----------
        bags : bags
        groups : array of shape (n_instances,)
            The group of each instance; the rows are the groups in sorted order.
        counts : array of shape (n_bags,) or (n_bags, n_classes)
            How many instances of a bag are positive (columns: others, positives), or of each class;
            or which share.
        """
        bags, counts = as_bags(bags), np.asarray(counts, dtype=np.float64)
        names, codes = np.unique(named_groups(groups), return_inverse=True)
        if len(codes) != bags.n_instances:
            raise InputError(f"{len(codes)} groups for {bags.n_instances} instances")
        rows = np.zeros((len(bags), len(names)))
        np.add.at(rows, (bags.bag_of, codes), 1.0)
        if counts.ndim == 1:
            counts = counts * bags.sizes if are_shares(counts) else counts
            counts = np.column_stack([bags.sizes - counts, counts])
        return cls(rows, counts)

    def bounds(self) -> Rates:
        """What is certain, whatever happened (Duncan and Davis, 1953).

        Of X people of a group among N, at least T − (N − X) and at most min(X, T) are among the T
        who gave an answer. Bounds of the district add up those of its precincts.
        """
        X, T = self.rows[:, :, None], self.columns[:, None, :]
        others = self.rows.sum(axis=1)[:, None, None] - X
        least, most = np.maximum(0.0, T - others), np.minimum(X, T)
        group = self.rows.sum(axis=0)[:, None]
        with np.errstate(invalid="ignore"):  # a group may be nowhere
            low, high = least / X, most / X
            district = least.sum(axis=0) / group, most.sum(axis=0) / group
        return Rates(sum(district) / 2, *district, (low + high) / 2, low, high)

    def goodman(self, level: float = 0.95) -> Rates:
        """Goodman's regression (1953): the shares of answers on the shares of groups.

        Least squares over precincts, each by its people, without a constant; the coefficients are
        the rates if they are the same in all precincts. Limits are the usual ones of a regression,
        or those robust to unequal variance where they are wider: a precinct that has most of a rare
        group has no residual by which to judge. Rates outside [0, 1] are a sign that they are not
        the same.
        """
        from scipy.stats import norm

        if not 0.0 < level < 1.0:
            raise InputError(f"level is a share of intervals, such as 0.95; got {level!r}")
        people = self.rows.sum(axis=1)
        X, Y = self.rows / people[:, None], self.columns / people[:, None]
        n, r = X.shape
        if n <= r:
            raise InputError(f"{n} precincts are too few for {r} groups")
        inverse = np.linalg.pinv(X.T @ (people[:, None] * X))
        pull = inverse @ (X * people[:, None]).T
        rates = pull @ Y
        square = (Y - X @ rates) ** 2 * n / (n - r)
        usual = np.outer(np.diag(inverse), people @ square / n)
        deviation = np.sqrt(np.maximum(usual, pull**2 @ square))
        reach = norm.ppf((1 + level) / 2) * deviation
        rates[self.rows.sum(axis=0) == 0] = np.nan
        return Rates(rates, rates - reach, rates + reach)

    def model(
        self,
        covariates: ArrayLike | None = None,
        *,
        estimator: Any = None,
        resolution: int = 50,
        n_draws: int = 100,
        random_state: int = 0,
    ) -> Rates:
        """A logistic model of answers, on groups and covariates, that agrees with all margins.

        Every precinct is a bag of `resolution` people, as many of each group as it has (of a small
        group, one); rates of groups shift with the covariates and with their products with groups.
        The rates of a precinct are then scaled to its own margins, so they keep within the bounds,
        and add up to what is known of precincts and the district. Intervals redraw precincts, and
        in each what its people answered, as far from what is expected of them as its margins are.

        Parameters
        ----------
        covariates : array of shape (n_precincts, n_covariates), optional
            What is known of precincts: region, density, a tax. Standardise them.
        estimator : learner of counts, optional
            By default `AggregateLogisticRegression` with ``C=10`` and ``likelihood="mean"``: the
            people that stand for a precinct are no counts.
        resolution : int
            People that stand for a precinct.
        n_draws : int
            Refits for the intervals.
        random_state : int

        Warns
        -----
        UserWarning
            If there are covariates, and precincts differ in their groups by no more than if people
            had been dealt out at random. Then covariates differ as people happen to, too: a mean
            of theirs that goes with a group explains what the group does, the rates of groups come
            out too much alike, and limits do not tell.
            If there are none, and rates that are the same in all precincts would lie beyond what is
            certain. Then rates go with the precincts, and limits, which redraw precincts and no
            more, are too narrow.
        """
        if covariates is not None and self._dealt_out():
            warnings.warn(
                "precincts differ in their groups by no more than chance would have it: covariates "
                "that are means of the people may take what groups do for their own, and rates "
                "be off by more than their limits; compare those without covariates, and bounds()",
                stacklevel=2,
            )
        if covariates is None and self._unlike_everywhere():
            warnings.warn(
                "rates that are the same in all precincts would lie beyond what is certain: they "
                "go with something else that precincts differ in, and limits are too narrow; give "
                "covariates, and compare bounds()",
                stacklevel=2,
            )
        if estimator is None:
            estimator = AggregateLogisticRegression(C=10.0, likelihood="mean")
        bags, group, shares = self._as_bags(covariates, resolution)
        models = bootstrap(
            estimator, bags, shares, n_draws=n_draws, level=0.95, random_state=random_state
        )

        def told_by(model):
            return self._by_group(model.predict_proba_instances(bags), bags, group)

        strength = self._strength(told_by(models.model), bags.n_features)
        rng = np.random.default_rng(random_state)

        def rates(model):
            """Of the district, then of every precinct."""
            told = told_by(model)
            own = model is models.model
            found = self.agreeing(told) if own else self._found(told, strength, rng)
            return np.concatenate([found.district[None], found.precincts])

        found = models.ask(rates)
        low, high = np.minimum(found.low, found.estimate), np.maximum(found.high, found.estimate)
        limits = (found.estimate, low, high)
        return Rates(*(part[0] for part in limits), *(part[1:] for part in limits))

    def agreeing(self, rates: ArrayLike) -> Rates:
        """The rates nearest to given ones (in relative entropy) that agree with all margins.

        Those of every precinct add up to its answers, and so those of the district do; all are
        inside what is certain, which are the limits.

        Parameters
        ----------
        rates : array of shape (n_rows, n_columns) or (n_precincts, n_rows, n_columns)
            What is thought of each group, everywhere or in every precinct.
        """
        certain: Any = self.bounds()
        precincts = np.full_like(certain.precincts, np.nan)
        there = self.rows > 0
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        told = np.asarray(rates, dtype=np.float64)
        if told.ndim and told.shape not in (precincts.shape[1:], precincts.shape):
            n, r, c = precincts.shape
            raise InputError(f"rates of shape {told.shape} for {n} tables of {r} by {c}")
        given = np.broadcast_to(told, precincts.shape)[there]
        if not (np.isfinite(given) & (given >= 0)).all():
            raise InputError("rates must be shares; there is one that is unknown or negative")
        precincts[there] = scale_to_counts(given, ends, self.columns, self.rows[there])
        people = self.rows[:, :, None]
        with np.errstate(invalid="ignore"):
            district = np.nansum(people * precincts, axis=0) / people.sum(axis=0)
        return replace(certain, district=district, precincts=precincts)

    def _dealt_out(self):
        """Whether groups are spread over precincts as by chance; mere shares do not tell."""
        if len(self.rows) < 2 or not self._are_people():
            return False
        from scipy.stats import chi2_contingency

        present = self.rows[:, self.rows.sum(axis=0) > 0]
        return present.shape[1] > 1 and chi2_contingency(present).pvalue > _BY_CHANCE

    def _unlike_everywhere(self):
        """Whether Goodman's limits of a rate, the same in all precincts, lie beyond its bounds."""
        if len(self.rows) <= self.rows.shape[1]:
            return False
        same, certain = self.goodman(), self.bounds()
        return bool(((same.low > certain.high) | (same.high < certain.low)).any())

    def _as_bags(self, covariates, resolution):
        """Precincts as bags of people, the group of each person, and the shares of answers."""
        share = self.rows / self.rows.sum(axis=1, keepdims=True)
        n_rows = self.rows.shape[1]
        present = np.maximum(np.round(share * resolution), self.rows > 0).astype(int)
        group = np.concatenate([np.repeat(np.arange(n_rows), line) for line in present])
        offsets = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        features = np.eye(n_rows)[group]
        if covariates is not None:
            Z = np.asarray(covariates, dtype=np.float64)
            if Z.ndim not in (1, 2) or len(Z) != len(self.rows):
                raise InputError(f"covariates of shape {Z.shape} for {len(self.rows)} precincts")
            Z = Z.reshape(len(Z), -1)
            wrong = ~np.isfinite(Z).all(axis=1)
            if wrong.any():
                raise InputError(f"precinct {int(wrong.argmax())} has covariates that are unknown")
            Z = np.repeat(Z, np.diff(offsets), axis=0)
            products = (features[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
            features = np.hstack([features, products])
        answers = self.columns / self.columns.sum(axis=1, keepdims=True)
        return Bags(features, offsets), group, answers

    def _found(self, rates, strength, rng):
        """A draw of what people answered, of all that agrees with the margins.

        People are whole: each number is spread evenly over the half to either side, so that of one
        at a limit half its chance is inside, as in `mixedbag.uncertainty`.
        """
        found = self.agreeing(_drawn(rates, strength, rng))
        if not self._are_people():
            return found
        half = 0.5 / np.maximum(self.rows, 1.0)[:, :, None]
        moved = found.precincts + half * rng.uniform(-1.0, 1.0, size=rates.shape)
        return replace(found, precincts=np.clip(moved, found.precincts_low, found.precincts_high))

    def _are_people(self):
        """Whether rows are counts, not mere shares."""
        return np.array_equal(self.rows, np.round(self.rows))

    def _strength(self, rates, n_weights):
        """As how many people, by chance alone, each group of a precinct answers about `rates`."""
        people, X, p = self.rows.sum(axis=1), self.rows[:, :, None], np.nan_to_num(rates)
        chance = (X * p * (1.0 - p)).sum(axis=(1, 2)) / people
        missed = ((self.columns - (X * p).sum(axis=1)) ** 2).sum(axis=1) / people
        n, least = len(people), np.finfo(float).tiny
        dispersion = missed.sum() / max(chance.sum(), least) * n / max(n - n_weights, 1)
        return self.rows / max(dispersion, least)

    def _by_group(self, p, bags, group):
        n_rows = self.rows.shape[1]
        cell = bags.bag_of * n_rows + group
        size = np.bincount(cell, minlength=len(bags) * n_rows)
        sums = np.column_stack([np.bincount(cell, q, minlength=len(size)) for q in p.T])
        with np.errstate(invalid="ignore"):
            return (sums / size[:, None]).reshape(len(bags), n_rows, -1)


def _drawn(rates, strength, rng):
    """Draws about rates, with the variance of shares of so many people (Dirichlet)."""
    shape = rates * np.maximum(strength - 1.0, _LEAST)[:, :, None]
    with np.errstate(divide="ignore"):
        # The logarithm of a gamma variable, which itself may be below all numbers.
        z = np.log(rng.gamma(shape + 1.0)) + np.log(rng.random(shape.shape)) / shape
    return softmax(z, axis=2)


class PrecinctBoundsDisplay(_Display):
    """The bounds of one group's rate in every precinct, narrow ones first.

    Parameters
    ----------
    low, high : array of shape (n_precincts,)
        The least and the largest rate that a precinct's margins allow.

    See Also
    --------
    RowByColumn.bounds : Works them out.
    TomographyDisplay : Two groups against each other.

    Examples
    --------
    >>> from mixedbag.ecological import PrecinctBoundsDisplay, RowByColumn
    >>> table = RowByColumn(rows=[[90, 10], [20, 80]], columns=[[30, 70], [60, 40]])
    >>> PrecinctBoundsDisplay.from_table(table, row=0, column=1).ax_.get_ylabel()
    'rate, bounds'
    """

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self.low = low
        self.high = high

    @classmethod
    def from_table(
        cls, table: RowByColumn, row: int = 0, column: int = 0, *, ax: "Axes | None" = None
    ) -> Self:
        """Show the bounds of the share of group `row` that gave answer `column`."""
        found: Any = table.bounds()  # these say something of every precinct
        return cls(found.precincts_low[:, row, column], found.precincts_high[:, row, column]).plot(
            ax=ax
        )

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        order = np.argsort(self.high - self.low)
        ax.vlines(np.arange(len(order)), self.low[order], self.high[order])
        ax.set(xlabel="precincts, by width", ylabel="rate, bounds", ylim=(-0.02, 1.02))
        return self


class TomographyDisplay(_Display):
    """Two groups, one answer: the pairs of rates that a precinct's margins allow, a line each.

    Where the lines cross is where rates are if they are the same in all precincts.

    Parameters
    ----------
    ends : array of shape (n_precincts, 2, 2)
        Both ends (rate of the first group, of the second) of each line.

    See Also
    --------
    PrecinctBoundsDisplay : One group, in every precinct.

    Examples
    --------
    >>> from mixedbag.ecological import RowByColumn, TomographyDisplay
    >>> table = RowByColumn(rows=[[90, 10], [20, 80]], columns=[[30, 70], [60, 40]])
    >>> TomographyDisplay.from_table(table).ends.shape
    (2, 2, 2)
    """

    def __init__(self, ends: np.ndarray) -> None:
        self.ends = ends

    @classmethod
    def from_table(cls, table: RowByColumn, column: int = 0, *, ax: "Axes | None" = None) -> Self:
        """Show the lines of answer `column`."""
        if table.rows.shape[1] != 2:
            raise InputError(f"tomography needs two groups; there are {table.rows.shape[1]}")
        found: Any = table.bounds()  # these say something of every precinct
        low, high = found.precincts_low[:, :, column], found.precincts_high[:, :, column]
        ends = np.stack(
            [np.column_stack([low[:, 0], high[:, 1]]), np.column_stack([high[:, 0], low[:, 1]])],
            axis=1,
        )
        return cls(ends[np.isfinite(ends).all(axis=(1, 2))]).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        ax.plot(self.ends[:, :, 0].T, self.ends[:, :, 1].T, color="C0", alpha=0.4, linewidth=0.8)
        ax.set(
            xlabel="rate of the first group",
            ylabel="rate of the second group",
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
        )
        return self


class RateDisplay(_Display):
    """Rates of groups with their limits, several methods side by side.

    Parameters
    ----------
    rates : dict of str to Rates
        What each method says, by the name to show.
    column : int
        The answer to show.
    names : list of str, optional
        The groups.

    See Also
    --------
    Rates : What is drawn.

    Examples
    --------
    >>> from mixedbag.ecological import RateDisplay, RowByColumn
    >>> table = RowByColumn([[90, 10], [20, 80], [50, 50]], [[30, 70], [60, 40], [45, 55]])
    >>> rates = {"bounds": table.bounds(), "Goodman": table.goodman()}
    >>> RateDisplay(rates, names=["young", "old"]).plot().ax_.get_ylabel()
    'rate'
    """

    def __init__(
        self, rates: Mapping[str, Rates], column: int = 0, names: Sequence[str] | None = None
    ) -> None:
        self.rates = rates
        self.column = column
        self.names = names

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        n = len(self.rates)
        apart = 0.8 / max(n, 4)
        for k, (method, rates) in enumerate(self.rates.items()):
            value = rates.district[:, self.column]
            reach = [
                value - rates.low[:, self.column],
                rates.high[:, self.column] - value,
            ]
            place = np.arange(len(value)) + (k - (n - 1) / 2) * apart
            bars = {"fmt": "o", "capsize": 3, "label": drawn(method)}
            ax.errorbar(place, value, np.maximum(reach, 0.0), **bars)
        names = self.names or [f"group {r}" for r in range(len(value))]
        lines = [drawn(fill(str(name), max(_SIDE_BY_SIDE // len(names), 8))) for name in names]
        ax.set(ylabel="rate", xticks=np.arange(len(names)), xticklabels=lines)
        # Above all bars: where else there is room for it, matplotlib does not know.
        legend = ax.legend(loc="upper center", ncols=2, frameon=False)
        share = min(_ROOM * legend.get_window_extent().height / ax.bbox.height, 0.5)
        low, high = ax.get_ylim()
        ax.set_ylim(low, low + (high - low) / (1.0 - share))
        return self


def __dir__():
    return __all__
