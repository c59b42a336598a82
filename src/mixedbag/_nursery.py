"""The process that all workers of a comparison are forked from, which may begin before the data.

It imports every learner, which takes seconds: a command that will compare begins it first of all,
and reads its table meanwhile. Nothing heavy is imported here.
"""

import atexit
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import Any

FORK, WAIT = b"f", b"w"  # what a nursery is asked for
NUMBER = struct.Struct("i")

_begun: list = []


def begin():
    """Start a nursery now, for whoever takes one next."""
    if not _begun:
        _begun.append(Nursery())


def taken():
    """The nursery that was begun, or a new one."""
    return _begun.pop() if _begun else Nursery()


@atexit.register
def _close():
    while _begun:
        _begun.pop().close()


class Nursery:
    """The process that all workers are forked from; they find everything imported and loaded.

    Each computes in one thread: sums of products round otherwise with another number of threads,
    and several wait for each other longer than small matrices take.
    """

    def __init__(self):
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._socket, theirs = socket.socketpair()
        # Modules are no garbage: looking for it among them makes imports slower.
        called = "import gc; gc.disable(); from mixedbag.comparison._workers import nurse; "
        called += f"nurse({theirs.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", called],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[theirs.fileno()],
            env=os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the parent, which decides what to keep
        )
        theirs.close()
        self._input: Any = self._process.stdin
        self._handing_over = threading.Thread()

    def hand_over(self, data):
        """Give it what every worker needs.

        In the background: it may be more than a pipe holds, and imports take a while.
        """
        self._handing_over = threading.Thread(target=self._write, args=(data,), daemon=True)
        self._handing_over.start()

    def _write(self, data):
        with suppress(BrokenPipeError, ValueError):
            self._input.write(data)
            self._input.flush()

    def fork(self, *files):
        """A new worker with these files as its input, output and errors; its process number."""
        socket.send_fds(self._socket, [FORK], [file.fileno() for file in files])
        return self._answer()

    def wait(self, pid):
        """How a worker that is over or about to be has ended."""
        self._socket.sendall(WAIT + NUMBER.pack(pid))
        return self._answer()

    def _answer(self):
        try:
            told = self._socket.recv(NUMBER.size, socket.MSG_WAITALL)
        except ConnectionError:
            told = b""
        if len(told) < NUMBER.size:
            raise RuntimeError(f"no worker can be started: {last_line(self._log)}")
        return NUMBER.unpack(told)[0]

    def close(self):
        self._process.kill()
        self._process.wait()
        if self._handing_over.ident is not None:
            self._handing_over.join()
        for one in (self._input, self._log, self._socket):
            with suppress(BrokenPipeError):
                one.close()


def last_line(log):
    """What a process wrote last."""
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
