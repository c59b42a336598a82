"""Pictures of bags and models, in the style of scikit-learn's displays.

Each display holds the numbers it draws; ``from_estimator`` (or ``from_bags``) works them out and
draws them, and ``plot`` draws them again on other axes. The axes are ``ax_``, the figure is
``figure_``.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from mixedbag import _contributions, _evidence
from mixedbag.bags import Bags, as_bags

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BagSizeDisplay",
    "BoundsDisplay",
    "InstanceScoreDisplay",
    "SequenceDisplay",
    "WitnessDisplay",
    "instance_scores",
    "permutation_importance",
]


class _Display:
    def _axes(self, ax):
        import matplotlib.pyplot as plt

        self.ax_ = plt.subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_


class BagSizeDisplay(_Display):
    """How many instances the bags have, by label.

    Parameters
    ----------
    sizes : array of shape (n_bags,)
        Number of instances of each bag.
    y : array of shape (n_bags,), optional
        Classes, each drawn in its own colour.

    See Also
    --------
    InstanceScoreDisplay : How a model scores the instances.

    Examples
    --------
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.inspection import BagSizeDisplay
    >>> data = load_digits_bags(n_bags=20)
    >>> BagSizeDisplay.from_bags(data.bags, data.y).ax_.get_xlabel()
    'instances in a bag'
    """

    def __init__(self, sizes: np.ndarray, y: np.ndarray | None = None) -> None:
        self.sizes = sizes
        self.y = y

    @classmethod
    def from_bags(cls, bags: Any, y: ArrayLike | None = None, *, ax: "Axes | None" = None) -> Self:
        """Show the sizes of `bags`, by their labels `y` if these are given."""
        return cls(as_bags(bags).sizes, None if y is None else np.asarray(y)).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        groups = _by_label(self.sizes, self.y)
        low, high = self.sizes.min(), self.sizes.max()
        width = max(1, int(np.ceil((high - low + 1) / 30)))
        edges = np.arange(low - 0.5, high + 0.5 + width, width)
        ax.hist([v for _, v in groups], edges, stacked=True, label=[n for n, _ in groups])
        ax.set(xlabel="instances in a bag", ylabel="bags")
        if self.y is not None:
            ax.legend(title="label")
        return self


class InstanceScoreDisplay(_Display):
    """How a model scores the instances of bags with different labels.

    Parameters
    ----------
    scores : array of shape (n_instances,)
        What a model says of each instance.
    labels : array of shape (n_instances,)
        The label of each instance's bag.
    caption : str
        What the scores are for.

    See Also
    --------
    instance_scores : The scores.
    WitnessDisplay : The instances of one bag.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.inspection import InstanceScoreDisplay
    >>> data = make_any(n_bags=30, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> InstanceScoreDisplay.from_estimator(model, data.bags, data.y).ax_.get_ylabel()
    'density'
    """

    def __init__(
        self, scores: np.ndarray, labels: np.ndarray, caption: str = "instance score"
    ) -> None:
        self.scores = scores
        self.labels = labels
        self.caption = caption

    @classmethod
    def from_estimator(
        cls, estimator: Any, bags: Any, y: ArrayLike, *, label: Any = None, ax: "Axes | None" = None
    ) -> Self:
        """Show the scores for the class `label`; see `instance_scores` for the one by default."""
        bags = as_bags(bags)
        scores = instance_scores(estimator, bags, label)
        shown = cls(scores, bags.spread(np.asarray(y)), _score_caption(estimator, label))
        return shown.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        edges = np.histogram_bin_edges(self.scores, 30)
        for name, values in _by_label(self.scores, self.labels):
            ax.hist(values, edges, density=True, alpha=0.6, label=name)
        ax.set(xlabel=self.caption, ylabel="density")
        ax.legend(title="label of the bag")
        return self


class WitnessDisplay(_Display):
    """The instances of one bag, ranked by what they did for its answer.

    An instance contributes what the log-odds of the class that was answered, whichever it is, lose
    when it is left out; where the answer is an amount, what the amount loses.

    Parameters
    ----------
    instances : array of shape (n_shown, n_features)
        The instances, the strongest first.
    contributions : array of shape (n_shown,)
        What each did for the answer.
    rows : array of shape (n_shown,)
        Their places in the bag.
    image_shape : pair, optional
        The shape to show instances in, when they are images; else contributions are drawn as bars.
    title : str
        What to write above.
    caption : str
        What the contributions are, with the class they are for.

    See Also
    --------
    SequenceDisplay : The same for samples in time.
    InstanceScoreDisplay : The instances of all bags.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.inspection import WitnessDisplay
    >>> from mixedbag.wrappers import SpreadLabels
    >>> data = load_digits_bags(n_bags=20)
    >>> model = SpreadLabels(LogisticRegression()).fit(data.bags, data.y)
    >>> shown = WitnessDisplay.from_estimator(model, data.bags, bag=3, image_shape=(8, 8))
    >>> bool(shown.contributions[0] >= shown.contributions[-1])
    True
    """

    def __init__(
        self,
        instances: np.ndarray,
        contributions: np.ndarray,
        rows: np.ndarray,
        image_shape: tuple[int, int] | None = None,
        title: str = "",
        caption: str = "",
    ) -> None:
        self.instances = instances
        self.contributions = contributions
        self.rows = rows
        self.image_shape = image_shape
        self.title = title
        self.caption = caption

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        bags: Any,
        bag: int = 0,
        *,
        image_shape: tuple[int, int] | None = None,
        top: int = 10,
        ax: "Axes | None" = None,
    ) -> Self:
        """Show bag number `bag`, its `top` strongest instances."""
        bags = as_bags(bags)
        one = bags[[bag]]
        found = _contributions.of_instances(estimator, one)
        rows = found.ranking()[:top]
        X = one.instances[rows]
        X = X.toarray() if one.is_sparse else X
        title = _answer_title(bags.name(bag), found)
        return cls(X, found.values[rows], rows, image_shape, title, found.caption).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        ax.set_title(self.title)
        if self.image_shape is None:
            self._bars(ax)
        else:
            self._images(ax, *self.image_shape)
        ax.set_xlabel(self.caption)
        return self

    def _images(self, ax, height, width):
        """All images side by side, each over its contribution."""
        gap = max(1, width // 8)
        strip = np.full((height, len(self.rows) * (width + gap) - gap), np.nan)
        for k, instance in enumerate(self.instances):
            strip[:, k * (width + gap) : k * (width + gap) + width] = instance.reshape(
                height, width
            )
        ax.imshow(strip, cmap="gray")
        ax.set_xticks(
            np.arange(len(self.rows)) * (width + gap) + (width - 1) / 2,
            [f"{value:.2g}" for value in self.contributions],
        )
        ax.set_yticks([])

    def _bars(self, ax):
        places = np.arange(len(self.rows))[::-1]
        ax.barh(places, self.contributions)
        ax.set_yticks(places, [f"instance {row}" for row in self.rows])


class SequenceDisplay(_Display):
    """A sequence, shaded where its samples did most for the answer.

    Contributions are those of `WitnessDisplay`; the samples of a long sequence are left out in
    runs.

    Parameters
    ----------
    series : array of shape (n_samples, n_channels)
        The sequence.
    contributions : array of shape (n_samples,)
        What each sample did for the answer.
    channels : list of str
        Names of the channels.
    title : str
        What to write above.
    caption : str
        What the shading is, with the class it is for.

    See Also
    --------
    WitnessDisplay : Instances without an order.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.inspection import SequenceDisplay
    >>> time = np.linspace(0, 6, 50)
    >>> shown = SequenceDisplay(np.sin(time)[:, None], time**2, ["arm"], title="waving")
    >>> shown.plot().ax_.get_title()
    'waving'
    """

    def __init__(
        self,
        series: np.ndarray,
        contributions: np.ndarray,
        channels: list[str],
        title: str = "",
        caption: str = "",
    ) -> None:
        self.series = series
        self.contributions = contributions
        self.channels = channels
        self.title = title
        self.caption = caption

    @classmethod
    def from_estimator(
        cls, estimator: Any, bags: Any, bag: int = 0, *, ax: "Axes | None" = None
    ) -> Self:
        """Show bag number `bag`."""
        bags = as_bags(bags)
        one = bags[[bag]]
        names = bags.feature_names or [f"channel {j}" for j in range(bags.n_features)]
        found = _contributions.of_instances(estimator, one)
        title = _answer_title(bags.name(bag), found)
        return cls(one.instances, found.values, names, title, found.caption).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        time = np.arange(len(self.series))
        ax.plot(time, self.series, linewidth=1, label=self.channels)
        low, high = ax.get_ylim()
        span = np.ptp(self.contributions) or 1.0
        share = (self.contributions - self.contributions.min()) / span
        ax.imshow(
            share[None],
            extent=(-0.5, len(time) - 0.5, low, high),
            aspect="auto",
            cmap="Blues",
            alpha=0.5,
            vmin=0,
            vmax=1,
        )
        ax.set(xlabel=f"sample (shaded: {self.caption})", title=self.title, ylim=(low, high))
        ax.legend(loc="upper right")
        return self


class BoundsDisplay(_Display):
    """How the bounds on the best objective close in while a learner works.

    Parameters
    ----------
    history : array of shape (n_steps, 3)
        Seconds, lower bound and upper bound; NaN where there is no bound yet.

    See Also
    --------
    mixedbag.disjunctive.LNPBoost : A learner that keeps such a history.
    mixedbag.disjunctive.ExactBagMarginSVC : Another, which goes on until the bounds meet.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.inspection import BoundsDisplay
    >>> history = np.array([[0.1, np.nan, 9.0], [0.5, 4.0, 8.0], [1.0, 6.5, 7.0]])
    >>> BoundsDisplay(history).plot().ax_.get_ylabel()
    'objective'
    """

    def __init__(self, history: np.ndarray) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: "Axes | None" = None) -> Self:
        """Draw the ``history_`` of a fitted learner (the last step, of a pipeline)."""
        final = _final(estimator)
        check_is_fitted(final)
        if not hasattr(final, "history_"):
            raise ValueError(f"{type(final).__name__} keeps no history of bounds")
        return cls(np.asarray(final.history_, dtype=np.float64)).plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        seconds, lower, upper = self.history.T[:3]
        ax.step(seconds, upper, where="post", label="upper bound")
        ax.step(seconds, lower, where="post", label="lower bound")
        ax.fill_between(seconds, lower, upper, step="post", alpha=0.15)
        ax.set(xlabel="seconds", ylabel="objective")
        ax.legend()
        return self


def instance_scores(estimator: Any, bags: Any, label: Any = None) -> np.ndarray:
    """One score an instance, from any fitted model.

    Parameters
    ----------
    estimator : fitted estimator
        Any model of bags.
    bags : Bags, or anything that `as_bags` reads
        What it is asked about.
    label : optional
        The class to score for. By default the second of two, and of more the class that the
        instance's bag is given. Models of amounts have none: their scores are the amounts.

    Returns
    -------
    array of shape (n_instances,)
        The scores, in the order of ``bags.instances``.

    See Also
    --------
    InstanceScoreDisplay : Draws them.
    permutation_importance : Which features matter.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.inspection import instance_scores
    >>> data = make_any(n_bags=30, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> len(instance_scores(model, data.bags)) == data.bags.n_instances
    True
    """
    bags = as_bags(bags)
    if _evidence.speaks_of_amounts(estimator):
        return _evidence.amount_evidence_of_instances(estimator, bags).sum(axis=1)
    values = _evidence.class_evidence_of_instances(estimator, bags)
    code = None if label is None else _code(estimator, label)
    if values.shape[1] == 1:
        return -values[:, 0] if code == 0 else values[:, 0]
    if code is not None:
        return values[:, code]
    answers = np.array([_code(estimator, answer) for answer in estimator.predict(bags)])
    return values[np.arange(len(values)), bags.spread(answers)]


def permutation_importance(
    estimator: Any,
    bags: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
    sample_weight: Any = None,
    features: Any = None,
) -> Bunch:
    """How much worse a model answers about bags when a feature comes from other bags.

    One feature at a time, every bag takes the values that the feature has in another bag, drawn at
    random: stretched or thinned to its size, in their order. So the feature keeps its distribution
    inside a bag, and loses what it says of this one. Importance is what the score falls by. Ask
    about bags that the model has not learned from: on its own it tells what was learned by heart.

    Parameters
    ----------
    estimator : fitted estimator
        Any model of bags.
    bags : Bags, or anything that `as_bags` reads
        Bags that it has not learned from.
    y : array of shape (n_bags,)
        The labels of the bags.
    scoring : str or callable, optional
        As in scikit-learn; by default the estimator's own ``score``.
    n_repeats : int
        How often each feature is permuted: what the spread is over.
    random_state : int or RandomState, optional
        Draws which bag lends to which; a number gives the same every time.
    sample_weight : array of shape (n_bags,), optional
        How much each bag counts in the score.
    features : sequence of int, optional
        Only these columns; the result is about them, in this order.

    Returns
    -------
    Bunch
        ``importances_mean`` and ``importances_std`` of shape (n_features,), ``importances`` of
        shape (n_features, n_repeats), ``feature_names``, and ``baseline``, the score as it is.

    See Also
    --------
    WitnessDisplay : Which instances matter, in one bag.
    sklearn.inspection.permutation_importance : The same for plain rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.inspection import permutation_importance
    >>> data = make_any(n_bags=60, n_features=3, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags[:40], data.y[:40])
    >>> found = permutation_importance(model, data.bags[40:], data.y[40:], random_state=0)
    >>> found.importances_mean.shape
    (3,)
    """
    if hasattr(estimator, "fit"):  # models that `compare` hands over are fitted for good
        check_is_fitted(estimator)
    bags, random = as_bags(bags), check_random_state(random_state)
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}")
    scorer = scoring if callable(scoring) else check_scoring(estimator, scoring)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    baseline = scorer(estimator, bags, y, **weights)
    columns = range(bags.n_features) if features is None else list(features)
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    importances = np.empty((len(columns), n_repeats))
    for repeat in range(n_repeats):
        for k, changed in enumerate(with_columns_of_others(bags, columns, random)):
            importances[k, repeat] = baseline - scorer(estimator, changed, y, **weights)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
        feature_names=[names[j] for j in columns],
        baseline=baseline,
    )


def with_columns_of_others(bags, columns, random):
    """The bags once for each of the columns, which comes from other bags, the same for all."""
    rows = _rows_of_other_bags(bags, random)
    return (_with_column(bags, j, rows) for j in columns)


def _rows_of_other_bags(bags, random):
    """For every instance, the row of another bag that lends it a value."""
    lender = random.permutation(len(bags))
    place = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    share = (place + 0.5) / bags.spread(bags.sizes)
    taken = np.floor(share * bags.spread(bags.sizes[lender])).astype(np.int64)
    return bags.spread(bags.offsets[:-1][lender]) + taken


def _with_column(bags, j, rows):
    if bags.is_sparse:
        X = bags.instances
        parts = [X[:, :j], X[rows][:, [j]], X[:, j + 1 :]]
        kept = [part for part in parts if part.shape[1]]
        return bags.with_instances(sparse.hstack(kept, format="csr"), bags.feature_names)
    X = np.array(bags.instances)
    X[:, j] = bags.instances[rows, j]
    return Bags(X, bags.offsets, bags.ids, bags.feature_names)


def _code(estimator, label):
    found = np.flatnonzero(np.asarray(estimator.classes_) == label)
    if not len(found):
        raise ValueError(f"no class is called {label!r}; there are {list(estimator.classes_)}")
    return int(found[0])


def _score_caption(estimator, label):
    if _evidence.speaks_of_amounts(estimator):
        return "predicted amount of the instance"
    if label is None and len(estimator.classes_) > 2:
        return "instance score for the class that the bag is given"
    return f"instance score for {estimator.classes_[1] if label is None else label}"


def _answer_title(name, found):
    return name if found.answer is None else f"{name}: {found.answer}"


def _final(estimator):
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _by_label(values, labels):
    if labels is None:
        return [("", values)]
    return [(str(label), values[labels == label]) for label in np.unique(labels)]
