"""Work decides, not seconds: the same amount of it gives the same result, whatever the load."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from mixedbag import compare
from mixedbag.comparison import (
    _afterwards,
    _compare,
    _protocol,
    _schedule,
    _sequence,
    _workers,
)
from mixedbag.comparison._candidates import (
    Candidate,
    digestible,
    find_candidates,
    seconds_of_fit,
    too_dear,
)
from mixedbag.comparison._counted import taught
from mixedbag.comparison._effort import Known, Law, known
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._sequence import Work, affordable_folds, read_work, sequence
from mixedbag.comparison._trials import blocks
from mixedbag.datasets import make_any, make_count, make_sum
from mixedbag.exceptions import InputError
from mixedbag.wrappers import SpreadLabels

LEARNERS = ["bag statistics + SVM", "spread labels + logistic", "MILogisticRegression"]
SETTINGS = {"learners": LEARNERS, "folds": 2, "inner_folds": 2}


@pytest.fixture(scope="module")
def data():
    return make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)


@pytest.fixture(scope="module")
def whole(data):
    return compare(data.bags, data.y, **SETTINGS)


def outcome(result):
    """Everything that must be the same: figures without times, answers and the model's."""
    board = [
        {k: v for k, v in row.as_dict().items() if k != "seconds"} for row in result.leaderboard()
    ]
    answers = result.out_of_fold()
    return board, answers.bags, answers.instances, result.model.predict_proba(result.bags)


def assert_same(one, other):
    (board, *arrays), (their_board, *their_arrays) = outcome(one), outcome(other)
    assert board == their_board
    assert all(map(np.array_equal, arrays, their_arrays))


# The sequence -------------------------------------------------------------------------------------


def protocol_of(data, **settings):
    _, protocol = make_protocol(data.bags, data.y, **settings)
    return protocol, find_candidates("any", data.bags)[0]


def test_every_learner_meets_every_fold_with_every_setting_once(data):
    protocol, candidates = protocol_of(data, folds=3)
    units = sequence(candidates, protocol)
    wanted = {
        (c.name, split.name, block)
        for c in candidates
        for split in protocol.splits
        for block in range(len(blocks(c)))
    }
    assert {unit.key for unit in units} == wanted
    assert len(units) == len(wanted)
    places = {}
    for unit in units:  # a learner's blocks come in their order
        assert places.get(unit.candidate.name, 0) <= unit.block
        places[unit.candidate.name] = unit.block
    for k in range(0, len(units), 3):  # and a block goes through all folds
        assert len({(u.candidate.name, u.block) for u in units[k : k + 3]}) == 1


def test_the_order_knows_no_alphabet_and_no_place(data):
    protocol, candidates = protocol_of(data)
    renamed = list(reversed(candidates))
    keys, again = ([u.key for u in sequence(c, protocol)] for c in (candidates, renamed))
    assert keys == again
    fewer = [c for c in candidates if c.name != candidates[0].name]
    first = sequence(candidates, protocol)[0].candidate.name
    kept = [key for key in keys if key[0] != candidates[0].name]
    if first != candidates[0].name:  # without a learner, the others keep their order
        assert [u.key for u in sequence(fewer, protocol)] == kept


def test_what_promises_more_for_its_cost_comes_first(data):
    protocol, _ = protocol_of(data)
    slow, quick = Law(0, 5.0, 0, 0, 0), Law(0, -8.0, 0, 0, 0)
    made = {
        "slow and good": Known(0.9, slow),
        "slow": Known(0.5, slow),
        "quick and bad": Known(0.1, quick),
        "quick": Known(0.8, quick),
        "as good, and slower": Known(0.81, Law(0, -4.0, 0, 0, 0)),
    }
    candidates = [Candidate(name, None, {}, effort) for name, effort in made.items()]
    order = list(dict.fromkeys(u.candidate.name for u in sequence_of(candidates, protocol)))
    assert order[0] == "quick"
    assert order.index("slow and good") < order.index("slow")


