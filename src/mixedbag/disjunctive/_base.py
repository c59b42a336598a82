"""What the learners over the disjunctive program share: parameters to program, incumbent to model.

A learner is a strategy: it writes `_search(program, incumbent, starts)`, which offers classifiers
to the incumbent and raises its lower bound.
"""

import warnings
from abc import ABC, abstractmethod

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from mixedbag._kernels import KERNEL_PARAMETERS
from mixedbag._parameters import above, at_least, one_of, whole
from mixedbag._solvers.highs import LARGEST, Clock, SolverStopped
from mixedbag.base import BagClassifier
from mixedbag.base._class_weights import ClassWeights
from mixedbag.disjunctive._features import LinearFeatures, WithConstant, make_features
from mixedbag.disjunctive._incumbent import Incumbent
from mixedbag.disjunctive._local_search import Starts, offer_one_feature
from mixedbag.disjunctive._program import DisjunctiveProgram, slack_costs


class DisjunctiveClassifier(ClassWeights, BagClassifier, ABC):
    """Base of the 1-norm maximum-margin learners.

    Subclasses have the constructor parameters read here (`C`, `features`, `gamma`, `n_thresholds`,
    `class_weight`, `fit_intercept`, `intercept_scaling`, `n_init`, `time_limit`, `random_state`).
    """

    _rules = ("any",)
    _search_space = {"C": [1.0, 5.0]}
    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "C": [above(0)],
        "features": [one_of("linear", "rbf", "thresholded")],
        "gamma": KERNEL_PARAMETERS["gamma"],
        "n_thresholds": [whole(1)],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [above(0), None],
        "n_init": [whole(1)],
        "time_limit": [at_least(0), None],
        "n_rounds": [whole(1)],
        "feature_selection": ["boolean"],
        "features_per_round": [whole(1)],
        "selection_tol": [at_least(0)],
        "gap_tol": [at_least(0)],
    }

    _renamed = {"max_rounds": "n_rounds"}

    def __setstate__(self, state):
        """Models of before `class_weight` said whether they were ``balanced``."""
        state = dict(state)
        if "balanced" in state:
            state["class_weight"] = "balanced" if state.pop("balanced") else None
        super().__setstate__(state)

    def _fit(self, bags, sign, weight):
        if self.features == "linear":
            bags.check_finite(largest=LARGEST)
        clock = Clock(self.time_limit)
        features = make_features(
            self.features, bags.instances, bags.spread(weight), self.gamma, self.n_thresholds
        )
        program = self._program(features, bags, sign, weight)
        incumbent = Incumbent(program, clock)
        starts = Starts(bags.instances, program, check_random_state(self.random_state))
        try:
            self._search(program, incumbent, starts)
        except SolverStopped as reason:
            if not incumbent.w.any():
                offer_one_feature(program, incumbent, starts)
            warnings.warn(
                f"{type(self).__name__} stopped early ({reason}): keeping the best classifier "
                f"found, objective {incumbent.upper:.6g} (the optimum is at least "
                f"{incumbent.lower:.6g})",
                ConvergenceWarning,
                stacklevel=2,
            )
        if not incumbent.w.any():
            warnings.warn(
                f"{type(self).__name__} found no classifier better than a constant: every weight "
                "is zero. A larger C, or more time, would let features in",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._store(features, incumbent)

    @abstractmethod
    def _search(self, program, incumbent, starts):
        """Offer classifiers to the incumbent, and raise its lower bound."""

    def _program(self, features, bags, sign, weight):
        constant = self._costly_intercept()
        if constant:
            features = WithConstant(features, constant)
        rows = np.arange(bags.n_instances)
        return DisjunctiveProgram(
            values=features.transform(bags.instances),
            bags=[rows[bags.offsets[i] : bags.offsets[i + 1]] for i in np.flatnonzero(sign > 0)],
            negatives=np.flatnonzero(bags.spread(sign) < 0),
            slack_cost=slack_costs(
                bags.sizes, sign, weight, self.C, self.class_weight == "balanced"
            ),
            intercept=self.fit_intercept and not constant,
        )

    def _costly_intercept(self):
        """The value of the constant feature, or 0 if the bias is free or absent."""
        return self.intercept_scaling if self.fit_intercept and self.intercept_scaling else 0.0

    def _store(self, features, incumbent):
        w, b = incumbent.w, incumbent.b
        constant = self._costly_intercept()
        if constant:
            w, b = w[:-1], constant * w[-1]
        if self.features == "linear":
            w = features.spread(w)
            self.support_ = np.flatnonzero(w)
            self.feature_map_ = LinearFeatures(len(w))
        else:
            self.support_ = np.flatnonzero(w)
            w = w[self.support_]
            self.feature_map_ = features.select(self.support_)
        self.coef_ = w
        self.intercept_ = float(b)
        self.witness_ = incumbent.witness
        self.lower_bound_ = float(min(incumbent.lower, incumbent.upper))  # up to rounding
        self.upper_bound_ = float(incumbent.upper)
        self.gap_ = float(incumbent.gap)
        self.n_cuts_ = int(incumbent.n_cuts)
        self.history_ = np.array(incumbent.history)

    @property
    def _linear(self):  # type: ignore[override]
        return self.features == "linear"

    def _score_instances(self, bags):
        if not len(self.coef_):
            return np.full(bags.n_instances, self.intercept_)
        return self.feature_map_.transform(bags.instances) @ self.coef_ + self.intercept_
