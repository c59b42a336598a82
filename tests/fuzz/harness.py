"""Runs targets in processes of their own, and counts what becomes of every case.

A worker gets batches, each a target, a seed and which of its cases to run. Before every case it
notes the case's number in a file that outlives it, so that a crash or a hang is charged to the case
that caused it, and the rest of the batch goes on in a new process.
"""

import importlib
import itertools
import json
import mmap
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

BATCH = 400  # cases of one seed
PATIENCE = 90.0  # seconds a case may take: HDF5 files have 60 of their own
MEMORY = 6 * 2**30  # bytes of address space of a worker
GOOD = ("accepted", "refused", "answered", "loaded", "kept", "done again")


@dataclass
class Failure:
    target: str
    case: str
    kind: str  # crash, hang, exception, or the outcome that is none of `GOOD`
    detail: str
    content: bytes = b""

    def __str__(self):
        return f"{self.target} {self.case}: {self.kind}: {self.detail}"


@dataclass
class Tally:
    """Outcomes by target, and every case that failed."""

    outcomes: Counter = field(default_factory=Counter)  # (target, outcome) -> cases
    failures: list = field(default_factory=list)

    @property
    def cases(self):
        return sum(self.outcomes.values())

    def fail(self, failure):
        self.failures.append(failure)
        self.outcomes[failure.target, failure.kind] += 1

    def __str__(self):
        kinds = sorted({kind for _, kind in self.outcomes} - set(GOOD))
        good = [kind for kind in GOOD if any(found == kind for _, found in self.outcomes)]
        head = ("target", "inputs", *good, *kinds)
        rows = [head]
        for target in sorted({target for target, _ in self.outcomes}):
            counts = [self.outcomes[target, kind] for kind in (*good, *kinds)]
            rows.append((target, sum(counts), *counts))
        rows.append(("all", *(sum(row[k] for row in rows[1:]) for k in range(1, len(head)))))
        return "\n".join(f"{r[0]:20}" + "".join(f"{c!s:>12}" for c in r[1:]) for r in rows)


def fuzz(targets, until, n_cases=None, first_seed=0, keep=None, patience=PATIENCE, batch=BATCH):
    """Run batches of the targets in turn until `until()` says so or `n_cases` are done.

    `targets` maps the name of a module to its share of turns. Inputs that fail are written to the
    folder `keep`. A case of more than `patience` seconds hangs. A batch has cases of one seed.
    """
    tally = Tally()
    turns = [name for name, share in targets.items() for _ in range(share)]
    with _Worker(patience) as worker:
        for turn in itertools.count():
            if until() or (n_cases and tally.cases >= n_cases):
                break
            worker.batch(turns[turn % len(turns)], first_seed + turn, batch, tally)
    if keep is not None:
        for number, failure in enumerate(tally.failures):
            Path(keep).mkdir(parents=True, exist_ok=True)
            name = f"{failure.target.rpartition('.')[2]}-{failure.case}-{number}"
            (Path(keep) / name.replace("/", "_")).write_bytes(failure.content)
    return tally


class _Worker:
    """A process that runs cases; started again whenever one of them ends it."""

    def __init__(self, patience):
        self.patience = patience
        self.process = None

    def __enter__(self):
        self.note = tempfile.NamedTemporaryFile()
        self.note.write(bytes(8))
        self.note.flush()
        self.at = mmap.mmap(self.note.fileno(), 8)
        return self

    def __exit__(self, *_):
        self._stop()
        self.note.close()

    def batch(self, target, seed, n_cases, tally):
        """Run a batch, over as many processes as it takes."""
        pending = [(0, n_cases)]
        while pending:
            start, stop = pending.pop()
            request = {"target": target, "seed": seed, "start": start, "stop": stop}
            answer, how = self._ask(request)
            if answer is None:
                at = int.from_bytes(self.at[:8], "little")
                case, content, *_ = next(_cases(target, seed, at, at + 1))
                tally.fail(Failure(target, case, *how, content))
                # What the lost process found before is lost with it, so that part is run again.
                pending += [(at + 1, stop), (start, at)]
                continue
            for outcome, count in answer["outcomes"].items():
                tally.outcomes[target, outcome] += count
            for failure in answer["failures"]:
                failure["content"] = bytes.fromhex(failure["content"])
                tally.fail(Failure(target, **failure))

    def _ask(self, request):
        """The worker's answer, or None and how it ended."""
        if self.process is None:
            self._start()
        self.at[:8] = bytes(8)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        last, since = -1, time.monotonic()
        while True:
            ready = self._readable()
            if ready:
                line = self.process.stdout.readline()
                if line:
                    return json.loads(line), None
                code = self.process.wait()
                self._stop()
                return None, ("crash", f"the process ended with {code}")
            now = int.from_bytes(self.at[:8], "little")
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > self.patience:
                self._stop()
                return None, ("hang", f"more than {self.patience:g} seconds")

    def _readable(self):
        return select.select([self.process.stdout], [], [], 1.0)[0]

    def _start(self):
        command = [sys.executable, "-m", "tests.fuzz.harness", self.note.name]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment()
        )
        self.process.stdout.readline()  # it is there: how long that took is no case's fault

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None


def _environment():
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _cases(target, seed, start, stop):
    return itertools.islice(importlib.import_module(target).cases(seed), start, stop)


# In the worker ------------------------------------------------------------------------------------


def work(note):
    """Answer requests, one a line, until there are no more."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers, sys.stdout = sys.stdout, sys.stderr
    answers.write("ready\n")
    answers.flush()
    with open(note, "r+b") as file, mmap.mmap(file.fileno(), 8) as at:
        for line in sys.stdin:
            answers.write(json.dumps(_run_batch(json.loads(line), at)) + "\n")
            answers.flush()


def _run_batch(request, at):
    target = importlib.import_module(request["target"])
    outcomes, failures = Counter(), []
    cases = _cases(request["target"], request["seed"], request["start"], request["stop"])
    for k, (case, *given) in enumerate(cases, start=request["start"]):
        at[:8] = k.to_bytes(8, "little")
        try:
            outcome = target.run(*given)
            kind, _, detail = outcome.partition(": ")
        except Exception as error:
            kind, detail = "exception", f"{type(error).__name__}: {error}"
        if kind in GOOD:
            outcomes[kind] += 1
        else:
            failures.append(
                {"case": case, "kind": kind, "detail": detail[:300], "content": given[0].hex()}
            )
    return {"outcomes": outcomes, "failures": failures}


if __name__ == "__main__":
    work(sys.argv[1])
