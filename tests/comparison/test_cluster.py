"""Trials on a Dask cluster on loopback: the same result, and what dead workers cost."""

import os
import signal
import socket

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from mixedbag import compare
from mixedbag.comparison import _cluster
from mixedbag.comparison._cluster import Cluster
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._workers import Failure
from mixedbag.datasets import make_any
from mixedbag.exceptions import InputError
from tests.comparison.test_sequence import SETTINGS, assert_same

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(local_cluster):
    with local_cluster(2) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    return make_any(n_bags=30, size=(2, 4), n_features=3, random_state=0)


@pytest.fixture(scope="module")
def here(data):
    return compare(data.bags, data.y, **SETTINGS)


def test_a_cluster_finds_what_this_process_finds(data, here, cluster):
    there = compare(data.bags, data.y, client=cluster.scheduler_address, **SETTINGS)
    assert_same(here, there)
    assert there.work == here.work


def test_a_dead_worker_costs_its_trial_only(data, here, client):
    killed = []

    def kill_one(known):
        if known.running and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    there = compare(data.bags, data.y, client=client, watch=kill_one, **SETTINGS)
    assert killed
    assert not there.failures
    assert_same(here, there)


class Deadly:
    """A unit that ends every worker that looks at it."""

    key = "deadly", "0.0", 0

    @property
    def candidate(self):
        os._exit(1)


def test_what_kills_every_worker_has_crashed(data, client):
    _, protocol = make_protocol(data.bags, data.y)
    with Cluster(protocol, client) as workers:
        workers.submit(Deadly())
        ((unit, outcome),) = workers.wait(60)
        assert unit.key == Deadly.key
        assert isinstance(outcome, Failure)
        assert outcome.kind == "crash"
        assert not workers.stop(Deadly.key)


def test_nobody_at_an_address(monkeypatch):
    monkeypatch.setattr(_cluster, "_CONNECTING", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = make_any(n_bags=12, random_state=0)
    with pytest.raises(InputError, match="no cluster answers"):
        compare(data.bags, data.y, client=f"tcp://127.0.0.1:{port}", learners=["bag stat"])


def test_a_trial_takes_one_thread_of_its_worker(monkeypatch):
    seen = []

    def attempt(*_):
        seen.extend(library["num_threads"] for library in threadpool_info())

    monkeypatch.setattr(_cluster, "attempt", attempt)
    with threadpool_limits(limits=2):
        _cluster._attempt(_cluster._Bench(None), None)
    assert set(seen) == {1}
