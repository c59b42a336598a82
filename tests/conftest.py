"""Data tests run when the benchmark data is there; a kernel is compiled once for all workers."""

import gc
import hashlib
import os
from contextlib import contextmanager

import pytest

from tests.started import forking


@pytest.hookimpl(optionalhook=True)  # there may be no xdist
def pytest_xdist_auto_num_workers():
    """One more than cores: now and then a test waits, for a process, a lock or a signal."""
    return 1 + (os.cpu_count() or 1)


def pytest_configure(config):
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # it hands tests to workers and runs none: no need to import anything for them
    gc.disable()  # until all is imported and collected: see pytest_collection_finish
    # News for users, not a fault of ours.
    told = "default::sklearn.exceptions.ConvergenceWarning"
    config.addinivalue_line("filterwarnings", told)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        folder = config.rootpath / ".pytest_cache" / "compiling"
        folder.mkdir(parents=True, exist_ok=True)
        compile_one_at_a_time(folder)


def compile_one_at_a_time(folder):
    """Let one worker compile a kernel while the others that want it wait, and then load it.

    Numba keeps compiled kernels on disk (``cache=True``), but two processes that need the same one
    at once both compile it.
    """
    from numba.core.dispatcher import Dispatcher

    compile_here = Dispatcher.compile

    def compile_or_load(self, signature):
        name = f"{self.py_func.__module__}.{self.py_func.__qualname__}{signature}"
        with locked(folder / hashlib.sha256(name.encode()).hexdigest()[:16]):
            return compile_here(self, signature)

    Dispatcher.compile = compile_or_load


@contextmanager
def locked(path):
    try:
        import fcntl
    except ImportError:  # Windows: kernels may be compiled twice
        yield
        return
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def pytest_collection_finish():
    """What is there before the first test stays: looking through it again and again costs a lot."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    if os.environ.get("MIXEDBAG_DATA"):
        return
    skip = pytest.mark.skip(reason="MIXEDBAG_DATA is not set")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def local_cluster():
    """Starts clusters on loopback: ``local_cluster(n_workers)``.

    Workers are forked from one process that has imported everything, so that they cost little to
    start and, where a test kills one, to replace.
    """
    distributed = pytest.importorskip("distributed")
    import dask

    def start(n_workers):
        return distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        )

    if forking() is None:
        yield start
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        yield start
