"""Declared parameters: every learner has them all declared, and refuses what they may not be."""

import inspect

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from mixedbag._parameters import (
    above,
    at_least,
    between,
    check_parameters,
    declared,
    having,
    number,
    one_of,
    whole,
)
from mixedbag.base import BagClassifier
from mixedbag.learners import all_learners
from mixedbag.pooling import OWA, LogMeanExp
from mixedbag.sequence import QuantileWindows, SlidingWindows, StateWindows
from mixedbag.testing import toy_problem
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels


@pytest.mark.parametrize(
    ("kinds", "value", "words"),
    [
        ([whole(1)], 0, "a whole number of at least 1, got 0"),
        ([whole(1)], 2.5, "a whole number of at least 1, got 2.5"),
        ([whole(2, 5)], 6, "a whole number from 2 to 5, got 6"),
        ([whole(None, -1)], 0, "a whole number of at most -1, got 0"),
        ([at_least(0)], -0.5, "a number of at least 0, got -0.5"),
        ([at_least(0)], np.inf, "a number of at least 0, got inf"),
        ([above(0)], 0.0, "a number above 0, got 0.0"),
        ([above(0)], float("nan"), "a number above 0, got nan"),
        ([above(0), one_of("scale", "auto")], "wide", "a number above 0, 'auto' or 'scale', got"),
        ([between(0, 1)], 1.5, "a number from 0 to 1, got 1.5"),
        ([between(0, 1, "left")], 1, "a number of at least 0 and below 1, got 1"),
        ([between(0, 1, "neither")], "x", "a number above 0 and below 1, got 'x'"),
        ([number()], np.nan, "a number, got nan"),
        (["boolean"], 2, "True or False, got 2"),
        ([dict, None], 3, "a dict or None, got 3"),
        ([having("fit", "predict")], 3, "an object with the methods fit and predict, got 3"),
    ],
)
def test_refusals_are_in_plain_words(kinds, value, words):
    with pytest.raises(ValueError) as caught:
        check_parameters({"it": value}, {"it": kinds})
    assert str(caught.value).startswith("it must be " + words)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("kinds", "value"),
    [
        ([whole(1)], np.int32(4)),
        ([above(0)], np.float32(0.5)),
        ([above(0)], 3),
        ([between(0, np.inf)], np.inf),
        (["boolean"], np.bool_(True)),
        ([whole(1), None], None),
    ],
)
def test_what_is_allowed_passes(kinds, value):
    check_parameters({"it": value, "not declared": object()}, {"it": kinds})


class Threshold(BagClassifier):
    _rules = ("any",)
    _parameter_constraints = {"cut": [at_least(0)]}

    def __init__(self, cut=0.0, *, random_state=None):
        self.cut = cut
        self.random_state = random_state

    def _fit(self, bags, sign, weight):
        self.cut_ = self.cut

    def _score_instances(self, bags):
        return bags.instances[:, 0] - self.cut_


class Shifted(Threshold):
    _parameter_constraints = {"shift": [above(0)]}

    def __init__(self, cut=0.0, *, shift=1.0, random_state=None):
        super().__init__(cut, random_state=random_state)
        self.shift = shift


def test_a_subclass_adds_to_what_its_bases_declare():
    assert {"cut", "shift", "random_state", "n_jobs"} <= set(declared(Shifted))
    problem = toy_problem(Shifted())
    with pytest.raises(ValueError, match="cut must be a number of at least 0, got -1"):
        Shifted(cut=-1).fit(problem.bags, problem.y)
    with pytest.raises(ValueError, match="random_state must be a whole number from 0"):
        Shifted(random_state="chance").fit(problem.bags, problem.y)


def test_a_refused_parameter_leaves_the_fitted_model():
    problem = toy_problem(Threshold())
    model = Threshold(1.0).fit(problem.bags, problem.y)
    with pytest.raises(ValueError, match="cut must be"):
        model.set_params(cut=None).fit(problem.bags, problem.y)
    assert model.cut_ == 1.0


def test_a_search_may_use_numpy_numbers():
    problem = toy_problem(Threshold())
    search = GridSearchCV(Threshold(), {"cut": np.linspace(0, 2, 3, dtype=np.float32)}, cv=2)
    assert search.fit(problem.bags, problem.y).best_params_["cut"] >= 0


def test_poolings_refuse_what_they_cannot_use():
    with pytest.raises(ValueError, match="lam must be a number above 0, got 0"):
        LogMeanExp(0)
    with pytest.raises(ValueError, match="a must be a number above 0, got nan"):
        OWA(float("nan"))


SETTLED = all_learners()


WINDOWS = (SlidingWindows, QuantileWindows, StateWindows)


@pytest.mark.parametrize("kind", [*SETTLED, BagFeatures, InstanceWise, SpreadLabels, *WINDOWS])
def test_every_parameter_is_declared_and_taken_by_name(kind):
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    assert {p.name for p in parameters} <= set(declared(kind))
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[1:])


@pytest.mark.parametrize("kind", SETTLED)
def test_every_learner_refuses_nonsense_by_the_name_of_the_parameter(kind):
    problem = toy_problem(kind())
    for name in kind().get_params(deep=False):
        with pytest.raises(ValueError, match=f"^{name} must be "):
            kind(**{name: object()}).fit(problem.bags, problem.y)
