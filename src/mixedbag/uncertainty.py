"""How sure: intervals for rates of groups, totals, and single instances.

What could as well have been learned is a set of plausible models: refits on bags drawn anew
(`bootstrap`, for any learner), or draws of a linear model's weights (`posterior`). Every question
is put to all of them; the middle 95 % of their answers is the interval.

What no model of the set tells is added: chance, bags that lie farther from what is expected of them
than chance would have it (quasi-likelihood), and groups that differ by more than their features.
"""

import copy
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from mixedbag._group_effects import judged_groups
from mixedbag._laws import Amounts, expected, exposures, law_of
from mixedbag._refits import fingerprint, refitted, times_drawn
from mixedbag._unexplained import (
    Unexplained,
    spread_of_blocks,
    unexplained,
    unexplained_of_block,
)
from mixedbag._validation import named_groups, read_weights
from mixedbag.bags import as_bags
from mixedbag.engines.local import BlockedBags, Labelled, LocalBlocks
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_sum

__all__ = ["Interval", "PlausibleModels", "bootstrap", "posterior"]

_MORE_THAN_CHANCE = 1.25


@dataclass(frozen=True)
class Interval:
    """Estimates with limits, one of each a question.

    Parameters
    ----------
    estimate : array
        What the model itself says.
    low : array
        Lower limits.
    high : array
        Upper limits.
    names : array, optional
        What each is about.

    See Also
    --------
    PlausibleModels : Makes them.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.uncertainty import Interval
    >>> rate = Interval(np.array([0.4]), np.array([0.3]), np.array([0.55]), np.array(["women"]))
    >>> f"{rate.names[0]}: {rate.low[0]} to {rate.high[0]}"
    'women: 0.3 to 0.55'
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    names: np.ndarray | None = None


class PlausibleModels:
    """Models that could as well have been learned, and what they say.

    Parameters
    ----------
    model : fitted learner
        Gives the estimates.
    models : list of fitted learners
        Give the intervals.
    spread : float
        Standard deviation of what a regressor cannot know of one instance; of a classifier or a
        Poisson regressor, how many times wider than chance bags lie about what is expected of them
        by models that have not seen them. Above 1.25, bags differ in something that the features
        do not tell, and `rates` warns.
    level : float
        Share of the answers inside an interval.
    random_state : int or None
        Draws outcomes.
    unexplained : optional
        What is left of the bags that were learned from, by which `rates` judges groups;
        `bootstrap` and `posterior` know it.

    See Also
    --------
    bootstrap : Makes them for any learner, by refits.
    posterior : Makes them for linear learners, in a moment.

    Examples
    --------
    >>> from mixedbag.aggregate import AggregateRidgeRegressor
    >>> from mixedbag.datasets import make_sum
    >>> from mixedbag.uncertainty import PlausibleModels
    >>> data = make_sum(n_bags=40, random_state=0)
    >>> fits = [AggregateRidgeRegressor(alpha=a).fit(data.bags, data.y) for a in (0.1, 1.0, 10.0)]
    >>> models = PlausibleModels(fits[1], fits)
    >>> answer = models.ask(lambda model: model.predict(data.bags[:3]))
    >>> bool((answer.low <= answer.estimate).all())
    True
    """

    def __init__(
        self,
        model: Any,
        models: Sequence,
        spread: float = 0.0,
        level: float = 0.95,
        random_state: int | None = 0,
        unexplained: Unexplained | None = None,
    ) -> None:
        self.model = model
        self.models = models
        self.spread = spread
        self.level = level
        self.random_state = random_state
        self.unexplained = unexplained

    def ask(
        self, question: Callable[[Any], ArrayLike], names: np.ndarray | None = None
    ) -> Interval:
        """The interval of ``question(model)``, any function that returns an array."""
        told = [question(model) for model in self.models]
        return self._limits(question(self.model), told, names)

    def _limits(self, estimate, told, names):
        tail = (1.0 - self.level) / 2
        # So that, whatever their number, one more draw is inside with a chance of `level`.
        told = np.asarray(told, dtype=np.float64)
        low, high = np.quantile(told, [tail, 1.0 - tail], axis=0, method="weibull")
        return Interval(np.asarray(estimate, dtype=np.float64), low, high, names)

    def instances(self, bags: Any) -> Interval:
        """Probability of the last class of every instance (or its expected value)."""
        bags = as_bags(bags)
        return self.ask(lambda model: expected(model, bags))

    def totals(self, bags: Any, outcome: bool = True) -> Interval:
        """Number of instances of the last class in every bag (or the total of its values).

        With `outcome`, of what will be found; without, of what is expected.
        """
        bags, rng, law = as_bags(bags), self._rng(), law_of(self.model)

        def question(model):
            value = expected(model, bags)
            if model is self.model or not outcome:
                return bag_sum(value, bags.offsets)
            found = law.found(value, bags.bag_of, len(bags), bags, self.spread, rng)
            return law.within(found, bags.sizes)

        return self.ask(question, bags.ids)

    def rates(
        self, bags: Any, groups: Any, outcome: bool = True, learned_groups: Any = None
    ) -> Interval:
        """The rate of the last class (or the mean value) in every group of instances.

        Of events with an exposure, the rate is their number by one unit of it.

        A model may be wrong about a group and right about bags: a rule that cannot bend, a group
        that is no feature. How far bags with many of a group lie from what is expected of them
        tells. So the rates of every plausible model are shifted on the scale of log-odds (of
        values, for regressors) by δ ~ N(A⁻¹ Sᵀ V⁻¹ r, A⁻¹), A = Sᵀ V⁻¹ S + I / τ²: r is by how
        much a plausible model misses bags that it has not seen, S_cg the number of instances of
        group g in bag c times m(1 − m) of the group's rate m, V the variance of bags by chance
        times ``spread²``, and τ, how much groups differ, is drawn by what bags left out say of it.
        With fewer bags than features, a group may be set apart by what no bag has shown: with a
        share s of the difference between its mean features and those of all outside of the span of
        the bags' means, δ has a further standard deviation of 2.5 s log-odds, over ``spread²``
        where that is above one: then what no bag has shown is in how far bags lie, too.

        Parameters
        ----------
        bags : bags
        groups : array of shape (n_instances,)
            The group of each instance, whichever its bag: an age, a party, a place.
        outcome : bool
            Whether the interval is for the rate that will be found in these instances, or for the
            expected one. Counts of bags that were learned from are not used again: for these the
            interval is wider than it need be.
        learned_groups : array, optional
            The group of each instance that was learned from. Not needed if `bags` are these.

        Warns
        -----
        UserWarning
            If bags differ by more than chance (`spread` above 1.25): then something that the
            features do not tell decides on a bag's label, and may go with the groups, or the
            learner is too simple. No interval covers that;
            `mixedbag.ecological.RowByColumn.from_bags` has the bounds that are certain.
            If the groups of what was learned from are not known: then intervals take the model's
            word for the groups.
        """
        bags = as_bags(bags)
        if self.spread > _MORE_THAN_CHANCE and not isinstance(law_of(self.model), Amounts):
            warnings.warn(
                f"bags lie {self.spread:.1f} times as far from what is expected of them as chance "
                "would have it: they differ in something that the features do not tell, and rates "
                "of groups may be off by more than their intervals; see the bounds "
                "(RowByColumn.from_bags), or add features that tell the bags apart",
                stacklevel=2,
            )
        if learned_groups is not None:
            learned_groups = named_groups(learned_groups)
        names, codes, effects = judged_groups(
            self.model, self.unexplained, bags, named_groups(groups), learned_groups
        )
        law, rng = law_of(self.model), self._rng()
        size = np.bincount(codes, exposures(self.model, bags), minlength=len(names))
        asked = size > 0
        each = np.where(asked, size, 1.0)

        def told_by(model):
            value, itself = expected(model, bags), model is self.model
            mean = np.bincount(codes, value, minlength=len(names))
            found, shift = mean, np.zeros(len(names))
            if outcome and not itself:
                found = law.found(value, codes, len(names), bags, self.spread, rng)
            if effects is not None:
                shift = effects.mean(model) if itself else effects.drawn(model, rng)
            return mean, found, shift

        def shifted(mean, found, shift):
            sums = law.within(found + size * law.shifted(mean / each, shift) - mean, size)
            return sums[..., asked] / size[asked]

        mean, found, shift = (np.array(part) for part in zip(*map(told_by, self.models)))
        own = told_by(self.model)
        # By as much as weights are unknown, rates that are drawn lie nearer to one half, so that
        # draws do not even meet the counts which the model was fitted to: they are centred. By
        # medians: a few draws that are sure of a rare answer would move all others far off. And by
        # whole numbers: a millionth of an event is a long way from a thousandth in logarithms only.
        drawn = law.told(mean, each)
        off = np.median(drawn, axis=0) - law.told(own[0], each)
        shift = shift - off + self._from_few_bags(drawn + shift, rng)
        return self._limits(shifted(*own), shifted(mean, found, shift), names[asked])

    def _from_few_bags(self, drawn, rng):
        """What Student's law adds to normal draws (a row each).

        How far bags lie from what is expected, and so how wide draws are, is an estimate itself:
        from as many squares as there are bags.
        """
        if self.unexplained is None:
            return 0.0
        n_bags = np.count_nonzero(self.unexplained.told)
        wider = np.sqrt(n_bags / rng.chisquare(n_bags, size=(len(drawn), 1)))
        return (wider - 1.0) * (drawn - np.median(drawn, axis=0))

    def _rng(self):
        return np.random.default_rng(self.random_state)


def bootstrap(
    estimator: Any,
    bags: Any,
    y: ArrayLike | None = None,
    *,
    n_draws: int = 200,
    level: float = 0.95,
    folder: str | Path | None = None,
    progress: Callable[[int, int], object] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> PlausibleModels:
    """Plausible models of any learner: refits on as many bags, drawn with replacement.

    Parameters
    ----------
    estimator : learner, or pipeline that ends in one
        Refitted with the settings it has; it may be fitted or not.
    bags : bags, SpooledBags or DistributedBags
        What to learn from. Bags on disk or on a cluster stay there: each counts a Poisson number of
        times in a refit, and `rates` takes the models' word for groups.
    y : array of shape (n_bags,) or (n_bags, n_classes)
        Labels, counts or totals of the bags; those on disk or on a cluster carry theirs.
    n_draws : int
        Number of refits. Limits of an interval are steadier with more.
    level : float
        Share of the answers inside an interval.
    folder : path, optional
        Keeps each refit as a model file, so that an interrupted run goes on where it stopped.
    progress : callable, optional
        Called with (finished, all) after every few refits.
    n_jobs : int, optional
        Refits at the same time.
    random_state : int
        Draws the bags; the same number gives the same models.

    Returns
    -------
    PlausibleModels
        The model of all bags, and the refits.

    See Also
    --------
    posterior : For linear learners, without refits.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.aggregate import AggregateLogisticRegression
    >>> from mixedbag.datasets import make_count
    >>> from mixedbag.uncertainty import bootstrap
    >>> data = make_count(n_bags=40, random_state=0)
    >>> models = bootstrap(AggregateLogisticRegression(), data.bags, data.y, n_draws=20)
    >>> answer = models.rates(data.bags, groups=data.bags.instances[:, 0] > 0)
    >>> bool((answer.low <= answer.high).all())
    True
    """
    if not isinstance(bags, BlockedBags):
        if y is None:
            raise InputError("pass y: bags in memory do not carry their labels")
        bags, y = as_bags(bags), np.asarray(y)
    model = clone(estimator).fit(bags, y)
    keep = None if folder is None else Path(folder) / fingerprint(estimator, bags, y, random_state)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    models: list = []
    batch = 4 * effective_n_jobs(n_jobs)
    for start in range(0, n_draws, batch):
        draws = range(start, min(start + batch, n_draws))
        models += Parallel(n_jobs=n_jobs)(
            delayed(refitted)(estimator, bags, y, random_state, draw, keep) for draw in draws
        )
        if progress is not None:
            progress(len(models), n_draws)
    if isinstance(bags, BlockedBags):
        places = list(range(len(bags.blocks)))
        asked = (model, models, times_drawn, random_state)
        sums = bags.blocks.collect(unexplained_of_block, *asked, each=places)
        return PlausibleModels(model, models, spread_of_blocks(*sum(sums)), level, random_state)
    left = unexplained(model, models, bags, y)
    return PlausibleModels(model, models, left.spread, level, random_state, left)


def posterior(
    model: Any,
    bags: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_draws: int = 400,
    level: float = 0.95,
    random_state: int = 0,
) -> PlausibleModels:
    """Plausible models of a fitted linear learner: draws from the posterior of its weights.

    By Laplace's approximation about the weights that were found, on the bags that they were found
    on, where the likelihood agrees with it; by elliptical slice sampling where it does not, as with
    few bags. Takes a moment, where `bootstrap` takes as many fits as draws. For
    `AggregateLogisticRegression`, `AggregatePoissonRegressor` and `AggregateRidgeRegressor`.
    Where bags lie ``spread`` times as far from what is expected of them as chance would have it,
    they tell as much less of the weights: the likelihood is taken to the power ``1 / spread²``.

    Parameters
    ----------
    model : fitted learner
        One of the three.
    bags, y, sample_weight
        What it was fitted on.
    n_draws : int
        Number of draws.
    level : float
        Share of the answers inside an interval.
    random_state : int
        Draws the weights; the same number gives the same models.

    Returns
    -------
    PlausibleModels
        The model, and copies of it with the weights that were drawn.

    See Also
    --------
    bootstrap : For any learner, by refits.

    Examples
    --------
    >>> from mixedbag.aggregate import AggregateLogisticRegression
    >>> from mixedbag.datasets import make_count
    >>> from mixedbag.uncertainty import posterior
    >>> data = make_count(n_bags=40, random_state=0)
    >>> model = AggregateLogisticRegression().fit(data.bags, data.y)
    >>> answer = posterior(model, data.bags, data.y).rates(data.bags, groups=data.instance_labels)
    >>> bool(answer.high[0] < answer.low[1])
    True
    """
    if not hasattr(model, "_posterior"):
        raise TypeError(
            f"{type(model).__name__} has no posterior: take mixedbag.uncertainty.bootstrap"
        )
    bags, y = as_bags(bags), np.asarray(y)
    labelled = _labelled(model, model._fitted(bags), y, sample_weight)
    weights, rng = model._posterior(labelled), check_random_state(random_state)
    models = _with_weights(model, weights.drawn(n_draws, rng))
    left = unexplained(model, models, bags, y)
    if weights.log_likelihood is not None:
        power = 1.0 / law_of(model).times_chance(left.spread) ** 2
        if power != 1.0:
            models = _with_weights(model, weights.drawn(n_draws, rng, power))
    return PlausibleModels(model, models, left.spread, level, random_state, left)


def _with_weights(model, draws):
    models = [copy.copy(model) for _ in draws]
    for one, weights in zip(models, draws):
        one._take_weights(weights)
    return models


def _labelled(model, bags, y, sample_weight):
    """The bags as the learner's own fit reads them."""
    reader = copy.copy(model)
    bags, y, weight = reader._with_labels(bags, y, read_weights(bags, sample_weight))
    target = reader._read_targets(bags, y)
    if not is_classifier(model) and model.aggregate == "mean":
        target = target * bags.sizes
    return LocalBlocks([Labelled(bags, target, weight).used()])


def __dir__():
    return __all__
