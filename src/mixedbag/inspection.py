"""Pictures of bags and models, in the style of scikit-learn's displays.

Each display holds the numbers it draws; ``from_estimator`` (or ``from_bags``) works them out and
draws them, and ``plot`` draws them again on other axes. The axes are ``ax_``, the figure is
``figure_``.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mixedbag import _contributions, _evidence
from mixedbag._files import drawn
from mixedbag._instance_scores import caption, instance_scores
from mixedbag._permutation import permutation_importance
from mixedbag.bags import as_bags

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
        shown = cls(scores, bags.spread(np.asarray(y)), caption(estimator, label))
        return shown.plot(ax=ax)

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw it, on new axes or on those given."""
        ax = self._axes(ax)
        edges = np.histogram_bin_edges(self.scores, 30)
        for name, values in _by_label(self.scores, self.labels):
            ax.hist(values, edges, density=True, alpha=0.6, label=name)
        ax.set(xlabel=drawn(self.caption), ylabel="density")
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
        ax.set_title(drawn(self.title))
        if self.image_shape is None:
            self._bars(ax)
        else:
            self._images(ax, *self.image_shape)
        ax.set_xlabel(drawn(self.caption))
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
        ax.plot(time, self.series, linewidth=1, label=[*map(drawn, self.channels)])
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
        shaded = drawn(f"sample (shaded: {self.caption})")
        ax.set(xlabel=shaded, title=drawn(self.title), ylim=(low, high))
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
        final = _evidence.final_step(estimator)
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


def _answer_title(name, found):
    return name if found.answer is None else f"{name}: {found.answer}"


def _by_label(values, labels):
    if labels is None:
        return [("", values)]
    return [(drawn(label), values[labels == label]) for label in np.unique(labels)]


def __dir__():
    return __all__
