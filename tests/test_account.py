"""Accounts of bags: bounds, agreement to the last digit, and a fit that recovers the truth."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import expit, softmax

from mixedbag._account import any as account
from mixedbag._account import counts as of_counts
from mixedbag._account import majority, margins
from mixedbag._account.likelihoods import BagLikelihood, witness_odds


def random_bags(rng, n_bags=7, largest=9, scale=4.0):
    sizes = rng.integers(1, largest + 1, n_bags)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return scale * rng.standard_normal(offsets[-1]), offsets


def by_hand(z, offsets, r):
    q = expit(z)
    parts = [q[a:b] for a, b in pairwise(offsets)]
    return np.array([1 - np.exp(-(((-np.log1p(-part)) ** r).sum() ** (1 / r))) for part in parts])


@pytest.mark.parametrize("r", [1.0, 1.7, 6.0])
@pytest.mark.parametrize("seed", range(5))
def test_probability_of_a_bag_is_the_formula_and_keeps_its_bounds(seed, r):
    z, offsets = random_bags(np.random.default_rng(seed))
    p = np.exp(account.bag_log_probability(z, offsets, r))
    assert_allclose(p, by_hand(z, offsets, r), rtol=1e-10)
    q = expit(z)
    assert (p >= np.maximum.reduceat(q, offsets[:-1]) - 1e-15).all()
    assert (p <= np.minimum(1.0, np.add.reduceat(q, offsets[:-1])) + 1e-15).all()


def test_independent_instances_are_a_noisy_or():
    z, offsets = random_bags(np.random.default_rng(0))
    negative = [np.prod(1 - expit(z[a:b])) for a, b in pairwise(offsets)]
    assert_allclose(
        np.exp(account.bag_log_probability(z, offsets)), 1 - np.array(negative), rtol=1e-12
    )


def shared_out(z, offsets, p, r=1.0):
    return account.InstanceOdds(1.0, 0.0, r).share_out(z, offsets, p)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    scale=st.sampled_from([1e-3, 1.0, 30.0, 1e3]),
    r=st.sampled_from([1.0, 1.5, 20.0]),
)
def test_shares_agree_with_any_answer(seed, scale, r):
    """Labels of instances with these probabilities and P(any) = p exist if and only if
    max q ≤ p ≤ Σ q."""
    rng = np.random.default_rng(seed)
    z, offsets = random_bags(rng, scale=scale)
    p = rng.choice([0.0, 1e-9, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-9, 1.0], len(offsets) - 1)
    q = shared_out(z, offsets, p, r)
    assert (np.maximum.reduceat(q, offsets[:-1]) <= p).all()
    assert (np.add.reduceat(q, offsets[:-1]) >= p * (1 - 1e-9)).all()
    for a, b in pairwise(offsets):  # the order stays
        assert (np.diff(q[a:b][np.argsort(z[a:b], kind="stable")]) >= 0).all()


def test_news_of_a_bag_say_nothing_of_which_instance_it_is():
    """All labels of a bag, one by one: those with a positive are as likely as before among them."""
    z, p = np.array([-2.0, 0.3, 1.1]), 0.35
    labels = np.array(list(product([0, 1], repeat=3)))
    chance = np.prod(np.where(labels, expit(z), expit(-z)), axis=1)
    holds = labels.any(axis=1)
    updated = np.where(
        holds, chance / chance[holds].sum() * p, chance / chance[~holds].sum() * (1 - p)
    )
    assert updated.sum() == pytest.approx(1.0)
    assert_allclose(shared_out(z, np.array([0, 3]), np.array([p])), updated @ labels, rtol=1e-12)


def test_a_day_of_samples_agrees_too():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 1, 1_000_001])
    z = rng.normal(-12, 3, 1_000_001)
    p = np.array([0.02, 0.98])
    q = shared_out(z, offsets, p)
    assert q[0] == pytest.approx(0.02)
    assert q[1:].max() <= 0.98 <= q[1:].sum()


def test_no_bag_contradicts_its_instances():
    rng = np.random.default_rng(1)
    z, offsets = random_bags(rng, n_bags=200)
    p = rng.uniform(size=200)
    q = shared_out(z, offsets, p)
    for least in (0.1, 0.5, 0.9):  # a cost moves the threshold of both levels
        named = account.name_instances(q, offsets, p >= least, q >= least)
        assert_allclose(np.logical_or.reduceat(named, offsets[:-1]), p >= least)
        # Whoever is named stands at least as high as whoever is not.
        for a, b in pairwise(offsets):
            inside = named[a:b]
            if inside.any() and not inside.all():
                assert q[a:b][inside].min() >= q[a:b][~inside].max()


def test_gradient_of_the_likelihood_against_finite_differences():
    rng = np.random.default_rng(2)
    s, offsets = random_bags(rng, n_bags=12)
    problem = BagLikelihood(s / 4, offsets, rng.uniform(size=12) < 0.5, rng.uniform(0.5, 2, 12))
    for x in ([0.5, -1.0, 0.9], [2.0, 0.3, 0.4], [0.0, -3.0, 0.2]):
        x = np.array(x)
        numeric = approx_fprime(x, lambda at: problem.value_and_gradient(at)[0], 1e-7)
        assert_allclose(problem.value_and_gradient(x)[1], numeric, rtol=1e-4, atol=1e-6)


def sample(rng, n_bags, size, slope, intercept, copies=1):
    """Bags whose labels follow the model, every instance repeated."""
    s = rng.standard_normal((n_bags, size))
    witness = rng.uniform(size=s.shape) < expit(slope * s + intercept)
    scores = np.repeat(s, copies, axis=1).ravel()
    offsets = np.arange(n_bags + 1) * size * copies
    return scores, offsets, witness.any(axis=1), witness


def test_the_fit_recovers_slope_and_intercept_from_bag_labels_alone():
    scores, offsets, positive, _ = sample(np.random.default_rng(3), 20_000, 5, 2.0, -3.0)
    odds = account.InstanceOdds.fit(scores, offsets, positive)
    assert_allclose([odds.slope, odds.intercept], [2.0, -3.0], atol=0.2)
    assert odds.dependence < 1.2


def test_neighbours_in_time_that_repeat_each_other_count_once():
    """Every sample is held eight times: the rate of witnesses is found only if runs count once."""
    rng = np.random.default_rng(4)
    scores, offsets, positive, witness = sample(rng, 4_000, 6, 2.0, -2.5, copies=8)
    odds = account.InstanceOdds.fit(scores, offsets, positive, in_time=True)
    independent = account.InstanceOdds.fit(scores, offsets, positive)
    rate = witness.mean()
    assert 4 <= odds.run_length <= 10
    assert abs(expit(odds(scores)).mean() - rate) < 0.25 * rate
    assert expit(independent(scores)).mean() < 0.4 * rate
    assert odds.share_out(scores, offsets, np.full(4_000, 0.7)).max() <= 0.7


def test_positives_that_come_together_are_seen_to_depend():
    """A bag's instances share their noise, so ten of them say hardly more than the best one."""
    rng = np.random.default_rng(5)
    positive = rng.uniform(size=3_000) < 0.5
    n_witnesses = np.where(positive, rng.integers(1, 11, 3_000), 0)
    witness = np.arange(10) < n_witnesses[:, None]
    noise = rng.standard_normal((3_000, 1)) + 0.2 * rng.standard_normal(witness.shape)
    scores = (2.5 * witness + noise).ravel()
    offsets = np.arange(3_001) * 10
    odds = account.InstanceOdds.fit(scores, offsets, positive)
    alone = account.InstanceOdds.fit(scores, offsets, positive, dependence=1.0)
    assert odds.dependence > 1.3

    def error(fitted):
        z = fitted(scores)
        return np.mean((expit(z) - witness.ravel()) ** 2)

    assert error(odds) < error(alone)


