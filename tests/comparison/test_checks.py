"""Every check: on data that has the problem, and on data that has not."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mixedbag import Bags, compare
from mixedbag.comparison import checks
from mixedbag.comparison.checks import _03_rule, _10_far_from_training
from mixedbag.datasets import make_any, make_count, make_sum

FAST = {"learners": ["bag statistics + SVM"], "folds": 3, "inner_folds": 2}


def found(result, number):
    return checks.all_checks()[number].find(result)


def compared(bags, y, rule="any", **more):
    return compare(bags, y, rule, **{**FAST, **more})


def test_numbers_are_unique_and_without_gaps():
    folder = Path(checks.__file__).parent
    numbers = sorted(int(path.name[1:3]) for path in folder.glob("_[0-9][0-9]_*.py"))
    assert numbers == list(range(1, len(numbers) + 1)) == sorted(checks.all_checks())
    for check in checks.all_checks().values():
        assert check.LEVEL in ("warning", "note")
        assert re.fullmatch(r"[A-Z].*[^.]", check.TITLE)


@pytest.fixture(scope="module")
def plain():
    """Bags whose label depends on the strongest of eight instances, and on three features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8, 3))
    strength = X.sum(axis=2).max(axis=1)
    y = (strength > np.median(strength)).astype(int)
    learners = ["bag statistics + SVM", "bag statistics + extra"]
    return compare(Bags.from_list(list(X)), y, learners=learners, folds=5, inner_folds=2)


def test_plain_data_is_left_in_peace(plain):
    warnings = [finding for finding in plain.checks() if finding.level == "warning"]
    assert warnings == []


def test_noise_is_no_better_than_the_constant(plain):
    data = make_any(n_bags=60, random_state=0)
    y = np.random.default_rng(5).permutation(data.y)
    says, advice = found(compared(data.bags, y), 1)
    assert "better than always giving the same answer (accuracy" in says
    assert "Do not act" in advice
    assert found(plain, 1) is None


def test_a_feature_that_is_the_label_is_a_leak(plain):
    rng = np.random.default_rng(0)
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    leak = data.bags.spread(data.y) + 0.1 * rng.normal(size=data.bags.n_instances)
    bags = Bags(
        np.column_stack([rng.normal(size=data.bags.n_instances), leak]),
        data.bags.offsets,
        feature_names=["noise", "outcome code"],
    )
    says, advice = found(compared(bags, data.y), 2)
    assert "'outcome code' of a bag alone" in says
    assert "--drop" in advice
    assert found(plain, 2) is None


def test_days_on_which_one_class_was_measured_are_a_leak():
    data = make_any(n_bags=60, size=(2, 6), n_features=2, random_state=0)
    rng = np.random.default_rng(0)
    day = 2 * rng.integers(5, size=60) + np.asarray(data.y)  # odd days: positive
    X = np.column_stack([data.bags.instances, data.bags.spread(day)])
    bags = data.bags.with_instances(X, ["a", "b", "day"])
    says, advice = found(compared(bags, data.y), 2)
    assert "day" in says
    assert "--drop" in advice


def test_the_size_of_a_bag_is_a_leak():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    sizes = 3 + 4 * y + rng.integers(0, 3, 40)
    bags = Bags(rng.normal(size=(sizes.sum(), 2)), np.concatenate([[0], np.cumsum(sizes)]))
    assert "number of instances" in found(compared(bags, y), 2)[0]
    shuffled = rng.permutation(y)
    assert found(compared(bags, shuffled), 2) is None


def test_amounts_leak_too():
    data = make_sum(n_bags=60, random_state=0)
    bags = Bags(
        np.column_stack([data.bags.instances, data.bags.spread(np.asarray(data.y))]),
        data.bags.offsets,
    )
    fast = {"rule": "sum", "learners": ["spread totals + ridge"]}
    assert "R²" in found(compared(bags, data.y, **fast), 2)[0]
    assert found(compared(data.bags, data.y, **fast), 2) is None


