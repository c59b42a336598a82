"""Who runs the trials: this process, or worker processes that can be stopped."""

import gc
import math
import os
import pickle
import queue
import selectors
import signal
import socket
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from mixedbag import _nursery
from mixedbag._nursery import FORK, NUMBER, WAIT, last_line
from mixedbag._on_disk import dumps
from mixedbag._once import Shelf, sharing
from mixedbag.comparison._candidates import for_bags
from mixedbag.comparison._trials import fit, run_trial, what_is_wrong
from mixedbag.exceptions import InputError
from mixedbag.learners import all_learners


class Final(NamedTuple):
    """A candidate with a setting, to be fitted on all bags."""

    candidate: Any
    setting: dict

    @property
    def key(self):
        return self.candidate.name, "all", 0


class Failure(NamedTuple):
    """Why a trial gave no result."""

    kind: str  # "error", "crash", "stopped" (it took too long) or "late" (all time is over)
    message: str


def attempt(protocol, unit, shelf=None):
    """The trial or the fitted model, or the failure: an error of one must not end the others.

    `shelf` has what earlier units made and this one may need again.
    """
    try:
        with warnings.catch_warnings(), sharing(Shelf() if shelf is None else shelf):
            # Of hundreds of fits some do not converge; the figures tell whether it matters.
            warnings.simplefilter("ignore")
            if isinstance(unit, Final):
                whole = protocol.whole
                sampled = protocol.larger is not None
                candidate = for_bags(unit.candidate, whole.bags) if sampled else unit.candidate
                return fit(whole, candidate, unit.setting, whole.everything.train)
            task = unit.candidate, unit.split, unit.block
            trial = run_trial(protocol, *task)
            wrong = what_is_wrong(trial, protocol, *task)
            return Failure("error", wrong) if wrong else trial
    except Exception as error:
        return Failure("error", f"{type(error).__name__}: {error}")


class InProcess:
    """Runs one trial at a time, here. A running trial cannot be stopped."""

    capacity = 1

    def __init__(self, protocol):
        self._protocol = protocol
        self._shelf = Shelf()
        self._unit = None

    def submit(self, unit):
        self._unit = unit

    def wait(self, seconds):
        return [(self._unit, attempt(self._protocol, self._unit, self._shelf))]

    def stop(self, key):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Workers:
    """Runs trials in processes of their own, stops those past their limit, survives their crashes.

    They are forked from one process that has imported all learners and has the data: a plain Python
    interpreter, in which no module of the caller is imported, so scripts need no
    ``if __name__ == "__main__"``. Everybody talks over pipes and ends when the caller does.
    """

    def __init__(self, protocol, n_jobs):
        if not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
            raise InputError(f"n_jobs must be at least 1, or -1 for all cores; got {n_jobs!r}")
        self.capacity = n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
        self._idle, self._busy = [], {}
        self._selector = selectors.DefaultSelector()
        self._protocol, self._nursery = protocol, None

    def submit(self, unit):
        worker = self._idle.pop() if self._idle else self._new_worker()
        self._busy[worker] = unit
        self._selector.register(worker.output, selectors.EVENT_READ, worker)
        worker.send(unit)

    def _new_worker(self):
        if self._nursery is None:  # with all trials kept, the final models still need it
            self._nursery = _nursery.taken()
            self._nursery.hand_over(dumps(self._protocol))
        return _Worker(self._nursery)

    def wait(self, seconds):
        """Wait some seconds for units to end; those that did, with their outcomes."""
        timeout = None if seconds == math.inf else max(0.0, seconds)
        ready = [key.data for key, _ in self._selector.select(timeout)]
        return [self._collect(worker) for worker in ready]

    def stop(self, key):
        """End a unit that is running, and the process it is in; whether there was one."""
        for worker in [w for w, unit in self._busy.items() if unit.key == key]:
            self._release(worker)
            worker.kill()
            return True
        return False

    def _collect(self, worker):
        unit = self._release(worker)
        try:
            outcome = worker.receive()
        except (EOFError, pickle.UnpicklingError):
            failure = Failure("crash", worker.last_words())
            worker.kill()
            return unit, failure
        self._idle.append(worker)
        return unit, outcome

    def _release(self, worker):
        self._selector.unregister(worker.output)
        return self._busy.pop(worker)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in (*self._idle, *self._busy):
            worker.kill()
        if self._nursery is not None:
            self._nursery.close()
        self._selector.close()


class _Worker:
    """A forked process that receives units and sends outcomes back."""

    def __init__(self, nursery):
        self._nursery = nursery
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        (source, self._input), (self.output, answers) = (
            [os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"))] for _ in range(2)
        )
        self._pid = nursery.fork(source, answers, self._log)
        self._code = None
        source.close()
        answers.close()

    def send(self, unit):
        with suppress(BrokenPipeError):  # it died; reading its answer will tell
            pickle.dump(unit, self._input)
            self._input.flush()

    def receive(self):
        return pickle.load(self.output)

    def last_words(self):
        """The end of what a dead process wrote, for the message."""
        code, line = self._wait(), last_line(self._log)
        ended = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"the process ended ({ended})" + (f": {line}" if line else "")

    def kill(self):
        if self._code is None:
            os.kill(self._pid, signal.SIGKILL)
            self._wait()
        for pipe in (self._input, self.output, self._log):
            with suppress(BrokenPipeError):
                pipe.close()

    def _wait(self):
        # Once only: the number may be another process's afterwards.
        self._code = self._nursery.wait(self._pid) if self._code is None else self._code
        return self._code


def nurse(number):
    """The life of the nursery: a protocol, then forks, until nobody asks any more."""
    asked = socket.socket(fileno=number)
    all_learners(broken={})
    protocol = pickle.load(sys.stdin.buffer)
    gc.freeze()  # workers share what is there, and look for garbage only in what they make
    while True:
        told, files, *_ = socket.recv_fds(asked, 1, 3)
        if told == FORK:
            pid = os.fork()
            if pid == 0:
                asked.close()
                gc.enable()
                _become_worker(protocol, files)
            for file in files:
                os.close(file)
            asked.sendall(NUMBER.pack(pid))
        elif told == WAIT:
            (pid,) = NUMBER.unpack(asked.recv(NUMBER.size, socket.MSG_WAITALL))
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            asked.sendall(NUMBER.pack(code))
        else:
            os._exit(0)


def _become_worker(protocol, files):
    """Never returns: what was forked must not go on as the nursery."""
    try:
        for place, file in enumerate(files):
            os.dup2(file, place)
            os.close(file)
        serve(protocol)
    finally:
        os._exit(1)


def serve(protocol):
    """The life of a worker: units, until the pipe closes.

    The pipe is watched while a unit runs: however the parent ends, its workers end with it.
    """
    # What learners print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    units: queue.SimpleQueue = queue.SimpleQueue()
    source = os.fdopen(0, "rb", closefd=False)
    threading.Thread(target=_receive, args=(source, units), daemon=True).start()
    shelf = Shelf()
    while True:
        outcome = attempt(protocol, units.get(), shelf)
        pickle.dump(outcome, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _receive(source, units):
    """Pass units on; end the process, whatever it does, when there is nobody to send them."""
    while True:
        try:
            units.put(pickle.load(source))
        except BaseException:
            os._exit(0)
