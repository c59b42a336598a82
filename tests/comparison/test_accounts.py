"""Models that `compare` and `fit` hand over: both levels say the same, for every kind of label."""

import numpy as np
import pytest

from mixedbag import Bags, compare, load, save
from mixedbag._account.majority import name_majority
from mixedbag._evidence import knows_instances
from mixedbag.comparison import fit_best_setting
from mixedbag.comparison._accounts import feasible_counts
from mixedbag.comparison._candidates import find_candidates
from mixedbag.datasets import make_any, make_count, make_sequences, make_sum
from mixedbag.pooling import bag_max, bag_sum

QUICK = {"folds": 3, "inner_folds": 3}
ANY = ["bag statistics + SVM", "spread labels + logistic", "MILogisticRegression"]


@pytest.fixture(scope="module")
def mixed():
    """Bags of which few instances are positive, and a stack of members that know instances."""
    data = make_any(n_bags=60, size=(4, 12), n_features=3, random_state=0)
    words = np.where(data.y == 1, "yes", "no")
    return data, compare(data.bags, words, learners=ANY, **QUICK)


def new_bags(seed=1):
    return make_any(n_bags=50, size=(3, 20), n_features=3, random_state=seed).bags


def contradictions(bags, answered, named):
    """Bags answered "no" with a positive instance, and bags answered "yes" without one."""
    holds = bag_max((named == "yes").astype(int), bags.offsets) == 1
    return int((holds != (answered == "yes")).sum())


def test_bags_and_instances_never_contradict_each_other(mixed):
    _, result = mixed
    bags, model = new_bags(), result.model
    p, q = model.predict_proba(bags), model.predict_proba_instances(bags)
    assert q.sum(axis=1) == pytest.approx(1.0)
    assert contradictions(bags, model.predict(bags), model.predict_instances(bags)) == 0
    assert (bag_max(q[:, 1], bags.offsets) <= p[:, 1] + 1e-9).all()
    assert (p[:, 1] <= bag_sum(q[:, 1], bags.offsets) + 1e-9).all()


@pytest.mark.parametrize("cost", ["1:9", "9:1"])
@pytest.mark.parametrize("rule", ["any", "majority"])
def test_costs_move_the_threshold_of_both_levels(mixed, rule, cost):
    """Where an alarm costs nine misses, a bag of probability 0.8 is answered "no", and an instance
    of probability 0.7 in it too."""
    data, _ = mixed
    words = np.where(data.y == 1, "yes", "no")
    model = compare(data.bags, words, rule, learners=ANY[1:2], cost=cost, **QUICK).model
    bags = new_bags()
    p, answered, named = (
        model.predict_proba(bags),
        model.predict(bags),
        model.predict_instances(bags),
    )
    miss, alarm = (float(part) for part in cost.split(":"))
    assert np.array_equal(answered == "yes", p[:, 1] * miss > p[:, 0] * alarm)
    if rule == "majority":
        share = bag_sum((named == "yes").astype(float), bags.offsets) / bags.sizes
        assert (share >= 0.5)[answered == "yes"].all()
        assert (share <= 0.5)[answered == "no"].all()
        return
    assert contradictions(bags, answered, named) == 0
    q = model.predict_proba_instances(bags)
    if cost == "1:9":  # what is asked here does happen
        assert (bags.spread(answered == "no") & (q[:, 1] > 0.5)).any()
    likely = q[:, 1] * miss > q[:, 0] * alarm
    assert np.array_equal(
        (named == "yes")[~bags.spread(answered == "yes")], likely[bags.spread(answered == "no")]
    )


def test_an_instance_alone_has_the_probability_of_its_bag(mixed):
    model, rows = mixed[1].model, new_bags().instances
    assert model.predict_proba_instances(rows) == pytest.approx(model.predict_proba(rows))
    assert np.array_equal(model.predict_instances(rows), model.predict(rows))


def test_learners_that_only_know_bags_are_not_asked_about_instances(mixed):
    model = mixed[1].model
    asked = {model.names[m] for m in model.witnesses}
    assert asked
    assert "bag statistics + SVM" not in asked
    assert sum(model.account.weights) == pytest.approx(1.0)