@pytest.mark.parametrize("shape", [(20, 6, 5), (140, 6, 11), (60, 1, 40), (24, 90, 60)])
@pytest.mark.parametrize(
    ("rule", "make"), [("any", make_any), ("count", make_count), ("sum", make_sum)]
)
def test_who_begins_is_quick_by_the_table_and_steady(shape, rule, make):
    n_bags, size, n_features = shape
    data = make(n_bags=n_bags, size=size, n_features=n_features, random_state=0)
    _, protocol = make_protocol(data.bags, data.y, rule)
    candidates, _ = find_candidates(rule, data.bags, y=data.y)
    units = sequence(candidates, protocol)
    first, seconds, merits = units[0].candidate.name, {}, {}
    assert units[0].candidate.effort.longer <= _sequence._STEADY
    for unit in units:
        name = unit.candidate.name
        if unit.block == 0 and unit.candidate.effort.longer <= _sequence._STEADY:
            seconds[name] = seconds.get(name, 0.0) + unit.seconds
            merits[name] = unit.candidate.effort.merit
    assert seconds[first] <= 3.0  # twice that, and the imports, are within ten seconds
    worth = {name: merits[name] ** 2 / (3.0 + s) for name, s in seconds.items() if s <= 3.0}
    assert worth[first] == pytest.approx(max(worth.values()), rel=1e-5)


def test_a_learner_whose_time_hangs_on_the_labels_does_not_begin(data):
    protocol, _ = protocol_of(data)
    made = {
        "restless": Known(0.9, Law(0, -9.0, 0, 0, 0), 8.0),
        "quick": Known(0.5, Law(0, -5.0, 0, 0, 0), 1.2),
        "slow": Known(0.6, Law(0, 1.0, 0, 0, 0)),
        "slower": Known(0.7, Law(0, 2.0, 0, 0, 0)),
    }

    def first(*names):
        candidates = [Candidate(name, None, {}, made[name]) for name in names]
        return sequence_of(candidates, protocol)[0].candidate.name

    assert first(*made) == "quick"
    assert first("restless") == "restless"
    assert first("restless", "slow", "slower") == "slow"  # where none is quick, the quickest


def test_a_learner_that_nobody_measured_does_not_begin(data):
    protocol, candidates = protocol_of(data)
    unknown = replace(candidates[0], effort=known("any", "nobody's")._replace(merit=1.0))
    units = sequence([unknown, *candidates[1:]], protocol)
    assert units[0].candidate.name != unknown.name


def test_the_yardstick_is_second_on_every_board(data):
    protocol, candidates = protocol_of(data)
    units = sequence(candidates, protocol)
    order = list(dict.fromkeys(u.candidate.name for u in units if u.block == 0))
    assert order.index("bag statistics + extra trees") == 1
    without = [c for c in candidates if c.name != "bag statistics + extra trees"]
    assert order[:1] + order[2:] == list(
        dict.fromkeys(u.candidate.name for u in sequence(without, protocol) if u.block == 0)
    )


def sequence_of(candidates, protocol):
    estimator = Pipeline([("learner", SpreadLabels(LogisticRegression()))])
    return sequence([Candidate(c.name, estimator, {}, c.effort) for c in candidates], protocol)


def test_short_time_means_fewer_folds_for_all(data):
    protocol, candidates = protocol_of(data, folds=10)
    assert affordable_folds(candidates, protocol, 1e6) == 10
    assert affordable_folds(candidates, protocol, 1e-6) == 3
    result = compare(data.bags, data.y, learners=LEARNERS[:1], time_budget=1e-3)
    assert len(result.splits) == 3
    assert "3 folds for all, not 10" in result.notes[0]


