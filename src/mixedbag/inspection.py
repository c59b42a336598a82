"""Pictures of bags and models, in the style of scikit-learn's displays.

Each display holds the numbers it draws; ``from_estimator`` (or ``from_bags``) works them out and
draws them, and ``plot`` draws them again on other axes. The axes are ``ax_``, the figure is
``figure_``.
"""

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mixedbag import _evidence
from mixedbag.bags import as_bags


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
    y : array of shape (n_bags,), optional
        Classes, each drawn in its own colour.

    Examples
    --------
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.inspection import BagSizeDisplay
    >>> data = load_digits_bags(n_bags=20)
    >>> BagSizeDisplay.from_bags(data.bags, data.y).ax_.get_xlabel()
    'instances in a bag'
    """

    def __init__(self, sizes, y=None):
        self.sizes = sizes
        self.y = y

    @classmethod
    def from_bags(cls, bags, y=None, *, ax=None):
        return cls(as_bags(bags).sizes, None if y is None else np.asarray(y)).plot(ax=ax)

    def plot(self, *, ax=None):
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
    labels : array of shape (n_instances,)
        The label of each instance's bag.
    """

    def __init__(self, scores, labels):
        self.scores = scores
        self.labels = labels

    @classmethod
    def from_estimator(cls, estimator, bags, y, *, ax=None):
        bags = as_bags(bags)
        return cls(instance_scores(estimator, bags), bags.spread(np.asarray(y))).plot(ax=ax)

    def plot(self, *, ax=None):
        ax = self._axes(ax)
        edges = np.histogram_bin_edges(self.scores, 30)
        for name, values in _by_label(self.scores, self.labels):
            ax.hist(values, edges, density=True, alpha=0.6, label=name)
        ax.set(xlabel="instance score", ylabel="density")
        ax.legend(title="label of the bag")
        return self


class WitnessDisplay(_Display):
    """The instances of one bag, ranked by how much they speak for its label.

    Parameters
    ----------
    instances : array of shape (n_shown, n_features)
        The instances, the strongest first.
    scores : array of shape (n_shown,)
    rows : array of shape (n_shown,)
        Their places in the bag.
    image_shape : pair, optional
        The shape to show instances in, when they are images; else their scores are drawn as bars.
    title : str

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mixedbag.datasets import load_digits_bags
    >>> from mixedbag.inspection import WitnessDisplay
    >>> from mixedbag.wrappers import SpreadLabels
    >>> data = load_digits_bags(n_bags=20)
    >>> model = SpreadLabels(LogisticRegression()).fit(data.bags, data.y)
    >>> shown = WitnessDisplay.from_estimator(model, data.bags, bag=3, image_shape=(8, 8))
    >>> bool(shown.scores[0] >= shown.scores[-1])
    True
    """

    def __init__(self, instances, scores, rows, image_shape=None, title=""):
        self.instances = instances
        self.scores = scores
        self.rows = rows
        self.image_shape = image_shape
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, bags, bag=0, *, image_shape=None, top=10, ax=None):
        """Show bag number `bag`, its `top` strongest instances."""
        bags = as_bags(bags)
        one = bags[[bag]]
        scores = instance_scores(estimator, one)
        rows = np.argsort(-scores, kind="stable")[:top]
        X = one.instances[rows]
        X = X.toarray() if one.is_sparse else X
        shown = cls(X, scores[rows], rows, image_shape, bags.name(bag))
        return shown.plot(ax=ax)

    def plot(self, *, ax=None):
        ax = self._axes(ax)
        ax.set_title(self.title)
        (self._images if self.image_shape is not None else self._bars)(ax)
        return self

    def _images(self, ax):
        """All images side by side, each over its score."""
        height, width = self.image_shape
        gap = max(1, width // 8)
        strip = np.full((height, len(self.rows) * (width + gap) - gap), np.nan)
        for k, instance in enumerate(self.instances):
            strip[:, k * (width + gap) : k * (width + gap) + width] = instance.reshape(
                height, width
            )
        ax.imshow(strip, cmap="gray")
        ax.set_xticks(
            np.arange(len(self.rows)) * (width + gap) + (width - 1) / 2,
            [f"{score:.2g}" for score in self.scores],
        )
        ax.set_yticks([])
        ax.set_xlabel("instance score")

    def _bars(self, ax):
        places = np.arange(len(self.rows))[::-1]
        ax.barh(places, self.scores)
        ax.set_yticks(places, [f"instance {row}" for row in self.rows])
        ax.set_xlabel("instance score")


class SequenceDisplay(_Display):
    """A sequence, shaded where its samples speak for the label.

    Parameters
    ----------
    series : array of shape (n_samples, n_channels)
    scores : array of shape (n_samples,)
    channels : list of str
    title : str
    """

    def __init__(self, series, scores, channels, title=""):
        self.series = series
        self.scores = scores
        self.channels = channels
        self.title = title

    @classmethod
    def from_estimator(cls, estimator, bags, bag=0, *, ax=None):
        """Show bag number `bag`."""
        bags = as_bags(bags)
        one = bags[[bag]]
        names = bags.feature_names or [f"channel {j}" for j in range(bags.n_features)]
        shown = cls(one.instances, instance_scores(estimator, one), names, bags.name(bag))
        return shown.plot(ax=ax)

    def plot(self, *, ax=None):
        ax = self._axes(ax)
        time = np.arange(len(self.series))
        ax.plot(time, self.series, linewidth=1, label=self.channels)
        low, high = ax.get_ylim()
        span = np.ptp(self.scores) or 1.0
        share = (self.scores - self.scores.min()) / span
        ax.imshow(
            share[None],
            extent=(-0.5, len(time) - 0.5, low, high),
            aspect="auto",
            cmap="Blues",
            alpha=0.5,
            vmin=0,
            vmax=1,
        )
        ax.set(xlabel="sample", title=self.title, ylim=(low, high))
        ax.legend(loc="upper right")
        return self


class BoundsDisplay(_Display):
    """How the bounds on the best objective close in while a learner works.

    Parameters
    ----------
    history : array of shape (n_steps, 3)
        Seconds, lower bound and upper bound; NaN where there is no bound yet.
    """

    def __init__(self, history):
        self.history = history

    @classmethod
    def from_estimator(cls, estimator, *, ax=None):
        """Draw the ``history_`` of a fitted learner (the last step, of a pipeline)."""
        final = _final(estimator)
        check_is_fitted(final)
        if not hasattr(final, "history_"):
            raise ValueError(f"{type(final).__name__} keeps no history of bounds")
        return cls(np.asarray(final.history_, dtype=np.float64)).plot(ax=ax)

    def plot(self, *, ax=None):
        ax = self._axes(ax)
        seconds, lower, upper = self.history.T[:3]
        ax.step(seconds, upper, where="post", label="upper bound")
        ax.step(seconds, lower, where="post", label="lower bound")
        ax.fill_between(seconds, lower, upper, step="post", alpha=0.15)
        ax.set(xlabel="seconds", ylabel="objective")
        ax.legend()
        return self


def instance_scores(estimator, bags):
    """One score an instance, from any fitted model: of the second class, or the amount."""
    if _evidence.speaks_of_amounts(estimator):
        values = _evidence.amount_evidence_of_instances(estimator, as_bags(bags))
    else:
        values = _evidence.class_evidence_of_instances(estimator, as_bags(bags))
    return values[:, 0] if values.shape[1] == 1 else values.max(axis=1)


def _final(estimator):
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _by_label(values, labels):
    if labels is None:
        return [("", values)]
    return [(str(label), values[labels == label]) for label in np.unique(labels)]
