"""Fitting: the same steps for every learner, progress on the way, and failures that leave no mark.

A failed fit leaves the estimator as it was. A fit that ends has finite scores: they are looked at
on a few training bags.
"""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.callback import CallbackSupportMixin, with_callbacks

from mixedbag._parameters import COMMON, check_parameters, declared
from mixedbag._threads import threads_for
from mixedbag._validation import read_weights
from mixedbag.engines.local import (
    BlockedBags,
    ClusterLostError,
    Labelled,
    LocalBlocks,
    count_usable,
    few_bags,
)
from mixedbag.exceptions import InputError, reading_input

CHECKED_BAGS = 16  # training bags whose scores are looked at after a fit
_CHECKED = ContextVar("_CHECKED", default=True)


@contextmanager
def unchecked():
    """Scores of learners fitted inside are not looked at here: who asks for some does so."""
    token = _CHECKED.set(False)
    try:
        yield
    finally:
        _CHECKED.reset(token)


class Fitting(CallbackSupportMixin):
    """`fit`, from what users pass to what an author's ``_fit`` or ``_fit_blocks`` gets."""

    _parameter_constraints = COMMON

    @with_callbacks
    def fit(self, bags: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from bags and one label a bag.

        Parameters
        ----------
        bags : Bags, list of 2-D arrays, 3-D array, or plain 2-D array (bags of one instance)
            Or `DistributedBags` on a cluster or `SpooledBags` on disk, which carry their labels and
            weights.
        y : array of shape (n_bags,)
            The bags' labels.
        sample_weight : array of shape (n_bags,), optional
            How much each bag counts; a bag of weight 2 counts like two equal bags, a bag of
            weight 0 is left out.

        Returns
        -------
        self
        """
        with self._all_or_nothing():
            self._validate_params()
            self._forget()
            if isinstance(bags, BlockedBags):
                self._learn_from_cluster(bags, y, sample_weight)
            else:
                self._learn_here(bags, y, sample_weight)
        return self

    @contextmanager
    def _all_or_nothing(self):
        """A failure inside leaves the estimator as it was."""
        before = dict(self.__dict__)
        try:
            yield
            self._finish_progress()
        except BaseException as error:
            if isinstance(error, ClusterLostError):
                error.model = copy.copy(self)
            self._restore(before)
            raise

    def _validate_params(self):
        """Refuse parameters that are not what the class declares."""
        check_parameters(self.get_params(deep=False), declared(type(self)))  # type: ignore[arg-type]

    def _forget(self):
        for name in [n for n in self.__dict__ if n.endswith("_")]:
            del self.__dict__[name]

    def _restore(self, before):
        private = {n: v for n, v in self.__dict__.items() if n.startswith(("_skl", "_callback"))}
        self.__dict__.clear()
        self.__dict__.update(before | private)

    # Bags in this process ------------------------------------------------------------------------

    def _learn_here(self, bags, y, sample_weight):
        with reading_input():
            bags = self._read(bags, reset=True)
            if y is None:
                raise InputError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            bags, y, weight = self._with_labels(bags, y, read_weights(bags, sample_weight))
            used = Labelled(bags, self._read_targets(bags, y), weight).used()
        with threads_for(bags.instances.size):
            self._learn(*used)
        if _CHECKED.get():
            self._check_scores(used)
        self._hold(used)

    def _hold(self, used):
        """What a learner keeps of its training bags: nothing, unless it says so."""

    def _with_labels(self, bags, y, weight):
        """The bags to learn from; learners may leave out those without a label."""
        return bags, y, weight

    def _read_targets(self, bags, y):
        raise TypeError(f"{type(self).__name__} does not say how it reads labels")

    def _learn(self, bags, y, weight):
        self._fit(bags, y, weight)

    def _fit(self, bags, y, weight):
        """Learn from targets that the base has read. Authors write this or `_fit_blocks`."""
        if not hasattr(self, "_fit_blocks"):
            raise TypeError(f"{type(self).__name__} does not say how it learns: define _fit")
        self._fit_blocks(self._cut(bags, y, weight))

    def _cut(self, bags, y, weight):
        """The bags as blocks for ``_fit_blocks``: one a thread."""
        return LocalBlocks.cut(bags, y, weight, getattr(self, "n_jobs", None))

    # Bags on a cluster ---------------------------------------------------------------------------

    def _learn_from_cluster(self, source, y, sample_weight):
        if not hasattr(self, "_fit_blocks"):
            raise TypeError(
                f"{type(self).__name__} needs all bags in one place and cannot learn on a cluster "
                "or from disk"
            )
        if y is not None or sample_weight is not None:
            raise InputError("distributed and spooled bags carry their own labels and weights")
        self._remember_features(source.n_features, source.feature_names)
        n_bags = source.blocks.collect(count_usable, self._refuse_values, self._accepts_nan)
        self._learn_blocks(source)
        self._check_some(source.blocks, len(n_bags))

    def _learn_blocks(self, source):
        raise TypeError(f"{type(self).__name__} does not say how it reads labels on a cluster")

    # What was learned ----------------------------------------------------------------------------

    def _check_scores(self, block):
        """Refuse a model that gives some of its training bags scores that are not finite."""
        bags = few_bags(block, CHECKED_BAGS).bags
        with np.errstate(all="ignore"):
            scores = self._training_scores(bags)
        wrong = ~np.isfinite(scores).reshape(len(bags), -1).all(axis=1)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise InputError(
                f"{type(self).__name__} found no usable model: it gives {bags.name(i)} the score "
                f"{scores[i]}. {bags.largest()}: scale the features, for example with "
                "InstanceWise(StandardScaler())"
            )

    def _check_some(self, blocks, n_blocks):
        """The same of bags on disk or on a cluster: a few of all blocks, to fit in one place."""
        asked = np.zeros(n_blocks, dtype=int)
        some = np.linspace(0, n_blocks - 1, min(n_blocks, CHECKED_BAGS)).astype(int)
        asked[some] = -(-CHECKED_BAGS // len(some))
        for block in blocks.collect(_bags_asked_for, each=asked.tolist()):
            if block is not None:
                self._check_scores(block)

    def _training_scores(self, bags):
        return self._score_bags(bags)

    # Progress ------------------------------------------------------------------------------------

    def _iterations(self, n: int) -> Iterator[int]:
        """``range(n)`` that tells scikit-learn's callbacks about every step.

        For the outermost loop of ``_fit``. A callback may stop the loop early.
        """
        if hasattr(self, "_callback_fit_ctx"):  # an inner loop: the outer one reports
            yield from range(n)
            return
        context = self._init_callback_context(max_subtasks=n)
        context.call_on_fit_task_begin(estimator=self)
        for i in range(n):
            step = context.subcontext(task_name="iteration")
            step.call_on_fit_task_begin(estimator=self)
            try:
                yield i
            finally:  # also when the learner breaks out of its loop
                stop = step.call_on_fit_task_end(estimator=self)
            if stop:
                return

    def _finish_progress(self):
        if not hasattr(self, "_callback_fit_ctx"):
            self._init_callback_context().call_on_fit_task_begin(estimator=self)
        self._callback_fit_ctx.call_on_fit_task_end(estimator=self)


def _bags_asked_for(block, n_bags):
    return few_bags(block, n_bags) if n_bags else None
