"""Trials on an existing Dask cluster: the same sequence, the same outcomes, more hands."""

import threading
import time
from contextlib import suppress

import numpy as np

from mixedbag._once import Shelf
from mixedbag._threads import one_thread
from mixedbag.comparison._workers import Failure, attempt
from mixedbag.engines import ClusterLostError
from mixedbag.exceptions import InputError

_CONNECTING = 10.0  # seconds
_PATIENCE = 30.0  # seconds without any worker before the cluster counts as lost
_TRIES = 3  # times that a unit may be lost with the data it needs
_LOOK = 1.0  # seconds between two looks at who is there


class Cluster:
    """Runs trials on the workers of a cluster, as many at a time as they have threads.

    A worker that dies costs the trial it was at: another worker does it again. Only a trial that
    keeps killing workers has crashed. A trial past its limit is no longer waited for; its worker is
    free again when it ends. Workers need the same versions of everything as the caller.

    Parameters
    ----------
    protocol : Protocol
        Sent to every worker once.
    client : distributed.Client or str
        A client, which stays open, or the address of a scheduler.
    """

    def __init__(self, protocol, client):
        self._protocol = protocol
        self._client, self._is_mine = _connected(client)
        self._data = self._scattered()
        self._units = {}  # futures to units
        self._lost = {}  # keys to how often they were lost
        self._lonely_since = None
        self._n_threads = self._count_threads()

    @property
    def capacity(self):
        return max(1, self._n_threads)

    def submit(self, unit):
        future = self._client.submit(_attempt, self._data, unit, pure=False)
        self._units[future] = unit

    def wait(self, seconds):
        """Wait some seconds for units to end; those that did, with their outcomes."""
        from distributed import CancelledError, wait

        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            with suppress(TimeoutError, CancelledError), self._client.as_current():
                patience = float(np.clip(left, 0.01, _LOOK))
                wait(list(self._units), timeout=patience, return_when="FIRST_COMPLETED")
            ready = [future for future in self._units if future.done()]
            ended = [outcome for future in ready if (outcome := self._collect(future))]
            self._look()
            if ended or left <= 0:
                return ended

    def stop(self, key):
        """Wait no longer for a unit; whether it was running."""
        for future in [f for f, unit in self._units.items() if unit.key == key]:
            del self._units[future]
            future.cancel()
            return True
        return False

    def _collect(self, future):
        """The unit and its outcome, or None where it is done again."""
        unit = self._units.pop(future)
        if future.status == "finished":
            return unit, future.result()
        if future.status == "error":
            error = future.exception()
            return unit, Failure("crash", f"workers of the cluster ended: {error}")
        # Cancelled: the data went with the workers that had them.
        self._lost[unit.key] = self._lost.get(unit.key, 0) + 1
        if self._lost[unit.key] >= _TRIES:
            return unit, Failure("crash", "the cluster lost it several times")
        self._data = self._scattered()
        self.submit(unit)
        return None

    def _look(self):
        """Who is there; without anybody for a while there is nothing to wait for."""
        self._n_threads = self._count_threads()
        if self._n_threads:
            self._lonely_since = None
            return
        self._lonely_since = self._lonely_since or time.monotonic()
        if time.monotonic() - self._lonely_since > _PATIENCE:
            raise ClusterLostError("the cluster is gone or lost all its workers")

    def _count_threads(self):
        try:
            return sum(self._client.nthreads().values())
        except (OSError, RuntimeError, TimeoutError):
            return 0

    def _scattered(self):
        try:
            return self._client.scatter(_Bench(self._protocol), broadcast=True, hash=False)
        except TimeoutError as error:
            raise InputError("the cluster has no workers") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for future in self._units:
            future.cancel()
        self._data = None
        if self._is_mine:
            self._client.close()


class _Bench:
    """The data on a worker, and for each of its threads a shelf of what earlier units made."""

    def __init__(self, protocol):
        self.protocol = protocol
        self._of_thread = threading.local()

    def __reduce__(self):
        return _Bench, (self.protocol,)

    @property
    def shelf(self):
        if not hasattr(self._of_thread, "shelf"):
            self._of_thread.shelf = Shelf()
        return self._of_thread.shelf


def _attempt(bench, unit):
    with one_thread():  # as everywhere else, so that all round alike
        return attempt(bench.protocol, unit, bench.shelf)


def _connected(client):
    """The client, and whether it must be closed here."""
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("a cluster needs Dask: install mixedbag[dask]") from error
    if not isinstance(client, str):
        return client, False
    try:
        return Client(client, timeout=_CONNECTING, set_as_default=False), True
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"no cluster answers at {client!r}: {error}") from error
