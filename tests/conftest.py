"""Data tests run when the benchmark data is there; a kernel is compiled once for all workers."""

import hashlib
import os
from contextlib import contextmanager

import pytest


def pytest_configure(config):
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


def pytest_collection_modifyitems(items):
    if os.environ.get("MIXEDBAG_DATA"):
        return
    skip = pytest.mark.skip(reason="MIXEDBAG_DATA is not set")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)
