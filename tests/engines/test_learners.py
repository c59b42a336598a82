"""Learners on a cluster: the model of a local fit, whatever happens to the workers."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from mixedbag import Bags
from mixedbag.aggregate import (
    AggregateRBFClassifier,
    AggregateRBFRegressor,
    AggregateSVC,
    AggregateSVR,
)
from mixedbag.bags import bag_labels
from mixedbag.boosting import ExpRegBoost, ISRBoost
from mixedbag.classics import CitationKNN, MILogisticRegression
from mixedbag.engines import ClusterLostError
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC
from mixedbag.sequence import ARHMMClassifier

distributed = pytest.importorskip("distributed")
NAMES = ["f0", "f1", "f2"]
DistributedBags = pytest.importorskip("mixedbag.engines.dask").DistributedBags


@pytest.fixture
def placed(client, write, table, tmp_path):
    return DistributedBags.from_parquet(
        write(tmp_path, *table, [90, 203]), "mol", "active", client=client
    )


@pytest.fixture
def local(table):
    return Bags.from_groups(*table[:2], feature_names=NAMES), bag_labels(table[2], table[1])


@pytest.mark.parametrize("learner", [ExpRegBoost(n_rounds=4), ISRBoost(n_rounds=4)])
def test_the_model_is_that_of_a_local_fit(learner, placed, local):
    bags, y = local
    here = learner.fit(bags, y).decision_function_instances(bags)
    there = learner.fit(placed).decision_function_instances(bags)
    np.testing.assert_allclose(there, here, rtol=1e-10, atol=1e-10)
    assert learner.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize(
    "learner",
    [
        MILogisticRegression(),
        ARHMMClassifier(n_states=2, order=1, max_iter=3, n_init=1, random_state=0),
    ],
)
def test_smooth_learners_agree_to_rounding(learner, placed, local):
    bags, y = local
    here = learner.fit(bags, y).decision_function(bags)
    there = learner.fit(placed).decision_function(bags)
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("learner", "tol"),
    [
        (BagMarginSVC(kernel="linear", tol=1e-10), 1e-6),
        (BagMarginSVC(kernel="linear", tol=1e-10, loss="squared_hinge"), 1e-9),
        (InstanceMarginSVC(kernel="linear", tol=1e-10, loss="squared_hinge"), 1e-9),
    ],
)
def test_maximum_margins(learner, tol, placed, local):
    bags, y = local
    here = learner.fit(bags, y).decision_function(bags)
    there = learner.fit(placed).decision_function(bags)
    np.testing.assert_allclose(there, here, rtol=tol, atol=tol)


def test_totals_and_counts(client, write, table, tmp_path):
    rows, groups, _ = table
    total = np.repeat(rows[:, 0].reshape(60, 5).sum(axis=1), 5)
    count = np.repeat((rows[:, 0] > 0.5).reshape(60, 5).sum(axis=1), 5)
    bags = Bags.from_groups(rows, groups, feature_names=NAMES)
    for learner, labels in (
        (AggregateRBFRegressor(random_state=0), total),
        (AggregateSVR(), total + 0.3 * count),
        (AggregateSVR(C=10.0, epsilon=0.5, aggregate="mean"), total + 0.3 * count),
        (AggregateRBFClassifier(random_state=0), count),
    ):
        folder = write(tmp_path, rows, groups, labels, [90, 203])
        placed = DistributedBags.from_parquet(folder, "mol", "active", client=client)
        here = learner.fit(bags, bag_labels(labels, groups)).predict(bags)
        np.testing.assert_allclose(learner.fit(placed).predict(bags), here, rtol=1e-8, atol=1e-8)
    machine = AggregateSVC().fit(placed)  # too few rows for the same search as in one place
    assert np.mean(machine.predict_instances(bags) == (rows[:, 0] > 0.5)) > 0.9


def test_early_stopping_holds_out_bags_of_every_block(placed, local):
    learner = ExpRegBoost(n_rounds=15, early_stopping=True, n_iter_no_change=3, random_state=0)
    learner.fit(placed)
    assert learner.score(*local) > 0.7
    here = clone(learner).fit(*local)
    np.testing.assert_allclose(learner.validation_loss_, here.validation_loss_)


def test_more_than_two_classes(client, write, table, tmp_path):
    rows, groups, _ = table
    labels = np.repeat(np.arange(60) % 3, 5)
    rows = rows + labels[:, None]
    folder = write(tmp_path, rows, groups, labels, [150])
    placed = DistributedBags.from_parquet(folder, "mol", "active", client=client)
    bags = Bags.from_groups(rows, groups, feature_names=NAMES)
    learner = ExpRegBoost(n_rounds=3)
    here = learner.fit(bags, bag_labels(labels, groups)).decision_function(bags)
    np.testing.assert_allclose(learner.fit(placed).decision_function(bags), here, atol=1e-10)


def test_learners_that_need_everything_in_one_place_say_so(placed):
    with pytest.raises(TypeError, match=r"CitationKNN .* cannot learn on a cluster"):
        CitationKNN().fit(placed)
    for learner, wish in (
        (BagMarginSVC(), "kernel='linear'"),
        (BagMarginSVC(kernel="linear", update="asynchronous"), "update='synchronous'"),
        (InstanceMarginSVC(kernel="linear", n_init=2), "n_init=1"),
        (AggregateSVR(kernel="rbf"), "kernel='linear'"),
        (AggregateSVC(method="exact"), "method='alternating'"),
    ):
        with pytest.raises(ValueError, match=f"needs all bags in one place.*learns with {wish}"):
            learner.fit(placed)
    with pytest.raises(ValueError, match="leave out estimator"):
        ExpRegBoost(estimator=DecisionTreeClassifier()).fit(placed)


def test_labels_are_not_given_twice(placed):
    with pytest.raises(ValueError, match="carry their own labels"):
        ExpRegBoost().fit(placed, [0, 1])


def test_missing_values_name_the_bag(client, write, table, tmp_path):
    rows, groups, labels = table
    rows[7, 1] = np.inf
    placed = DistributedBags.from_parquet(
        write(tmp_path, rows, groups, labels, [100]), "mol", "active", client=client
    )
    with pytest.raises(ValueError, match=r"instance 2 of bag 1 \(id 'm1'\) has infinity"):
        ExpRegBoost().fit(placed)


class Saboteur:
    """A callback that calls `strike` after some rounds."""

    def __init__(self, after, strike):
        self.left, self.strike = after, strike

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.left -= 1
        if self.left == 0:
            self.strike()

    def teardown(self, estimator, context):
        pass


@pytest.mark.parametrize(
    ("learner", "after", "tol"),
    [
        (ExpRegBoost(n_rounds=6), 3, 1e-10),
        (BagMarginSVC(kernel="linear", tol=1e-10, loss="squared_hinge"), 1, 1e-9),
    ],
)
def test_a_killed_worker_changes_nothing(learner, after, tol, client, placed, local):
    bags, y = local
    here = clone(learner).fit(bags, y).decision_function(bags)
    victim = next(iter(client.run(os.getpid).values()))
    learner = clone(learner)
    learner.set_callbacks(Saboteur(after, lambda: os.kill(victim, signal.SIGKILL)))
    there = learner.fit(placed).decision_function(bags)
    np.testing.assert_allclose(there, here, rtol=tol, atol=tol)
    assert victim not in client.run(os.getpid).values()


def test_a_lost_cluster_leaves_the_model_so_far(
    local_cluster, write, table, tmp_path, local, monkeypatch
):
    monkeypatch.setattr("mixedbag.engines.dask.PATIENCE", 3.0)
    bags, y = local
    cluster = local_cluster(1)
    with distributed.Client(cluster) as client:
        placed = DistributedBags.from_parquet(
            write(tmp_path, *table, []), "mol", "active", client=client
        )
        learner = ExpRegBoost(n_rounds=10)
        learner.set_callbacks(Saboteur(4, cluster.close))
        start = time.monotonic()
        with pytest.raises(ClusterLostError, match="the cluster is gone") as caught:
            learner.fit(placed)
        assert time.monotonic() - start < 60
    model = caught.value.model
    assert model.n_iter_ == 4
    early = ExpRegBoost(n_rounds=4).fit(bags, y)
    np.testing.assert_allclose(model.decision_function(bags), early.decision_function(bags))
    assert not hasattr(learner, "ensemble_")  # the failed fit itself left nothing behind


def test_the_client_never_sees_the_instances(client, write, tmp_path):
    """What crosses to the client in a fit does not grow with the number of instances."""
    traffic = []
    for n_bags in (200, 1600):
        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(n_bags) % 2, 5)
        rows = np.round(rng.normal(size=(len(labels), 3)) + labels[:, None], 1)
        folder = tmp_path / str(n_bags)
        folder.mkdir()
        write(folder, rows, np.repeat(np.arange(n_bags), 5), labels, [len(rows) // 2])
        placed = DistributedBags.from_parquet(folder, "mol", "active", client=client)
        answers = []
        original = type(placed.blocks)._answer

        def weigh(blocks, future, original=original, answers=answers):
            result = original(blocks, future)
            answers.append(len(distributed.protocol.serialize(result)[1][0]))
            return result

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(placed.blocks), "_answer", weigh)
            ExpRegBoost(n_rounds=1).fit(placed)
        traffic.append(sum(sorted(answers)[:-2]))  # all but the bounded sample for the grid
    assert traffic[1] < 1.5 * traffic[0]


def test_no_thread_is_left_behind(placed):
    before = threading.active_count()
    ExpRegBoost(n_rounds=2).fit(placed)
    assert threading.active_count() <= before + 1