def test_short_time_means_a_sample_of_the_bags_where_there_are_many(monkeypatch):
    many = make_any(n_bags=90, size=(1, 3), n_features=3, random_state=0)
    monkeypatch.setattr(_sequence, "_ENOUGH", 20)
    monkeypatch.setattr(_protocol, "_RARE", 8)
    quick = {"learners": LEARNERS[:1], "inner_folds": 2}
    result = compare(many.bags, many.y, time_budget=1e-3, folds=2, **quick)
    assert len(result.bags) == 22
    assert "compared on 22 of 90 bags" in result.notes[0]
    assert result.model.origin.n_bags == 90
    assert _afterwards._growth(result)(result.candidates[0]) >= 90 / 22
    again = compare(many.bags, many.y, work=str(result.work), max_bags=22, folds=2, **quick)
    assert_same(again, result)
    # The setting was chosen on the sample; the model has learned from all.
    (candidate,), taken = result.candidates, result.protocol.taken
    setting = result.final_fits()[0][1]
    model = candidate.estimator.set_params(**setting).fit(many.bags, many.y)
    (member,) = result.model.members
    assert np.array_equal(member.decision_function(many.bags), model.decision_function(many.bags))
    assert np.array_equal(result.y, many.y[taken])


def test_a_sample_has_enough_of_a_rare_class():
    many = make_any(n_bags=1000, size=1, n_features=2, random_state=0)
    y = (np.arange(1000) < 100).astype(int)
    _, protocol = make_protocol(many.bags, y, "any")
    some = protocol.on_sample(20)
    assert (len(some.bags), some.question.codes.sum()) == (500, 50)
    assert some.on_sample(2000).larger is None
    assert some.on_sample(700).whole is protocol
    assert np.array_equal(some.y, y[some.taken])
    _, sums = make_protocol(many.bags, many.bags.instances[:, 0], "sum")
    assert len(sums.on_sample(20).bags) == 20


def test_who_takes_far_longer_than_a_stack_of_better_ones_is_left_out(data):
    quick, slow = Law(0, -8.0, 0, 0, 0), Law(0, 5.0, 0, 0, 0)
    better = [Candidate(f"better {k}", None, {}, Known(0.8, quick)) for k in range(5)]
    dear = Candidate("dear", None, {}, Known(0.7, slow))
    best = Candidate("slow and best", None, {}, Known(0.9, slow))
    assert list(too_dear([*better, dear, best], data.bags)) == ["dear"]
    assert not too_dear([*better[1:], dear, best], data.bags)
    assert "dear" in too_dear([dear, *better], data.bags)  # whatever the order


def test_who_cannot_finish_does_not_begin_and_the_others_do(data, monkeypatch):
    real = _schedule.sequence

    def with_a_long_one(candidates, protocol):
        units = real(candidates, protocol)
        name = list(dict.fromkeys(u.candidate.name for u in units))[1]
        return [u._replace(seconds=1e6) if u.candidate.name == name else u for u in units]

    monkeypatch.setattr(_schedule, "sequence", with_a_long_one)
    result = compare(data.bags, data.y, time_budget=1000.0, **SETTINGS)
    (name,) = result.failures
    assert "left out before it began" in result.failures[name].message
    assert len(result.finished()) == len(LEARNERS) - 1
    assert name in str(result.work)
    again = compare(data.bags, data.y, work=str(result.work), **SETTINGS)
    assert all(map(np.array_equal, outcome(again)[1:], outcome(result)[1:]))


def test_who_may_still_be_compiling_does_not_tell_the_pace():
    schedule = object.__new__(_schedule.Schedule)
    schedule._n_workers = 2
    schedule._paces = {"compiling": [9.0]}
    assert schedule._pace() == 9.0  # nobody else tells
    schedule._paces["compiled"] = [8.0, 8.5, 0.5]
    assert schedule._pace() == schedule._pace("compiled") == 0.5
    assert schedule._pace("compiling") == 9.0


