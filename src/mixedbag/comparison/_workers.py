"""Who runs the trials: this process, or worker processes that can be stopped."""

import math
import os
import pickle
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from mixedbag.comparison._trials import run_trial, what_is_wrong
from mixedbag.exceptions import InputError


class Job(NamedTuple):
    """A trial to run.

    It has `allowance` seconds for trying settings; it is stopped after `patience` seconds, or at
    the time `end` of the clock.
    """

    candidate: Any
    split: Any
    allowance: float | None = None
    patience: float = math.inf
    end: float = math.inf


class Failure(NamedTuple):
    """Why a trial gave no result."""

    kind: str  # "error", "crash", "stopped" (it took too long) or "late" (all time is over)
    message: str


def attempt(protocol, job):
    """The trial, or the failure it ended in: an error of one learner must not end the others."""
    try:
        with warnings.catch_warnings():
            # Of hundreds of fits some do not converge; the figures tell whether it matters.
            warnings.simplefilter("ignore")
            trial = run_trial(protocol, job.candidate, job.split, job.allowance)
            wrong = what_is_wrong(trial, protocol, job.candidate, job.split)
            return Failure("error", wrong) if wrong else trial
    except Exception as error:
        return Failure("error", f"{type(error).__name__}: {error}")


class InProcess:
    """Runs one trial at a time, here. A running trial cannot be stopped."""

    capacity = 1

    def __init__(self, protocol):
        self._protocol = protocol
        self._job = None

    def submit(self, job):
        self._job = job

    def wait(self):
        return [(self._job, attempt(self._protocol, self._job))]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Workers:
    """Runs trials in processes of their own, stops those past their limit, survives their crashes.

    The processes are plain Python interpreters that talk over pipes: no module of the caller is
    imported in them, so scripts need no ``if __name__ == "__main__"``.
    """

    def __init__(self, protocol, n_jobs):
        if not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
            raise InputError(f"n_jobs must be at least 1, or -1 for all cores; got {n_jobs!r}")
        self.capacity = n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
        self._protocol = pickle.dumps(protocol, protocol=pickle.HIGHEST_PROTOCOL)
        self._idle, self._busy, self._limits = [], {}, {}
        self._selector = selectors.DefaultSelector()

    def _start(self):
        return _Worker(self._protocol, max(1, (os.cpu_count() or 1) // self.capacity))

    def submit(self, job):
        # All that will be needed start together: each takes seconds to import its modules.
        missing = self.capacity - len(self._idle) - len(self._busy)
        self._idle += [self._start() for _ in range(missing)]
        worker = self._idle.pop()
        worker.wait_until_ready()
        self._busy[worker] = job
        self._limits[worker] = min(job.end, time.monotonic() + job.patience)
        self._selector.register(worker.output, selectors.EVENT_READ, worker)
        worker.send(job)

    def wait(self):
        """Wait until trials end, by themselves or at their limit; the jobs and their outcomes."""
        limit = min(self._limits.values())
        timeout = None if limit == math.inf else max(0.0, limit - time.monotonic())
        ready = [key.data for key, _ in self._selector.select(timeout)]
        outcomes = [self._collect(worker) for worker in ready]
        late = [w for w, limit in self._limits.items() if limit <= time.monotonic()]
        return outcomes + [self._stop(worker) for worker in late]

    def _collect(self, worker):
        job = self._release(worker)
        try:
            outcome = worker.receive()
        except (EOFError, pickle.UnpicklingError):
            return job, Failure("crash", worker.last_words())
        self._idle.append(worker)
        return job, outcome

    def _stop(self, worker):
        job = self._release(worker)
        worker.kill()
        if time.monotonic() >= job.end:
            return job, Failure("late", "a trial was stopped at the end of the time budget")
        return job, Failure("stopped", "a trial was stopped: it took too much of the time budget")

    def _release(self, worker):
        self._selector.unregister(worker.output)
        del self._limits[worker]
        return self._busy.pop(worker)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._selector.close()


class _Worker:
    """A Python process that receives a protocol, then jobs, and sends outcomes back."""

    def __init__(self, protocol, n_threads):
        threads = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(n_threads)
        )
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from mixedbag.comparison._workers import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the parent, which decides what to keep
        )
        self.output = self._process.stdout
        self._protocol = protocol

    def wait_until_ready(self):
        """Hand over the protocol once the process is there to take it."""
        if self._protocol is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(self._protocol)
                self._process.stdin.flush()
            self.output.read(1)
            self._protocol = None

    def send(self, job):
        with suppress(BrokenPipeError):  # it died; reading its answer will tell
            pickle.dump(job, self._process.stdin)
            self._process.stdin.flush()

    def receive(self):
        return pickle.load(self.output)

    def last_words(self):
        """The end of what a dead process wrote, for the message."""
        code = self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        ended = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"the process ended ({ended})" + (f": {lines[-1]}" if lines else "")

    def kill(self):
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            with suppress(BrokenPipeError):
                pipe.close()


def serve():
    """The life of a worker process: a protocol, then jobs until the pipe closes.

    The pipe is watched while a job runs: however the parent ends, its workers end with it.
    """
    source = sys.stdin.buffer
    # What learners print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    protocol = pickle.load(source)
    jobs = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(source, jobs), daemon=True).start()
    answers.write(b".")  # ready: from here on, time is the trial's own
    answers.flush()
    while True:
        pickle.dump(attempt(protocol, jobs.get()), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _receive(source, jobs):
    """Pass jobs on; end the process, whatever it does, when there is nobody to send them."""
    while True:
        try:
            jobs.put(pickle.load(source))
        except BaseException:
            os._exit(0)