def test_who_knows_instances():
    data = make_any(n_bags=12, random_state=0)
    known = {c.name: knows_instances(c.estimator) for c in find_candidates("any", data.bags)[0]}
    assert not known["bag statistics + forest"]
    assert not known["SetKernelSVC"]
    assert not known["CitationKNN"]
    assert known["spread labels + forest"]
    assert known["BagMarginSVC"]
    assert known["EMDD"]
    series = make_sequences(n_bags=12, random_state=0).bags
    known = {c.name: knows_instances(c.estimator) for c in find_candidates("sequence", series)[0]}
    assert known["windows + logistic"]
    assert known["states of windows + MI-Forest"]
    assert not known["windows + forest"]


def test_the_instances_are_found(mixed):
    data, result = mixed
    q = result.out_of_fold().instances[:, 1]
    inside = [q[data.instance_labels == k].mean() for k in (0, 1)]
    assert inside[1] > inside[0] + 0.2


def test_out_of_fold_answers_agree_also_over_repeats():
    data = make_any(n_bags=40, size=(3, 8), n_features=3, random_state=0)
    words = np.where(data.y == 1, "yes", "no")
    result = compare(data.bags, words, learners=ANY[1:], repeats=2, **QUICK)
    answers = result.out_of_fold()
    assert contradictions(data.bags, answers.labels, answers.instance_labels) == 0
    top = bag_max(answers.instances[:, 1], data.bags.offsets)
    assert (top <= answers.bags[:, 1] + 1e-9).all()


def test_a_model_of_one_learner_agrees_even_if_it_only_knows_bags():
    data = make_any(n_bags=40, size=(3, 8), n_features=3, random_state=0)
    words = np.where(data.y == 1, "yes", "no")
    fitted = fit_best_setting(data.bags, words, learner="bag statistics + SVM")
    model, bags = fitted.model, new_bags()
    assert "only know bags" in model.notes[0]
    assert contradictions(bags, model.predict(bags), model.predict_instances(bags)) == 0


def test_weights_of_bags_count_for_instances():
    data = make_any(n_bags=60, size=(3, 8), n_features=3, random_state=0)
    weight = np.where(data.y == 1, 10.0, 0.1)
    means = []
    for w in (None, weight):
        model = fit_best_setting(
            data.bags, data.y, learner="spread labels + logistic", sample_weight=w
        ).model
        means.append(model.predict_proba_instances(data.bags)[:, 1].mean())
    assert means[1] > means[0] + 0.05


def test_instances_that_cannot_be_told_apart_are_said_to_be():
    data = make_any(n_bags=40, size=4, n_features=3, random_state=0)
    first = data.bags.instances[data.bags.offsets[:-1]]
    alike = Bags(np.repeat(first, 4, axis=0), data.bags.offsets)
    y = (first[:, 0] > np.median(first[:, 0])).astype(int)
    model = fit_best_setting(alike, y, "any", "spread labels + logistic").model
    assert any("cannot be told apart" in note for note in model.notes)
    q = model.predict_proba_instances(alike)[:, 1].reshape(-1, 4)
    assert np.ptp(q, axis=1).max() < 1e-9


def test_more_classes_have_an_account_each():
    data = make_any(n_bags=60, size=(3, 6), n_features=3, random_state=0)
    y = np.where(data.y == 1, "a", np.where(np.arange(60) % 2 == 0, "b", "c"))
    X = data.bags.instances.copy()
    X[data.bags.offsets[:-1][y == "c"], 1] += 9.0
    bags = Bags(X, data.bags.offsets)
    model = compare(bags, y, "any", learners=["spread labels + logistic"], **QUICK).model
    p, q = model.predict_proba(bags), model.predict_proba_instances(bags)
    assert q.shape == (bags.n_instances, 3)
    assert (q.sum(axis=1) <= 1 + 1e-9).all()
    assert (bag_max(q, bags.offsets) <= p + 1e-9).all()
    named, answered = model.predict_instances(bags), model.predict(bags)
    for i in range(len(bags)):
        assert answered[i] in named[bags.offsets[i] : bags.offsets[i + 1]]


