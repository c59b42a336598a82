"""Trials in processes of their own: crashes, errors and time limits are rows, not the end."""

import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_info

from mixedbag import _nursery, compare
from mixedbag.comparison import _compare, _schedule
from mixedbag.comparison._candidates import Candidate
from mixedbag.datasets import make_any
from mixedbag.exceptions import InputError
from mixedbag.wrappers import SpreadLabels


class Troublesome(LogisticRegression):
    """Fails in the way that its tolerance names."""

    def fit(self, X, y, sample_weight=None):
        if self.tol == 1:
            raise RuntimeError("this learner is broken")
        if self.tol == 2:
            os.abort()
        if self.tol == 3:
            time.sleep(60)
        if self.tol == 5:
            pools = {pool["num_threads"] for pool in threadpool_info()}
            raise RuntimeError(f"threads: {pools}")
        return super().fit(X, y, sample_weight)

    def decision_function(self, X):
        scores = super().decision_function(X)
        return scores * np.inf if self.tol == 4 and len(X) > 30 else scores


@pytest.fixture
def with_trouble(monkeypatch):
    """`compare` meets learners in trouble besides a healthy one."""

    def install(*tols):
        def find(rule, bags, names, random_state, y, exposure):
            learners = {"healthy": LogisticRegression()}
            learners |= {f"ill {tol}": Troublesome(tol=tol) for tol in tols}
            return [
                Candidate(name, Pipeline([("learner", SpreadLabels(learner))]))
                for name, learner in learners.items()
            ], {}

        monkeypatch.setattr(_compare, "find_candidates", find)

    return install


def test_a_nursery_that_begins_early_is_the_one_that_is_taken():
    data = make_any(n_bags=20, size=(2, 4), n_features=3, random_state=0)
    quick = {"learners": ["spread labels + logistic"], "folds": 2, "inner_folds": 2}
    here = compare(data.bags, data.y, **quick)
    _nursery.begin()
    (early,) = _nursery._begun
    _nursery.begin()  # one is enough
    assert _nursery._begun == [early]
    there = compare(data.bags, data.y, n_jobs=1, **quick)
    assert _nursery._begun == []
    assert early._process.returncode is not None  # it ended with the comparison
    assert there.chosen().mean == here.chosen().mean
    assert np.array_equal(there.out_of_fold().bags, here.out_of_fold().bags)


def test_a_nursery_that_nobody_takes_ends_with_the_program():
    _nursery.begin()
    (early,) = _nursery._begun
    _nursery._close()
    assert early._process.returncode is not None
    assert _nursery._begun == []


def test_nothing_heavy_is_imported_before_a_nursery_begins():
    code = "import sys, mixedbag._nursery; print('sklearn' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"


TROUBLE = {
    1: ("error", "RuntimeError: this learner is broken"),
    2: ("crash", "killed by signal 6"),
    3: ("stopped", "took too much of the time budget"),
    5: ("error", "threads: {1}"),  # however many cores there are, and whatever the caller has
}


@pytest.mark.parametrize(
    ("tols", "n_jobs", "budget"), [((1,), None, None), ((1, 2, 5), 1, None), ((3,), 1, 150.0)]
)
def test_trouble_is_a_row(with_trouble, monkeypatch, tols, n_jobs, budget):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    # The healthy one, without which there is no answer, is waited for whatever it takes.
    monkeypatch.setattr(_schedule, "_PATIENCE", 0.1)
    monkeypatch.setattr(_schedule, "_SHARE", 0.0)
    with_trouble(*tols)
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    result = compare(data.bags, data.y, folds=2, inner_folds=2, n_jobs=n_jobs, time_budget=budget)
    rows = {row.name: row for row in result.leaderboard()}
    assert rows["healthy"].status == "done"
    for tol in tols:
        status, message = TROUBLE[tol]
        assert rows[f"ill {tol}"].status == status
        assert message in rows[f"ill {tol}"].note
    assert result.model is not None


def test_workers_and_this_process_agree():
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    settings = {"learners": ["spread labels + logistic"], "folds": 2, "inner_folds": 2}
    here = compare(data.bags, data.y, **settings)
    there = compare(data.bags, data.y, n_jobs=2, **settings)
    assert np.array_equal(here.out_of_fold().bags, there.out_of_fold().bags)


