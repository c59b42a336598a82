"""Processes that start at once, being forked from one that has imported everything."""

import multiprocessing
import os
import signal
import sys
import tempfile
from functools import cache

ROOMS = ("aggregate", "boosting", "classics", "cli", "comparison", "engines.dask", "margin")
PRELOADED = ["distributed", *(f"mixedbag.{room}" for room in (*ROOMS, "report", "sequence"))]


@cache
def forking():
    """The context of such processes; None where processes cannot be forked."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return None
    from multiprocessing import forkserver

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    forkserver.ensure_running()
    return context


class Started:
    """A command in a process of its own, spoken to as one of `subprocess.Popen` is.

    For tests of what becomes of a running command; how Python begins and ends is not tried here.
    """

    def __init__(self, *arguments, folder):
        self._told = tempfile.NamedTemporaryFile("r")  # noqa: SIM115
        given = (["mixedbag", *map(str, arguments)], folder, self._told.name)
        self._process = forking().Process(target=_run, args=given, daemon=True)
        self._process.start()
        self.pid = self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def poll(self):
        return self._process.exitcode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout):
        """Wait for its end: what it said on stdout is not kept, what it said on stderr is."""
        self._process.join(timeout)
        assert self.returncode is not None, f"more than {timeout} seconds"
        return "", self._told.read()


def _run(words, folder, told):
    from mixedbag.cli import main

    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # who starts the tests may ignore it
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(told, os.O_WRONLY), 2)
    sys.argv = words
    main()