def test_folds_that_may_have_compiled_kernels_promise_no_more_than_the_table():
    schedule = object.__new__(_schedule.Schedule)
    schedule._n_workers, schedule._end = 2, 0.0
    schedule._paces = {"compiling": [90.0, 90.0], "compiled": [1.0, 1.0, 1.0]}
    seconds = [9.0, 9.0]
    schedule._plan = SimpleNamespace(splits=range(5))
    schedule._store = SimpleNamespace(
        get=lambda _, fold, __: (
            SimpleNamespace(seconds=seconds[fold]) if fold < len(seconds) else None
        )
    )
    unit = SimpleNamespace(candidate=SimpleNamespace(name="compiling"), block=0, seconds=0.1)
    assert schedule._expected(unit) == pytest.approx(0.1)
    seconds += [2.0, 2.0, 2.0]  # more than there are workers: now its own folds tell
    assert schedule._expected(unit) == 2.0


def test_time_for_the_report_is_kept_free_within_the_budget(data, monkeypatch):
    monkeypatch.setattr(_schedule, "seconds_of_report", lambda *_: 1e6)
    monkeypatch.setattr(_schedule, "_MOST_KEPT", 1.0)
    settings = SETTINGS | {"time_budget": 1000.0}
    short = compare(data.bags, data.y, reported=True, **settings)
    assert len(short.finished()) == 1  # the first learner always gets through
    assert len(compare(data.bags, data.y, **settings).finished()) == len(LEARNERS)


def test_what_comes_later_grows_with_the_data_and_shrinks_with_workers(whole):
    large = SimpleNamespace(
        bags=make_any(n_bags=300, size=10, random_state=0).bags,
        splits=whole.splits,
        protocol=whole.protocol,
        finalists=whole.finalists,
        trials=whole.trials,
    )
    assert _afterwards.seconds_of_report(large) > _afterwards.seconds_of_report(whole)
    assert _afterwards.seconds_of_report(whole, 2.0) > _afterwards.seconds_of_report(whole, 1.0)
    one, two = (_afterwards.seconds_of_models(whole, n) for n in (1, 2))
    assert 0 < two <= one


def test_more_classes_are_expected_to_take_longer():
    expected = []
    for n_classes in (2, 4, 10):
        data = make_count(n_bags=60, n_classes=n_classes, random_state=0)
        (candidate,), _ = find_candidates("count", data.bags, ["AggregateSVC"], y=data.y)
        expected.append(seconds_of_fit(candidate, data.bags))
    law = known("count", "AggregateSVC").law
    steps = np.diff(np.log(np.array(expected) - law.overhead))
    np.testing.assert_allclose(steps, law.classes * np.log([3.0, 3.0]))


def test_large_data_are_sampled_or_left_out(data):
    assert digestible(Law(0, -9.0, 1.0, 0, 0), data.bags) is None
    n = digestible(Law(0, -2.5, 1.2, 0, 0), make_any(n_bags=400, size=2, random_state=0).bags)
    assert n == 200
    assert digestible(Law(0, 9.0, 1.0, 0, 0), data.bags) == 0
    protocol, _ = protocol_of(data)
    rows = np.arange(30)
    some = protocol.sample(rows, 10)
    assert len(some) == 10
    assert np.bincount(data.y[some]).tolist() == [5, 5]
    assert np.array_equal(some, protocol.sample(rows, 10))
    assert protocol.sample(rows) is rows


# The result ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_units", "n_jobs"), [(2, None), (5, 2)])
def test_work_is_replayed_bit_for_bit(data, whole, n_units, n_jobs, tmp_path):
    here = compare(data.bags, data.y, work=n_units, **SETTINGS)
    assert str(here.work) == str(n_units)
    assert here.left_undone()
    there = compare(data.bags, data.y, work=str(here.work), n_jobs=n_jobs, **SETTINGS)
    assert_same(here, there)
    # A longer run goes on from it, and equals one that was long from the start.
    compare(data.bags, data.y, work=n_units, folder=tmp_path, **SETTINGS)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.npz")}
    assert len(before) == n_units
    longer = compare(data.bags, data.y, folder=tmp_path, **SETTINGS)
    assert_same(longer, whole)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    # And a shorter one counts no more than it asks for, though more is there.
    assert_same(compare(data.bags, data.y, work=n_units, folder=tmp_path, **SETTINGS), here)


