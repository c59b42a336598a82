"""ARHMM-MIL and MARMIL as learners: ascent, gradients, limits, and odd sequences."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit
from sklearn.metrics import roc_auc_score
from sklearn.utils import check_random_state

from mixedbag.bags import Bags
from mixedbag.engines import LocalBlocks
from mixedbag.sequence import ARHMMClassifier, MARClassifier
from mixedbag.sequence._autoregression import RIDGE
from mixedbag.sequence._chain import Chain
from mixedbag.sequence._direct import label_gradient, with_labels
from mixedbag.sequence._independent import Independent
from mixedbag.sequence._model import block_statistics
from mixedbag.sequence._start import begin
from tests.sequence.worlds import make_world

LEARNERS = [ARHMMClassifier, MARClassifier]


@pytest.fixture(scope="module")
def world():
    return make_world()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("n_init", [1, 3])
def test_the_posterior_density_never_falls(world, learner, n_init):
    bags, y, _ = world
    weight = np.random.default_rng(0).uniform(0.5, 2, len(bags))
    model = learner(4, order=2, max_iter=12, n_init=n_init, tol=0, random_state=1)
    model.fit(bags, y, sample_weight=weight)
    assert model.n_iter_ == 12
    assert np.diff(model.objective_).min() > -1e-6 * len(bags)
    assert model.evidence_error_ < 1e-5


def start(dynamics, bags, y, **settings):
    learner = ARHMMClassifier(n_states=3, order=2, n_init=1, precision=1e-10, **settings)
    blocks = LocalBlocks.cut(bags, np.where(y == y[0], 1.0, -1.0), np.ones(len(bags)))
    return begin(blocks, dynamics, learner, check_random_state(0)), blocks


@pytest.mark.parametrize("dynamics", [Chain, Independent])
def test_gradients_of_the_labels_match_finite_differences(world, dynamics):
    bags, y, _ = world
    model, blocks = start(dynamics, bags, y)
    point = np.append(logit(model.theta), model.omega) + 0.1
    gradient = blocks.sum(label_gradient, with_labels(model, point))[1:]
    for k in range(len(point)):
        up, down = point.copy(), point.copy()
        up[k] += 1e-5
        down[k] -= 1e-5
        high = blocks.sum(label_gradient, with_labels(model, up))[0]
        low = blocks.sum(label_gradient, with_labels(model, down))[0]
        assert_allclose(gradient[k], (high - low) / 2e-5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dynamics", [Chain, Independent])
def test_statistics_of_blocks_add_up(world, dynamics):
    bags, y, _ = world
    model, blocks = start(dynamics, bags, y)
    whole = blocks.sum(block_statistics, model)
    target = np.where(y == y[0], 1.0, -1.0)
    parts = LocalBlocks.cut(bags, target, np.ones(len(bags)), n_jobs=2, n_blocks=5)
    total = parts.sum(block_statistics, model)
    for name in ("log_likelihood", "log_evidence", "first", "moves", "moments", "ones", "slope"):
        assert_allclose(getattr(total, name), getattr(whole, name), rtol=1e-8)


@pytest.mark.parametrize("learner", LEARNERS)
def test_learns_both_levels(world, learner):
    bags, y, truth = make_world(n_bags=100, seed=1)
    model = learner(4, order=2, max_iter=10, random_state=0).fit(bags[:60], y[:60])
    score = model.decision_function(bags[60:])
    assert roc_auc_score(y[60:] == "walk", score) > 0.9
    instance_score = model.decision_function_instances(bags[60:])
    assert roc_auc_score(truth[bags.offsets[60] :], instance_score) > 0.85
    assert_allclose(model.predict_proba(bags[60:])[:, 1], expit(score))


@pytest.mark.parametrize("learner", LEARNERS)
def test_one_state_is_vector_autoregression(world, learner):
    bags, y, _ = world
    order, d = 2, bags.n_features
    model = learner(n_states=1, order=order, max_iter=2).fit(bags, y)
    x = (bags.instances - model.center_) / model.scale_
    inside = np.concatenate([np.arange(order, n) + s for n, s in zip(bags.sizes, bags.offsets)])
    past = np.hstack([x[inside - 1], x[inside - 2], np.ones((len(inside), 1))])
    ridge = np.sqrt(RIDGE) * np.eye(past.shape[1])
    expected = np.linalg.lstsq(
        np.vstack([past, ridge]), np.vstack([x[inside], np.zeros((len(ridge), d))])
    )[0]
    assert_allclose(model.coefficients_[0], expected, atol=1e-8)
    plain = np.linalg.lstsq(past, x[inside])[0]
    assert_allclose(model.coefficients_[0], plain, atol=5e-3)
    residual = x[inside] - past @ plain
    assert_allclose(
        model.covariances_[0], residual.T @ residual / len(inside), rtol=0.05, atol=0.01
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_first_samples_take_the_nearest_posterior(world, learner):
    bags, y, _ = world
    model = learner(3, order=4, max_iter=2, random_state=0).fit(bags, y)
    posterior = model.state_posterior(bags)
    assert posterior.shape == (bags.n_instances, 3)
    assert_allclose(posterior.sum(axis=1), 1.0)
    score = model.decision_function_instances(bags)
    assert_allclose(score, logit(posterior @ model.theta_))
    for first in bags.offsets[:-1]:
        assert_array_equal(score[first : first + 4], score[first + 4])
    # cutting off the first sample moves the scores of later ones by one place
    shorter = Bags.from_list([bags[i][1:] for i in range(len(bags))])
    later = model.decision_function_instances(shorter)
    if learner is MARClassifier:  # no memory: the scores themselves are the same
        assert_allclose(later[5:59], score[6:60], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_ragged_bags_down_to_order_plus_one(learner):
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(n, 2)) for n in (4, 30, 5, 4, 17, 60)])
    y = np.array([0, 1, 0, 1, 1, 0])
    model = learner(2, order=3, max_iter=3, random_state=0).fit(bags, y)
    assert model.decision_function(bags).shape == (6,)
    assert np.isfinite(model.decision_function_instances(bags)).all()
    with pytest.raises(ValueError, match=r"bag 0 has 3 samples.*at least 4"):
        model.predict([np.zeros((3, 2))])


@pytest.mark.parametrize("learner", LEARNERS)
def test_constant_channels_and_idle_states_are_harmless(world, learner):
    bags, y, _ = world
    constant = np.full((bags.n_instances, 1), 1e6)
    with_constant = bags.with_instances(np.hstack([bags.instances, constant]))
    model = learner(3, order=2, max_iter=4, random_state=0).fit(with_constant, y)
    assert np.isfinite(model.objective_).all()
    assert np.isfinite(model.decision_function(with_constant)).all()
    still = Bags.from_list([np.zeros((10, 1))] * 6)  # one window repeated: most states stay idle
    idle = learner(5, order=1, max_iter=4, random_state=0).fit(still, [0, 1, 0, 1, 0, 1])
    assert np.isfinite(idle.objective_).all()
    assert np.isfinite(idle.decision_function(still)).all()


def test_a_state_that_nobody_visits_keeps_its_prior(world):
    bags, y, _ = world
    model, blocks = start(Chain, bags, y)
    far = model.emission.coefficients.copy()
    far[2, -1] = 1e3  # an intercept that no sample comes near
    lonely = replace(model, emission=type(model.emission)(far, model.emission.covariances))
    total = blocks.sum(block_statistics, lonely)
    assert total.ones[2] + total.zeros[2] < 1e-12
    updated = type(model.emission).most_likely(total.moments, model.noise)
    assert_allclose(updated.coefficients[2], 0.0, atol=1e-12)
    assert (np.linalg.eigvalsh(updated.covariances[2]) > 0).all()
    chain = Chain.most_likely(total.first, total.moves)
    assert_allclose(chain.transition.sum(axis=1), 1.0)


def test_infinite_values_are_refused_by_name(world):
    bags, y, _ = world
    broken = bags.instances.copy()
    broken[130, 1] = np.inf
    with pytest.raises(ValueError, match="instance 10 of bag 2 has inf"):
        ARHMMClassifier().fit(bags.with_instances(broken), y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_do_not_change_the_answer(learner):
    bags, y, _ = make_world(n_bags=60, length=300, seed=3)
    one = learner(3, order=2, max_iter=3, n_init=1).fit(bags, y)
    two = learner(3, order=2, max_iter=3, n_init=1, n_jobs=2).fit(bags, y)
    assert_array_equal(one.decision_function(bags), two.decision_function(bags))


@pytest.mark.parametrize("learner", LEARNERS)
def test_several_classes_and_pickling(learner):
    bags, y, _ = make_world(n_bags=45)
    y = np.where(np.arange(45) % 3 == 0, "other", y)
    model = learner(3, order=2, max_iter=2, n_init=1, random_state=0).fit(bags, y)
    assert model.predict_proba(bags).shape == (45, 3)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.decision_function(bags), model.decision_function(bags))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_stream_is_learned_in_constant_memory(learner):
    bags, y, _ = make_world(n_bags=240, seed=2)
    batch = learner(4, order=2, max_iter=10, random_state=0).fit(bags[:200], y[:200])
    stream = learner(4, order=2, max_iter=10, random_state=0)
    sizes = []
    for k in range(0, 200, 40):
        stream.partial_fit(bags[k : k + 40], y[k : k + 40], classes=["rest", "walk"])
        sizes.append(len(pickle.dumps(stream)))
    assert max(sizes) - min(sizes) < 2000
    scores = [roc_auc_score(y[200:], m.decision_function(bags[200:])) for m in (batch, stream)]
    assert scores[1] > scores[0] - 0.03


def test_a_stream_of_several_classes():
    bags, y, _ = make_world(n_bags=90)
    y = np.where(np.arange(90) % 3 == 0, "other", y)
    model = ARHMMClassifier(3, order=2, max_iter=2, n_init=1, random_state=0)
    for k in (0, 45):
        model.partial_fit(bags[k : k + 45], y[k : k + 45])
    assert model.predict_proba(bags).shape == (90, 3)
    with pytest.raises(ValueError, match="bag 1 has label"):
        model.partial_fit(bags[:2], ["rest", "unheard-of"])