def test_sequences_agree_whatever_their_length(tmp_path):
    data = make_sequences(n_bags=40, random_state=0)
    words = np.where(data.y == data.y.max(), "yes", "no")
    learners = ["windows + logistic", "bag statistics + SVM"]
    model = compare(data.bags, words, "sequence", learners=learners, **QUICK).model
    assert (
        contradictions(data.bags, model.predict(data.bags), model.predict_instances(data.bags)) == 0
    )
    long = Bags.from_list([np.vstack([data.bags[i] for i in range(40)] * 5)])
    p, q = model.predict_proba(long), model.predict_proba_instances(long)
    assert q[:, 1].max() <= p[0, 1] + 1e-9
    assert q[:, 1].sum() >= p[0, 1]
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    assert np.array_equal(again.predict_proba_instances(long), q)
    assert again.origin.rule == "sequence"


def test_majorities_are_those_of_the_instances():
    data = make_any(n_bags=60, size=(3, 7), n_features=3, random_state=0)
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    bags = data.bags.with_instances(
        data.bags.instances + data.bags.spread(np.arange(60) % 3)[:, None]
    )
    model = compare(bags, y, "majority", learners=ANY[:2], **QUICK).model
    answered = model.predict(bags)
    q, named = model.predict_proba_instances(bags), model.predict_instances(bags)
    shares = bag_sum(q, bags.offsets)
    votes = bag_sum((named[:, None] == model.classes_).astype(float), bags.offsets)
    own = np.flatnonzero(answered[:, None] == model.classes_) % 3
    assert (shares[np.arange(60), own] >= shares.max(axis=1) - 1e-9).all()
    assert (votes[np.arange(60), own] == votes.max(axis=1)).all()


def test_a_majority_is_named_by_the_fewest_changes():
    q = np.array([[0.6, 0.4], [0.55, 0.45], [0.9, 0.1], [0.1, 0.9]])
    named = name_majority(q, q.argmax(axis=1), np.array([0, 4]), np.array([1]))
    assert named.tolist() == [0, 1, 0, 1]  # a tie is no contradiction


@pytest.mark.parametrize("n_classes", [2, 3])
def test_counts_add_up(n_classes):
    data = make_count(n_bags=40, size=(3, 9), random_state=0)
    y = data.y
    if n_classes == 3:
        y = np.column_stack([data.bags.sizes - data.y, data.y, np.zeros_like(data.y)])
        y[:, 1:] = np.column_stack([y[:, 1] - y[:, 1] // 2, y[:, 1] // 2])
    learners = ["spread counts + logistic", "bag statistics + extra"]
    model = compare(data.bags, y, "count", learners=learners, **QUICK).model
    bags = make_count(n_bags=30, size=(2, 12), random_state=1).bags
    counts, q = model.predict(bags), model.predict_instances(bags)
    assert bag_sum(q, bags.offsets) == pytest.approx(counts, abs=1e-6)
    assert q.min() >= 0
    assert q.max() <= 1
    if n_classes == 3:
        assert q.sum(axis=1) == pytest.approx(1.0)
        assert counts.sum(axis=1) == pytest.approx(bags.sizes)


def test_totals_add_up():
    data = make_sum(n_bags=40, size=(3, 9), random_state=0)
    learners = ["spread totals + ridge", "bag statistics + extra"]
    model = compare(data.bags, data.y, "sum", learners=learners, **QUICK).model
    values = model.predict_instances(data.bags)
    assert bag_sum(values, data.bags.offsets) == pytest.approx(model.predict(data.bags))


def test_counts_stay_between_none_and_all():
    told = feasible_counts(np.array([[-1.0], [7.0]]), np.array([3, 5]))
    assert told.tolist() == [[0.0], [5.0]]
    told = feasible_counts(np.array([[-1.0, 2.0], [0.0, 0.0]]), np.array([4, 6]))
    assert told.tolist() == [[0.0, 4.0], [3.0, 3.0]]