def test_load_changes_nothing(data, whole, monkeypatch):
    """Units that take their time in another order, on more workers than one."""

    class Loaded(_workers.InProcess):
        """Takes three at a time and gives back the last first, late."""

        capacity = 3

        def __init__(self, protocol):
            super().__init__(protocol)
            self._queue = []

        def submit(self, unit):
            self._queue.append(unit)

        def wait(self, seconds):
            time.sleep(0.01)
            unit = self._queue.pop()
            return [(unit, _workers.attempt(self._protocol, unit))]

    monkeypatch.setattr(_compare, "InProcess", Loaded)
    assert_same(compare(data.bags, data.y, **SETTINGS), whole)
    cut = compare(data.bags, data.y, work=3, **SETTINGS)
    monkeypatch.undo()
    assert_same(compare(data.bags, data.y, work=3, **SETTINGS), cut)


def test_the_clock_only_cuts(data, monkeypatch):
    """Whatever a slow machine finishes in time, its work replays without a clock."""
    clock = SimpleNamespace(now=0.0)

    def slowly(protocol, unit, shelf, attempt=_workers.attempt):
        clock.now += 1.0
        return attempt(protocol, unit, shelf)

    monkeypatch.setattr(_workers, "attempt", slowly)
    monkeypatch.setattr(_schedule, "time", SimpleNamespace(monotonic=lambda: clock.now))
    settings = SETTINGS | {"learners": LEARNERS[:2]}
    cut = compare(data.bags, data.y, time_budget=7.0, began=0.0, **settings)
    monkeypatch.undo()
    assert clock.now <= 7 + 3
    assert 2 <= cut.work.n_units < cut.progress.n_units
    assert_same(compare(data.bags, data.y, work=str(cut.work), **settings), cut)


