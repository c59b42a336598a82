"""Several models whose probabilities are averaged."""

import numpy as np
import pytest
from scipy.special import expit, logit

from mixedbag.exceptions import InputError
from mixedbag.io import load, save
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from tests.sequence.worlds import make_world

SETTINGS = {"order": 1, "max_iter": 3, "n_init": 1, "random_state": 0}


@pytest.mark.parametrize("learner", [ARHMMClassifier, MARClassifier])
def test_scores_are_log_odds_of_the_mean_probability(learner):
    bags, y, _ = make_world()
    one = learner(3, **SETTINGS).fit(bags, y)
    model = learner(3, n_models=3, **SETTINGS).fit(bags, y)
    np.testing.assert_array_equal(model.theta_, one.theta_)  # the first is that of one alone
    assert not np.allclose(model.others_[0].coefficients_, model.others_[1].coefficients_)
    for method in ("decision_function", "decision_function_instances"):
        alone = []
        for other in model.others_:
            other.classes_ = model.classes_
            alone.append(getattr(other, method)(bags))
        mean = np.mean(expit([getattr(one, method)(bags), *alone]), axis=0)
        np.testing.assert_allclose(getattr(model, method)(bags), logit(mean), atol=1e-9)


def test_a_stretch_is_judged_by_the_mean():
    bags, y, _ = make_world()
    model = ARHMMClassifier(3, n_models=2, stretch=1, **SETTINGS).fit(bags, y)
    largest = np.maximum.reduceat(model.decision_function_instances(bags), bags.offsets[:-1])
    np.testing.assert_allclose(model.decision_function(bags), largest, rtol=1e-6, atol=1e-6)


def test_all_models_are_saved(tmp_path):
    bags, y, _ = make_world()
    model = ARHMMClassifier(3, n_models=2, **SETTINGS).fit(bags, y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(bags), model.decision_function(bags))


def test_a_stream_has_one_model():
    bags, y, _ = make_world()
    with pytest.raises(InputError, match="n_models=1"):
        ARHMMClassifier(3, n_models=2, **SETTINGS).partial_fit(bags, y)