def by_rule(rule, n_bags=150, seed=0):
    """Bags of eight whose label follows the largest, the mean, or the number of positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_bags, 8, 3))
    score = X[:, :, 0]
    strength = {
        "any": score.max(axis=1),
        "mean": score.mean(axis=1),
        "count": (score > 0.5).sum(axis=1) + 0.01 * rng.normal(size=n_bags),
    }[rule]
    y = (strength > np.median(strength)).astype(int)
    return Bags.from_list(list(X)), y


@pytest.mark.parametrize(("truth", "rule"), [("mean", "any"), ("any", "majority")])
def test_another_rule_is_seen(truth, rule):
    says, advice = found(compared(*by_rule(truth), rule=rule, folds=5), 3)
    assert "p = 0.0" in says
    assert {"mean": "--rule majority", "any": "--rule any"}[truth] in advice


@pytest.mark.parametrize(("truth", "rule"), [("any", "any"), ("mean", "majority")])
def test_the_right_rule_is_left_in_peace(truth, rule, plain):
    assert found(compared(*by_rule(truth), rule=rule, folds=5), 3) is None
    assert found(plain, 3) is None


def test_a_mean_taken_for_a_sum_is_seen():
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 30, 80)
    bags = Bags(rng.normal(size=(sizes.sum(), 3)), np.concatenate([[0], np.cumsum(sizes)]))
    mean = np.add.reduceat(bags.instances[:, 0], bags.offsets[:-1]) / sizes
    fast = {"learners": ["ridge"], "folds": 10}
    says, advice = found(compared(bags, mean, rule="sum", **fast), 3)
    assert "the average of its instances better than the total" in says
    assert "--rule mean" in advice
    assert found(compared(bags, mean, rule="mean", **fast), 3) is None


def test_slopes_of_pooled_losses_are_right():
    rng = np.random.default_rng(0)
    part = rng.normal(size=(12, 2)), np.array([0, 3, 5, 12])
    target, w, step = np.array([True, False, True]), rng.normal(size=4), 1e-6
    for pool in _03_rule._POOLS.values():
        gradient = _03_rule._loss(pool, part, target, w)[1]
        numeric = [
            (
                _03_rule._loss(pool, part, target, w + step * e)[0]
                - _03_rule._loss(pool, part, target, w - step * e)[0]
            )
            / (2 * step)
            for e in np.eye(4)
        ]
        assert gradient == pytest.approx(np.array(numeric), abs=1e-6)


def test_the_same_bag_with_two_labels(plain):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    pieces = [data.bags[i] for i in range(40)]
    yes, no = int(np.argmax(data.y)), int(np.argmin(data.y))
    pieces[no] = pieces[yes][::-1]
    says, _ = found(compared(Bags.from_list(pieces), data.y), 4)
    assert says.startswith("2 bags hold exactly the same instances")
    assert str(yes) in says
    assert found(plain, 4) is None


def test_few_bags_are_too_few(plain):
    data = make_any(n_bags=16, size=(2, 5), n_features=3, random_state=0)
    says, advice = found(compared(data.bags, data.y), 5)
    assert "With 16 bags, accuracy may be anything" in says
    rarest = np.bincount(data.y.astype(int)).min()
    assert f"--folds {rarest}." in advice  # more folds than that cannot be made
    assert found(plain, 5) is None


def test_names_and_columns_that_look_like_patients(plain):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)

    def named(ids, **more):
        bags = Bags(data.bags.instances, data.bags.offsets, np.array(ids))
        return compared(bags, data.y, **more)

    patient = np.arange(40) % 8
    ids = [f"P{patient[i]:02d}-{i}" for i in range(40)]
    says, advice = found(named(ids), 6)
    assert "8 beginnings (P00-0, P00-8, P00-16 and 2 more)" in says
    assert "--group" in advice
    assert found(named(ids, groups=patient), 6) is None
    assert found(named([f"mol-{i:03d}" for i in range(40)]), 6) is None
    assert found(plain, 6) is None
    bags = Bags(
        np.column_stack([data.bags.instances, data.bags.spread(patient)]),
        data.bags.offsets,
        feature_names=["a", "b", "c", "patient_id"],
    )
    assert "column 'patient_id'" in found(compared(bags, data.y), 6)[0]


def test_settings_at_the_edge():
    candidate = SimpleNamespace(name="SVM", grid={"learner__C": [1.0, 10.0, 100.0]})

    def result(*chosen):
        trials = {
            f"0.{k}": SimpleNamespace(setting={"learner__C": c}) for k, c in enumerate(chosen)
        }
        return SimpleNamespace(finalists=lambda: [candidate], trials=lambda c: trials)

    assert found(result(100.0, 100.0, 10.0), 7)[0] == "SVM took the largest C tried, 100."
    assert found(result(10.0, 100.0, 1.0), 7) is None


def test_instances_that_cannot_be_told_apart(plain):
    data = make_any(n_bags=40, size=4, n_features=3, random_state=0)
    means = np.array([data.bags[i].mean(axis=0) for i in range(40)])
    copies = Bags(data.bags.spread(means), data.bags.offsets)
    assert "copies of one instance" in found(compared(copies, data.y), 8)[0]
    count = make_count(n_bags=30, size=6, random_state=0)
    fast = {"rule": "count", "learners": ["spread counts + logistic"]}
    result = compared(count.bags, count.y, **fast)
    assert found(result, 8) is None
    same_share = replace(result.protocol, question=result.question)
    question = SimpleNamespace(
        kind="counts", cases=SimpleNamespace(truth=np.full((30, 1), 3.0), sizes=np.full(30, 6))
    )
    fake = SimpleNamespace(bags=same_share.bags, question=question)
    assert "same share" in found(fake, 8)[0]
    assert found(plain, 8) is None


def test_members_that_disagree():
    def result(*answers, kind="classes"):
        said = {f"member {k}": answer for k, answer in enumerate(answers)}
        return SimpleNamespace(
            question=SimpleNamespace(kind=kind, weight=np.ones(60), labels=lambda a: a[:, 0]),
            finalists=lambda: [SimpleNamespace(name=name) for name in said],
            unseen_bags=lambda who: np.asarray(said[who[0].name], float)[:, None],
        )

    one, two, three = np.array([0, 1] * 30), np.array([0, 0, 1, 1] * 15), np.array([0, 1] * 30)
    assert "member 0 and member 1 least (50 %)" in found(result(one, two), 9)[0]
    assert found(result(one, three), 9) is None
    assert "correlate by 0.00" in found(result(one, two, kind="amounts"), 9)[0]
    assert found(result(one, 2 + 3 * three, kind="amounts"), 9) is None
    assert found(result(one), 9) is None


def test_words_for_bags_far_from_training(plain):
    assert found(plain, 10) is None
    says = _10_far_from_training.says(2, 30, "pH", 71.0, 4.0, 9.0)
    assert says.startswith("2 of 30 bags hold values far outside")
    assert "'pH' (71, where training had 4 to 9)" in says


def test_a_broken_check_takes_nothing_away(plain, monkeypatch):
    def broken(result):
        raise RuntimeError("oh")

    monkeypatch.setattr(checks.all_checks()[4], "find", broken)
    (finding,) = [f for f in checks.run_checks(plain) if f.number == 4]
    assert finding.level == "note"
    assert "RuntimeError: oh" in finding.says