def test_finished_trials_are_taken_up_again(tmp_path):
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    settings = {"learners": ["spread labels + logistic"], "folds": 2, "inner_folds": 2}
    first = compare(data.bags, data.y, folder=tmp_path, **settings)
    seconds = [row.seconds for row in first.leaderboard()]
    again = compare(data.bags, data.y, folder=tmp_path, **settings)
    assert [row.seconds for row in again.leaderboard()] == seconds
    # Other labels are another question; a damaged file is no file.
    files = sorted(tmp_path.glob("*/*.npz"))
    compare(data.bags, data.y[::-1].copy(), folder=tmp_path, **settings)
    assert len(list(tmp_path.glob("*/*.npz"))) == 2 * len(files)
    files[0].write_bytes(b"not a trial")
    mended = compare(data.bags, data.y, folder=tmp_path, **settings)
    assert np.array_equal(mended.out_of_fold().bags, first.out_of_fold().bags)


def test_a_short_budget_gives_a_partial_answer_and_a_model():
    data = make_any(n_bags=40, size=(2, 4), n_features=3, random_state=0)
    learners = ["bag statistics + SVM", "spread labels + forest"]
    result = compare(data.bags, data.y, learners=learners, folds=3, time_budget=0.0)
    # Without time for anything, the first learner still goes through its folds.
    assert sorted(row.folds for row in result.leaderboard() if row.kind == "learner") == [0, 3]
    assert result.model is not None
    assert "never begun" in result.left_undone()
    result = compare(data.bags, data.y, learners=learners[:1], folds=3, time_budget=60)
    assert replace(result.chosen(), mean=0.0).status == "done"
    assert result.model is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_jobs": 0}, "n_jobs must be at least 1, or -1"),
        ({"n_jobs": 1.5}, "n_jobs must be"),
        ({"folds": 1}, "folds must be a whole number of at least 2; got 1"),
        ({"folds": 2.5}, "folds must be a whole number"),
        ({"repeats": 0}, "repeats must be"),
        ({"inner_folds": True}, "inner_folds must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"time_budget": -1.0}, "time_budget must be"),
        ({"time_budget": float("nan")}, "time_budget must be"),
        ({"learners": [" "]}, "the name of a learner is empty"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    data = make_any(n_bags=20, random_state=0)
    with pytest.raises(InputError, match=message):
        compare(data.bags, data.y, **settings)


def test_a_learner_without_finite_answers_is_a_row(with_trouble):
    with_trouble(4)
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    result = compare(data.bags, data.y, folds=2, inner_folds=2)
    row = next(row for row in result.leaderboard() if row.name == "ill 4")
    assert row.status == "error"
    assert "found no usable model" in row.note
    assert result.chosen().status == "done"


def test_what_is_wrong_with_a_kept_trial_is_said(tmp_path):
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    settings = {"learners": ["spread labels + logistic"], "folds": 2, "inner_folds": 2}
    first = compare(data.bags, data.y, folder=tmp_path, **settings)
    assert first.notes == []
    victim = min(tmp_path.glob("*/*-0.0-0.npz"))
    with np.load(victim) as file:
        parts = dict(file)
    np.savez(victim, **parts | {"outer": parts["outer"][:-1]})
    litter = victim.with_name(f".{victim.name}.{'0' * 32}.part")
    litter.write_bytes(b"half")
    mended = compare(data.bags, data.y, folder=tmp_path, **settings)
    (note,) = mended.notes
    assert note.startswith(f"{victim.name} is no finished trial and is done again: 'outer' has")
    assert np.array_equal(mended.out_of_fold().bags, first.out_of_fold().bags)
    assert compare(data.bags, data.y, folder=tmp_path, **settings).notes == []
    assert not litter.exists()


def test_a_result_is_read_not_changed():
    data = make_any(n_bags=24, size=(2, 4), n_features=3, random_state=0)
    seen = []
    settings = {"learners": ["spread labels + logistic"], "folds": 2, "inner_folds": 2}
    result = compare(data.bags, data.y, watch=seen.append, **settings)
    with pytest.raises(AttributeError):
        result.rule = "sum"
    with pytest.raises(TypeError):
        result.failures["somebody"] = "else"
    result.leaderboard().clear()
    assert result.leaderboard()
    # What a watcher was told stays as it was.
    rows = [[r for r in known.leaderboard() if r.kind == "learner"] for known in seen]
    counts = [row.folds for (row,) in rows]
    assert counts == sorted(counts)
    assert counts[0] == 0
