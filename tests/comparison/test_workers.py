"""Trials in processes of their own: crashes, errors and time limits are rows, not the end."""

import os
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from mixedbag import compare
from mixedbag.comparison import _compare
from mixedbag.comparison._candidates import Candidate
from mixedbag.datasets import make_any
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
        return super().fit(X, y, sample_weight)


@pytest.fixture
def with_trouble(monkeypatch):
    """`compare` meets a learner in trouble besides a healthy one."""

    def install(tol):
        def find(rule, bags, names, random_state):
            healthy = Pipeline([("learner", SpreadLabels(LogisticRegression()))])
            ill = Pipeline([("learner", SpreadLabels(Troublesome(tol=tol)))])
            return [Candidate("healthy", healthy), Candidate("ill", ill)], {}

        monkeypatch.setattr(_compare, "find_candidates", find)

    return install


@pytest.mark.parametrize(
    ("tol", "n_jobs", "budget", "status", "message"),
    [
        (1, None, None, "error", "RuntimeError: this learner is broken"),
        (1, 1, None, "error", "RuntimeError: this learner is broken"),
        (2, 1, None, "crash", "killed by signal 6"),
        (3, 1, 150.0, "stopped", "took too much of the time budget"),
    ],
)
def test_trouble_is_a_row(with_trouble, monkeypatch, tol, n_jobs, budget, status, message):
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    with_trouble(tol)
    data = make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)
    result = compare(data.bags, data.y, folds=2, inner_folds=2, n_jobs=n_jobs, time_budget=budget)
    rows = {row.name: row for row in result.leaderboard()}
    assert rows["healthy"].status == "done"
    assert rows["ill"].status == status
    assert message in rows["ill"].note
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
    assert all(row.folds == 0 for row in result.leaderboard())
    assert result.model is None
    assert result.out_of_fold() is None
    assert "nothing finished" in repr(result)
    result = compare(data.bags, data.y, learners=learners[:1], folds=3, time_budget=60)
    assert replace(result.chosen(), mean=0.0).status == "done"
    assert result.model is not None
