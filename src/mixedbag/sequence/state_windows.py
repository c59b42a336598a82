"""Windows of a time series, described by the hidden states that models see in them."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, whole
from mixedbag._threads import one_thread
from mixedbag.sequence._blocks import count_long_enough
from mixedbag.sequence._chain import Chain
from mixedbag.sequence._cutting import CutSeries
from mixedbag.sequence._start import find_states
from mixedbag.sequence.arhmm import ARHMMClassifier

__all__ = ["StateWindows"]


class StateWindows(CutSeries):
    """Describe sliding windows by the time that they spend in each state of several ARHMMs.

    Autoregressive hidden Markov models, each from a start of its own, explain the series without
    their labels. Every window becomes one instance: of each state of each model, the share of the
    window's samples that are in it. What the states say about labels is learned behind it, from
    the states of all models together. `ARHMMClassifier` learns that model by model, from a sum over
    all samples of a bag; a forest behind these windows tells bags and samples better
    (``python -m benchmarks arhmm/states``).

    Missing values (NaN) are allowed, as in `ARHMMClassifier`.

    Parameters
    ----------
    size : int, default=25
        Samples in a window. A bag with fewer samples becomes one shorter window.
    step : int, optional
        Samples from one window's start to the next; half of `size` by default. The last window ends
        with the bag, so every sample is in some window.
    n_states : int, default=10
        Hidden states of a model, each with an autoregression of its own.
    order : int, default=3
        How many past samples predict the next. A bag needs at least ``order + 1`` samples.
    level : float, default=1.0
        The power of each state's own level, a Gaussian of its samples, beside its autoregression: 0
        sees motions alone, above 0 levels (postures) count, too.
    n_models : int, default=10
        Models, each from a start of its own.
    random_state : int, RandomState instance or None
        Draws the starts of all models but the first.

    Attributes
    ----------
    models_ : list of ARHMMClassifier
        The models; of what they hold, the labels' part means nothing.

    See Also
    --------
    ARHMMClassifier : The same states, with labels as a part of the model.
    QuantileWindows : Windows described by quantiles.
    mixedbag.wrappers.BagPipeline : Puts a learner behind the windows, and answers about samples.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.sequence import StateWindows
    >>> rng = np.random.default_rng(0)
    >>> series = rng.normal(size=(20, 60, 1)) * np.repeat([0.1, 1.0], 30)[:, None]
    >>> windows = StateWindows(size=30, n_states=2, order=1, n_models=1).fit(series)
    >>> found = windows.transform(series[:1])  # calm, from one to the other, shaky
    >>> (found.instances > 0.5).tolist()[::2]
    [[True, False], [False, True]]
    """

    _accepts_nan = True
    _parameter_constraints = CutSeries._parameter_constraints | {
        "n_states": [whole(1)],
        "order": [whole(0)],
        "level": [at_least(0)],
        "n_models": [whole(1)],
    }

    def __init__(
        self,
        size=25,
        *,
        step=None,
        n_states=10,
        order=3,
        level=1.0,
        n_models=10,
        random_state=None,
    ):
        self.size = size
        self.step = step
        self.n_states = n_states
        self.order = order
        self.level = level
        self.n_models = n_models
        self.random_state = random_state

    def fit(self, bags: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Find the states; labels play no part."""
        super().fit(bags)
        bags = self._fitted(bags)
        one = ARHMMClassifier(self.n_states, order=self.order, level=self.level, n_init=1)
        one.n_features_in_ = self.n_features_in_
        blocks = one._cut(bags, np.ones(len(bags)), np.ones(len(bags)))
        blocks.sum(count_long_enough, self.order)
        rng = check_random_state(self.random_state)
        self.models_ = [copy(one) for _ in range(self.n_models)]
        # Blocks are small: more threads inside a product only wait.
        with one_thread():
            for turn, keeper in enumerate(self.models_):
                keeper._store(find_states(blocks, Chain, one, rng, turn))
        return self

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names such as ``model0_state3``."""
        models, states = range(self.n_models), range(self.n_states)
        return np.asarray([f"model{k}_state{j}" for k in models for j in states], dtype=object)

    def _series(self, bags):
        return np.hstack([model.state_posterior(bags) for model in self.models_])

    def _describe(self, windows):
        return windows.mean(axis=1)