def test_a_bag_of_weight_two_counts_like_two():
    rng = np.random.default_rng(5)
    scores, offsets, positive, _ = sample(rng, 60, 5, 2.0, -3.0)
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    again = np.concatenate([scores, scores[:100]])
    longer = np.arange(81) * 5
    one = account.InstanceOdds.fit(scores, offsets, positive, weight, dependence=1.0)
    two = account.InstanceOdds.fit(
        again, longer, np.concatenate([positive, positive[:20]]), dependence=1.0
    )
    assert_allclose(one([0.0, 1.0]), two([0.0, 1.0]), atol=1e-2)


def test_scores_that_point_the_wrong_way_say_nothing():
    scores, offsets, positive, _ = sample(np.random.default_rng(6), 500, 5, 2.0, -3.0)
    assert account.InstanceOdds.fit(-scores, offsets, positive).slope < 1e-3


def test_the_scale_of_the_scores_does_not_matter():
    scores, offsets, positive, _ = sample(np.random.default_rng(7), 300, 5, 2.0, -3.0)
    one = account.InstanceOdds.fit(scores, offsets, positive)
    other = account.InstanceOdds.fit(1e9 * scores + 5e9, offsets, positive)
    assert_allclose(one(scores), other(1e9 * scores + 5e9), atol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_met(seed):
    rng = np.random.default_rng(seed)
    z, offsets = random_bags(rng, scale=10.0 ** rng.uniform(-1, 2))
    sizes = np.diff(offsets)
    counts = rng.uniform(size=len(sizes)) * sizes
    moved = z + np.repeat(of_counts.shift_to_counts(z, offsets, counts), sizes)
    assert_allclose(np.add.reduceat(expit(moved), offsets[:-1]), counts, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("sure", [1.0, 20.0, 500.0])
def test_counts_of_several_classes_are_met(sure, n_classes):
    """However sure a model is, and of classes that nobody has as well."""
    rng = np.random.default_rng(0)
    _, offsets = random_bags(rng, n_bags=40, largest=20)
    sizes = np.diff(offsets)
    q = softmax(sure * rng.normal(size=(offsets[-1], n_classes)), axis=1)
    whole = np.array([rng.multinomial(n, rng.dirichlet([0.3] * n_classes)) for n in sizes])
    for counts in (whole, rng.dirichlet([1] * n_classes, len(sizes)) * sizes[:, None]):
        fitted = margins.scale_to_counts(q, offsets, counts)
        assert_allclose(fitted.sum(axis=1), 1.0)
        assert_allclose(np.add.reduceat(fitted, offsets[:-1]), counts, atol=1e-5)


@pytest.mark.parametrize("sure", [1.0, 4.0])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_shares_that_meet_counts_are_those_of_proportional_fitting(sure, n_classes):
    rng = np.random.default_rng(0)
    people, shares = (
        rng.integers(1, 9, 15),
        softmax(sure * rng.normal(size=(15, n_classes)), axis=1),
    )
    offsets = np.arange(0, 16, 3)
    counts = np.array(
        [
            rng.multinomial(n, [1 / n_classes] * n_classes)
            for n in np.add.reduceat(people, offsets[:-1])
        ]
    )
    cells = people[:, None] * shares
    for _ in range(20_000):
        told = np.maximum(np.add.reduceat(cells, offsets[:-1]), 1e-300)
        cells *= np.repeat(counts / told, 3, axis=0)
        cells *= (people / cells.sum(axis=1))[:, None]
    found = people[:, None] * margins.scale_to_counts(shares, offsets, counts, people)
    assert_allclose(found, cells, atol=1e-6)


def test_values_add_up_to_the_total():
    rng = np.random.default_rng(0)
    values, offsets = random_bags(rng)
    totals = rng.standard_normal(len(offsets) - 1)
    assert_allclose(
        np.add.reduceat(of_counts.add_up(values, offsets, totals), offsets[:-1]), totals
    )


def test_the_answered_class_has_the_largest_share():
    rng = np.random.default_rng(0)
    _, offsets = random_bags(rng, n_bags=50)
    q = rng.dirichlet([0.3] * 3, offsets[-1])
    answered = rng.integers(0, 3, 50)
    moved = majority.share_for_majority(q, offsets, answered)
    share = np.add.reduceat(moved, offsets[:-1])
    assert (share[np.arange(50), answered] >= share.max(axis=1) - 1e-9).all()
    agreed = np.add.reduceat(q, offsets[:-1]).argmax(axis=1) == answered
    assert agreed.any()
    assert_allclose(
        moved[np.repeat(agreed, np.diff(offsets))], q[np.repeat(agreed, np.diff(offsets))]
    )


def contaminated(rng, n_bags, size, share):
    """Bags of which half hold a share of instances moved by three."""
    positive = np.arange(n_bags) % 2 == 1
    witness = (rng.uniform(size=(n_bags, size)) < share) & positive[:, None]
    s = rng.normal(size=(n_bags, size)) + 3.0 * witness
    return s.ravel(), np.arange(n_bags + 1) * size, positive, witness.ravel()


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_what_witnesses_look_like_is_found_without_knowing_any(share):
    s, offsets, positive, _ = contaminated(np.random.default_rng(0), 400, 20, share)
    slope, intercept = witness_odds(s, offsets, positive, np.ones(400))
    # Of two normals three apart: log-odds 3 s − 4.5 + log share / (1 − share).
    assert slope == pytest.approx(3.0, rel=0.4)
    expected = -4.5 + np.log(share / (1 - share))
    assert intercept == pytest.approx(expected, rel=0.5, abs=1.0)


def test_answers_are_shared_out_among_many_witnesses():
    s, offsets, positive, witness = contaminated(np.random.default_rng(0), 200, 20, 0.5)
    weight, p = np.ones(200), np.where(positive, 0.97, 0.03)
    odds = account.InstanceOdds.fit(s, offsets, positive, weight)
    losses = []
    for one in (odds, odds.with_witnesses(s, offsets, positive, weight)):
        q = one.share_out(s, offsets, p)
        losses.append(-np.mean(np.log(np.where(witness, q, 1 - q))))
    assert losses[1] < 0.8 * losses[0]


def test_sharpening_maximises_the_likelihood_of_counts():
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 201, 4)
    p = rng.dirichlet([1, 1, 1], size=200)
    truth = np.array(
        [rng.multinomial(1, q) for q in of_counts.sharpen(p, np.array([3.0, 0.0, 0.5, -0.5]))]
    )
    counts = np.add.reduceat(truth, offsets[:-1]).astype(float)
    weight = rng.uniform(0.5, 2.0, size=50)

    def likelihood(x):
        mean = np.add.reduceat(of_counts.sharpen(p, x), offsets[:-1]) / 4
        return weight @ (counts * np.log(mean)).sum(axis=1)

    found = of_counts.fit_sharpening(p, offsets, counts, weight)
    assert found[0] == pytest.approx(3.0, abs=1.2)
    for step in (*np.eye(4), *-np.eye(4)):
        assert likelihood(found + 1e-3 * step) <= likelihood(found) + 1e-9
