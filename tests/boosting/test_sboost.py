"""SBoost: its weights, its step, its bound, and the limits where it is AdaBoost."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from mixedbag import Bags
from mixedbag.boosting import SBoost
from mixedbag.boosting.sboost import GAMMAS, session_loss, session_weights
from mixedbag.datasets import load_sessions
from tests.boosting.toys import random_bags

GAMMA = [0.0, 0.3, 1.0, 5.0]


def plain_loss(H, offsets, y, weight, gamma):
    """The loss of the paper, word by word."""
    total = 0.0
    for i in range(len(y)):
        scores = H[offsets[i] : offsets[i + 1]]
        session_error = np.exp(-gamma * y[i] / len(scores) * scores.sum())
        total += weight[i] * session_error * np.exp(-y[i] * scores).sum()
    return total


def a_moment(seed=0):
    bags, sign, weight = random_bags(seed=seed)
    rng = np.random.default_rng(seed)
    h = np.where(rng.random(bags.n_instances) < 0.7, 1.0, -1.0) * bags.spread(sign)
    return bags, sign, weight, rng.normal(size=bags.n_instances), h


@pytest.mark.parametrize("gamma", GAMMA)
def test_loss_is_the_papers(gamma):
    bags, sign, weight, H, _ = a_moment()
    expected = np.log(plain_loss(H, bags.offsets, sign, weight, gamma))
    assert session_loss(H, bags.offsets, sign, weight, gamma) == pytest.approx(expected)


@pytest.mark.parametrize("gamma", GAMMA)
def test_weights_are_the_size_of_the_gradient(gamma):
    bags, sign, weight, H, _ = a_moment(1)
    D = session_weights(H, bags.offsets, sign, weight, gamma)
    gradient = np.empty_like(H)
    for k, step in enumerate(np.eye(len(H)) * 1e-6):
        ahead, behind = (
            plain_loss(H + s, bags.offsets, sign, weight, gamma) for s in (step, -step)
        )
        gradient[k] = (ahead - behind) / 2e-6
    assert (np.sign(gradient) == -bags.spread(sign)).all()
    np.testing.assert_allclose(D / D.sum(), np.abs(gradient) / np.abs(gradient).sum(), rtol=1e-6)


def papers_step(bags, sign, weight, H, h, gamma):
    """α of the paper, from g, a and b of each session."""
    up = down = 0.0
    for i in range(len(bags)):
        rows = slice(bags.offsets[i], bags.offsets[i + 1])
        y, m = sign[i], bags.sizes[i]
        g = np.exp(-y * gamma / m * H[rows].sum())
        a = np.exp(-y * H[rows]).sum()
        b = (y * h[rows] * np.exp(-y * H[rows])).sum() + y * a * gamma / m * h[rows].sum()
        up += weight[i] * g * ((1 + gamma) * a + b)
        down += weight[i] * g * ((1 + gamma) * a - b)
    return np.log(up / down) / (2 * (1 + gamma))


@pytest.mark.parametrize("gamma", GAMMA)
def test_step_is_the_closed_form_at_every_round(gamma):
    bags, sign, weight = random_bags(n_bags=30, seed=2)
    model = SBoost(gamma=gamma, n_rounds=8, random_state=0).fit(bags, sign, weight)
    H = np.zeros(bags.n_instances)
    for member in model.ensemble_.members:
        h = member.estimator.predict(bags.instances)
        assert member.weight == pytest.approx(papers_step(bags, sign, weight, H, h, gamma))
        H += member.weight * h
    np.testing.assert_allclose(model.decision_function_instances(bags), H)


@pytest.mark.parametrize("gamma", GAMMA)
@pytest.mark.parametrize("seed", range(5))
def test_upper_bound_holds(gamma, seed):
    bags, sign, weight, H, h = a_moment(seed)
    before = plain_loss(H, bags.offsets, sign, weight, gamma)
    D = session_weights(H, bags.offsets, sign, weight, gamma)
    D *= before * (1 + gamma) / D.sum()  # the weights sum to (1 + γ) Σ g a
    for alpha in (-0.5, 0.1, papers_step(bags, sign, weight, H, h, gamma), 2.0):
        up, down = np.exp(alpha * (1 + gamma)), np.exp(-alpha * (1 + gamma))
        agreement = D @ (bags.spread(sign) * h)
        bound = before * (up + down) / 2 - (up - down) / (2 * (1 + gamma)) * agreement
        after = plain_loss(H + alpha * h, bags.offsets, sign, weight, gamma)
        assert after <= bound * (1 + 1e-12)


@pytest.mark.parametrize("gamma", GAMMA)
@pytest.mark.parametrize("sample", [False, True])
def test_loss_falls_every_round(gamma, sample):
    sessions = load_sessions("cancer", random_state=0)
    model = SBoost(gamma=gamma, n_rounds=20, sample=sample, random_state=0)
    model.fit(sessions.bags, sessions.y)
    assert (np.diff(model.objective_, prepend=1.0) < 0).all()


def test_without_gamma_it_is_adaboost_on_spread_labels():
    sessions = load_sessions("cancer", random_state=0)
    bags, y = sessions.bags, sessions.y
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = SBoost(stump, gamma=0.0, n_rounds=15).fit(bags, y)
    theirs = AdaBoostClassifier(stump, n_estimators=15, random_state=0)
    theirs.fit(bags.instances, bags.spread(y))
    weights = [member.weight for member in ours.ensemble_.members]
    # scikit-learn's weights are twice the paper's.
    np.testing.assert_allclose(theirs.estimator_weights_, 2 * np.array(weights), rtol=1e-6)
    np.testing.assert_array_equal(ours.predict_instances(bags), theirs.predict(bags.instances))


def test_bags_of_one_agree_with_adaboost_for_every_gamma():
    """With m = 1, L = Σ exp(−(1+γ) y H): AdaBoost whose scores are 1 + γ times smaller."""
    bags, sign, _ = random_bags(n_bags=60, largest=1, seed=3)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    plain, sessions = (SBoost(stump, gamma=g, n_rounds=10).fit(bags, sign) for g in (0.0, 3.0))
    np.testing.assert_allclose(
        plain.decision_function_instances(bags), 4.0 * sessions.decision_function_instances(bags)
    )


def test_bags_get_the_class_of_most_instances():
    sessions = load_sessions("cancer", random_state=0)
    model = SBoost(n_rounds=5, random_state=0).fit(sessions.bags, sessions.y)
    H = model.decision_function_instances(sessions.bags)
    votes = np.add.reduceat(np.sign(H), sessions.bags.offsets[:-1])
    clear = votes != 0
    assert clear.any()
    labels = model.classes_[(votes > 0).astype(int)]
    np.testing.assert_array_equal(model.predict(sessions.bags)[clear], labels[clear])


def test_equal_votes_are_decided_by_the_scores():
    X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    model = SBoost(n_rounds=1).fit(X, [0, 0, 1, 1])
    model.ensemble_.members[0].score = lambda rows: rows[:, 0]
    pair = Bags.from_list([np.array([[-1.0], [3.0]]), np.array([[-3.0], [1.0]])])
    assert model.predict(pair).tolist() == [1, 0]


@pytest.mark.parametrize("estimator", [GaussianNB(), LogisticRegression(), None], ids=repr)
@pytest.mark.parametrize("sample", [False, True])
def test_any_classifier_by_weights_or_sampled(estimator, sample):
    sessions = load_sessions("cancer", random_state=0)
    model = SBoost(estimator, n_rounds=5, sample=sample, random_state=1)
    bags = sessions.bags.with_instances(
        (sessions.bags.instances - sessions.bags.instances.mean(0)) / sessions.bags.instances.std(0)
    )
    assert model.fit(bags, sessions.y).score(bags, sessions.y) > 0.8
    again = SBoost(estimator, n_rounds=5, sample=sample, random_state=1).fit(bags, sessions.y)
    np.testing.assert_array_equal(model.decision_function(bags), again.decision_function(bags))


def test_a_classifier_without_weights_needs_sampling():
    sessions = load_sessions("cancer", random_state=0)
    with pytest.raises(ValueError, match="sample=True"):
        SBoost(KNeighborsClassifier()).fit(sessions.bags, sessions.y)
    model = SBoost(KNeighborsClassifier(), n_rounds=3, sample=True, random_state=0)
    assert model.fit(sessions.bags, sessions.y).n_iter_ >= 1


def test_gamma_by_a_split():
    sessions = load_sessions("cancer", random_state=2)
    model = SBoost(gamma="split", n_rounds=10, random_state=0).fit(sessions.bags, sessions.y)
    assert model.gamma_ in GAMMAS
    same = SBoost(gamma=model.gamma_, n_rounds=10).fit(sessions.bags, sessions.y)
    assert same.gamma_ == model.gamma_
    with pytest.raises(ValueError, match="too few"):
        SBoost(gamma="split").fit(sessions.bags[[0, -1]], [0, 1])
    with pytest.raises((ValueError, TypeError), match="gamma"):
        SBoost(gamma="best").fit(sessions.bags, sessions.y)


def test_a_perfect_classifier_ends_the_rounds_with_a_finite_weight():
    X = np.arange(20.0)[:, None]
    model = SBoost(n_rounds=10).fit(X, X[:, 0] > 9)
    assert model.n_iter_ == 1
    assert np.isfinite(model.ensemble_.members[0].weight)
    assert model.score(X, X[:, 0] > 9) == 1.0


def test_a_classifier_no_better_than_chance_ends_the_rounds():
    X = np.zeros((10, 1))
    model = SBoost(n_rounds=10).fit(X, np.arange(10) % 2)
    assert model.n_iter_ == 0
    assert (model.decision_function(X) == model.decision_function(X)[0]).all()


def test_staged_scores_end_at_the_final_ones():
    sessions = load_sessions("cancer", random_state=0)
    model = SBoost(n_rounds=6, random_state=0).fit(sessions.bags, sessions.y)
    stages = list(model.staged_decision_function(sessions.bags))
    assert len(stages) == model.n_iter_
    np.testing.assert_allclose(stages[-1], model.decision_function(sessions.bags))
    assert model.feature_importances_.sum() == pytest.approx(1)
