"""Learning from a stream of bags, batch by batch: what `partial_fit` reads and keeps."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.callback import with_callbacks

from mixedbag._validation import read_weights
from mixedbag.base import BagClassifier
from mixedbag.engines import Labelled
from mixedbag.engines.local import with_signs
from mixedbag.exceptions import InputError
from mixedbag.sequence._online import follow, open_stream


class StreamLearner(BagClassifier):
    """Adds `partial_fit` to a classifier with ``_cut``, ``_fit_blocks``, ``_model``, ``_store``."""

    @with_callbacks
    def partial_fit(
        self,
        bags: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from the next batch of a stream of bags; memory does not grow with the stream.

        The first batch is fitted like any other data and must be large enough to show the states
        (a hundred bags, say). Later ones refine the model by online EM. Batches should be mixed: a
        stream sorted by activity is learned as it comes, last things best. A batch that is refused
        leaves the model as it was.

        Parameters
        ----------
        bags, y, sample_weight : as in `fit`
        classes : array, optional
            All labels that may ever come; by default those of the first batch.
        """
        with self._all_or_nothing():
            self._validate_params()
            if self.n_models > 1:
                raise InputError("a stream is followed by one model: partial_fit needs n_models=1")
            first = not hasattr(self, "classes_")
            bags = self._read(bags, reset=first)
            y = self._read_targets(bags, y)
            if first:
                self.classes_ = np.unique(y if classes is None else classes)
                self._refuse_one_class()
            self._refuse_unknown(bags, y)
            batch = Labelled(bags, y, read_weights(bags, sample_weight)).used()
            if len(self.classes_) == 2:
                self._follow(self._cut(*with_signs(batch, self.classes_[1])))
            else:
                self._fit_one_vs_rest(
                    lambda one, k: one.partial_fit(
                        batch.bags, batch.target == self.classes_[k], [False, True], batch.weight
                    )
                )
            self._check_scores(batch)
        return self

    def _refuse_unknown(self, bags, y):
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            i = int(np.argmax(unknown))
            raise InputError(f"{bags.name(i)} has label {y[i]!r}, which is not one of the classes")

    def _follow(self, blocks):
        if not hasattr(self, "theta_"):
            self._fit_blocks(blocks)
        if not hasattr(self, "stream_"):
            self.stream_ = open_stream(blocks, self._model())
            return
        model, self.stream_ = follow(blocks, self._model(), self.stream_)
        self._store(model)