def on_a_clock(data, monkeypatch, lengths, taken):
    """The work done where units should take the `lengths`, and take what is `taken` for them."""
    clock = SimpleNamespace(now=0.0)

    def slowly(protocol, unit, shelf, attempt=_workers.attempt):
        clock.now += taken(getattr(unit, "seconds", 0.0))
        return attempt(protocol, unit, shelf)

    def timed(*args, real=_schedule.sequence):
        return [unit._replace(seconds=length) for unit, length in zip(real(*args), lengths)]

    monkeypatch.setattr(_workers, "attempt", slowly)
    monkeypatch.setattr(_schedule, "sequence", timed)
    monkeypatch.setattr(_schedule, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return compare(data.bags, data.y, time_budget=6.5, began=0.0, **SETTINGS).work


@pytest.mark.parametrize(("pace", "n_units"), [(1.0, 8), (2.0, 4), (4.0, 2)])
def test_nobody_is_left_out_because_others_take_their_time_today(data, monkeypatch, pace, n_units):
    lengths = np.repeat([0.5, 1.0, 0.5, 0.25], 2)
    work = on_a_clock(data, monkeypatch, lengths, lambda seconds: pace * seconds)
    assert work == (n_units, ())


def test_what_a_trial_takes_besides_its_fits_is_no_slow_machine(data, monkeypatch):
    lengths = np.repeat([1e-4, 1.0, 0.5, 0.25], 2)
    assert on_a_clock(data, monkeypatch, lengths, lambda seconds: 0.02 + seconds) == (8, ())


def test_who_is_stopped_or_crashes_is_part_of_the_work(data, whole):
    name = whole.candidates[0].name
    result = compare(data.bags, data.y, work=f"999 without {name}", **SETTINGS)
    assert str(result.work) == f"{result.progress.n_units} without {name}"
    rows = {row.name: row for row in result.leaderboard()}
    assert (rows[name].status, rows[name].folds) == ("stopped", 0)
    others = compare(data.bags, data.y, **SETTINGS | {"learners": LEARNERS[1:]})
    assert np.array_equal(result.out_of_fold().bags, others.out_of_fold().bags)
    some = compare(data.bags, data.y, work=f"999 without {name}/1", **SETTINGS)
    assert {t.n_settings for t in some.trials(some.candidates[0]).values()} == {1}


def test_the_words_of_work(data):
    _, candidates = protocol_of(data)
    work = Work(7, (("EMDD", 0), ("MILES", 1)))
    assert str(work) == "7 without EMDD, MILES/1"
    assert read_work(str(work), candidates, 100) == work
    assert read_work(7, candidates, 5) == Work(5)
    for wrong in ("soon", "-1", True, "7 without", "7 without Nobody", "7 without EMDD/x"):
        with pytest.raises(InputError, match="work"):
            read_work(wrong, candidates, 100)


def test_what_folds_taught_is_the_evidence_of_one_setting_on_all_bags(whole):
    candidate, bags = whole.finished()[0], whole.bags
    found = [whole.trials(candidate)[split.name] for split in whole.splits]
    votes = [{"C": 1.0}, {"C": 9.0}, {"C": 1.0}]
    trials = [replace(t, setting=votes[i % 3], loss=1.0 + i) for i, t in enumerate(found)]
    trial = taught(whole.protocol, whole.splits, trials)
    assert trial.setting == {"C": 1.0}
    first = whole.splits[0]
    for split, own in zip(whole.splits, trials):
        rows = bags.rows_of(split.test)
        if own.setting == trial.setting:
            assert np.array_equal(trial.inner[split.test], own.outer)
            assert np.array_equal(trial.inner_instances[rows], own.instances.astype(np.float32))
        else:  # its scores may have another scale: asked is who learned with that setting
            inside = np.searchsorted(first.train, split.test)
            assert np.array_equal(trial.inner[split.test], trials[0].inner[inside])


def test_amounts_replay_too():
    data = make_sum(n_bags=24, random_state=0)
    settings = {"learners": ["ridge", "SVR"], "folds": 2, "inner_folds": 2, "work": 4}
    one, other = (compare(data.bags, data.y, n_jobs=n, **settings) for n in (None, 2))
    assert np.array_equal(one.out_of_fold().bags, other.out_of_fold().bags)
    assert np.array_equal(one.model.predict(data.bags), other.model.predict(data.bags))


class TwoHands(_workers.InProcess):
    """Holds two units at a time; the one begun first ends first."""

    capacity = 2

    def __init__(self, protocol):
        super().__init__(protocol)
        self.begun, self.waiting = [], []

    def submit(self, unit):
        self.begun.append(unit.key)
        self.waiting.append(unit)

    def wait(self, seconds):
        unit = self.waiting.pop(0)
        return [(unit, _workers.attempt(self._protocol, unit))]


@pytest.mark.parametrize("budget", [None, 1e5])
def test_without_a_clock_one_worker_meets_a_learner_first(data, monkeypatch, budget):
    hands = []
    monkeypatch.setattr(
        _compare, "InProcess", lambda protocol: hands.append(TwoHands(protocol)) or hands[0]
    )
    result = compare(data.bags, data.y, **SETTINGS, time_budget=budget)
    (first, *_), (second, *_) = hands[0].begun[:2]
    assert (first == second) == (budget is not None)  # a clock may cut what is ahead of its turn
    assert result.work.n_units == result.progress.n_units
    monkeypatch.undo()
    same = compare(data.bags, data.y, **SETTINGS, time_budget=budget)
    assert [row.mean for row in same.leaderboard()] == [row.mean for row in result.leaderboard()]
