"""Kill the command line with its workers, again and again, and count what was lost.

    python -m tests.fuzz.kills 60

A comparison is started, killed at a random moment by one signal after the other, and started again
in the same folder until it comes to its end; then the next one begins. Lost would be: a finished
trial that is gone, changed or done again; a worker that lives on; a leaderboard that was not left;
a half-written file that nobody sweeps; figures other than those of a run that nobody killed.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mixedbag.datasets import make_any

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
EXIT_CODES = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
_COMMAND = (
    *("compare", "table.csv", "--learners", "bag statistics + SVM,spread labels + logistic"),
    *("--folds", "4", "--jobs", "2", "--time-budget", "none", "--out", "out"),
)
_GRACE = 10.0  # seconds until nothing of a killed run may be alive


class Kill(NamedTuple):
    """One kill: the signal, how many trials were finished by then, what was wrong."""

    signal: str
    trials: int
    faults: list


def as_people_do(*arguments, folder):
    """Start the command line, and Python with it."""
    command = [sys.executable, "-c", "from mixedbag.cli import main; main()", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=folder, text=True, errors="replace", **pipes)


def kills(n_kills, seed=0, folder=None, start=as_people_do):
    """Kill runs `n_kills` times; a `Kill` each, the last of a run with the faults at its end.

    Parameters
    ----------
    n_kills : int
    seed : int
        Of the moments at which they come.
    folder : path, optional
        Where to work; by default a folder that is removed.
    start : callable
        Starts a command in a folder, as `as_people_do` does.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(folder or scratch)
        _write_table(folder / "table.csv")
        reference, seconds = _undisturbed(folder, start)
        rng = np.random.default_rng(seed)
        done, goes_on = [], False
        while len(done) < n_kills:
            if not goes_on:
                shutil.rmtree(folder / "out", ignore_errors=True)
            wait = float(rng.uniform(0.2, 1.1)) * seconds
            kill = _kill(start, folder, SIGNALS[len(done) % len(SIGNALS)], wait)
            goes_on = kill is not None
            if kill is not None:
                done.append(kill)
            else:
                _faults_at_the_end(folder, reference, done)
        start(*_COMMAND, folder=folder).communicate(timeout=600)
        _faults_at_the_end(folder, reference, done)
    return done


def _write_table(path):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["bag", "label", "x0", "x1", "x2"])
        for bag, values in zip(data.bags.bag_of, data.bags.instances.tolist()):
            writer.writerow([f"b{bag}", data.y[bag], *values])


def _undisturbed(folder, start):
    """The figures of a run that nobody kills, and its seconds."""
    began = time.monotonic()
    told, error = (running := start(*_COMMAND, folder=folder)).communicate(timeout=600)
    if running.returncode != 0:
        raise RuntimeError(told + error)
    return _figures(folder), time.monotonic() - began


def _figures(folder):
    """The leaderboard without its times."""
    with open(folder / "out" / "leaderboard.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def _kill(start, folder, number, wait):
    """Start a run, kill it after `wait` seconds; None when it came to its end before."""
    before = _trials(folder)
    running = start(*_COMMAND, folder=folder)
    deadline = time.monotonic() + wait
    while time.monotonic() < deadline and running.poll() is None:
        time.sleep(0.02)
    workers = _children(running.pid)
    if running.poll() is None:
        running.send_signal(number)
    _, error = running.communicate(timeout=120)
    faults = []
    if running.returncode == 0:
        return None
    name = signal.Signals(number).name
    if running.returncode not in (EXIT_CODES[number], -number):  # -n: before Python was ready
        last = error.strip().splitlines()[-1:]
        faults.append(f"exit code {running.returncode} after {name}: {last}")
    faults += _survivors(workers)
    after = _trials(folder)
    faults += [f"{path} was lost or changed" for path in before if after.get(path) != before[path]]
    if number != signal.SIGKILL and workers and after:
        faults += _leaderboard_faults(folder, len(after))
    return Kill(name, len(after), faults)


def _trials(folder):
    """Every trial file, with its contents and time."""
    files = folder.glob("out/folds/*/*.npz")
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def _leaderboard_faults(folder, n_trials):
    board = folder / "out" / "leaderboard.csv"
    if not board.exists():
        return ["no leaderboard was left"]
    counted = sum(int(row["folds"]) for row in _figures(folder) if row["kind"] == "learner")
    # What was finished ahead of its turn is kept, and counts when the run goes on.
    return [] if counted <= n_trials else [f"{counted} trials counted of {n_trials}"]


def _children(pid):
    """Processes that a process started, and those that they started."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        parents.setdefault(parent, []).append(status.parent)
    found, families = [], [pid]
    while families:
        for child in parents.get(families.pop(), []):
            found.append((int(child.name), _began(child)))
            families.append(int(child.name))
    return found


def _began(process):
    """When a process began, which tells it from a later one of the same number; None if over."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _survivors(workers):
    deadline = time.monotonic() + _GRACE
    alive = [w for w in workers if w[1] is not None]
    while alive and time.monotonic() < deadline:
        time.sleep(0.05)
        alive = [(pid, began) for pid, began in alive if _began(Path(f"/proc/{pid}")) == began]
    for pid, _ in alive:
        os.kill(pid, signal.SIGKILL)
    return [f"worker {pid} lived on" for pid, _ in alive]


def _faults_at_the_end(folder, reference, done):
    """After a run came to its end: its figures, and what lies about. Told with the last kill."""
    faults = [] if _figures(folder) == reference else ["the figures differ"]
    faults += [f"{path.name} lies about" for path in (folder / "out").rglob("*.part")]
    if done:
        done[-1].faults.extend(faults)
    elif faults:
        raise AssertionError(faults)


def main():
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    start = time.monotonic()
    done = kills(n_kills, seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    faults = [f"{k} ({kill.signal}): {f}" for k, kill in enumerate(done) for f in kill.faults]
    told = {
        "kills": len(done),
        "by signal": dict(Counter(kill.signal for kill in done)),
        "with trials finished": sum(kill.trials > 0 for kill in done),
        "faults": faults,
        "seconds": round(time.monotonic() - start),
    }
    print(json.dumps(told, indent=2))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
