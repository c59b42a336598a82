"""Clocks, folds, pictures and rivals that several benchmarks need."""

import multiprocessing
import os
import resource
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

WEKA = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))  # Debian's "weka", 3.6


def timed(call, repeat=1):
    """The result of `call()` and the median seconds of `repeat` runs."""
    result, seconds = _clocked(call, repeat, time.perf_counter)
    return result, statistics.median(seconds)


def cpu_timed(call, repeat=1):
    """The result of `call()` and its fewest CPU seconds: other work on the machine only adds."""
    result, seconds = _clocked(call, repeat, time.process_time)
    return result, min(seconds)


def within(limit, call, *arguments):
    """What a call gives in a process of its own, or None if that takes more core-seconds."""
    fork = multiprocessing.get_context("fork")
    answers, sent = fork.Pipe(duplex=False)

    def child():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 60))
        sent.send(call(*arguments))

    process = fork.Process(target=child)
    process.start()
    sent.close()
    answer = None
    with suppress(EOFError):  # it has ended without an answer
        answer = answers.recv()
    process.join()
    if process.exitcode not in (0, -signal.SIGXCPU):
        raise RuntimeError(f"the process ended with code {process.exitcode}")
    return answer


def _clocked(call, repeat, clock):
    seconds = []
    for _ in range(repeat):
        start = clock()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = call()
        seconds.append(clock() - start)
    return result, seconds


@contextmanager
def picture(path, *shape, **settings):
    """A figure and its axes, saved at the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(*shape, **{"layout": "constrained"} | settings)
    yield figure, axes
    figure.savefig(path, dpi=90)
    plt.close(figure)


def weka(arguments, limit=None):
    """What Weka prints and its CPU seconds; None without Weka, or when the limit is over."""
    if not (WEKA.exists() and shutil.which("java")):
        return None
    command = ["java", "-Xmx4g", "-cp", str(WEKA), *map(str, arguments)]
    before = sum(os.times()[2:4])
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=True, timeout=limit
            )
        except subprocess.TimeoutExpired:
            return None
    return done.stdout, sum(os.times()[2:4]) - before


@contextmanager
def relational_arff(bags, y):
    """A file of the bags, as Weka's multi-instance classes read them."""
    lines = ["@relation bags", f"@attribute id {{{','.join(f'b{i}' for i in range(len(bags)))}}}"]
    lines += ["@attribute bag relational"]
    lines += [f"@attribute f{j} numeric" for j in range(bags.n_features)]
    lines += ["@end bag", "@attribute class {0,1}", "@data"]
    for i, bag in enumerate(bags):
        cells = "\\n".join(",".join(f"{x:.6g}" for x in row) for row in bag)
        lines.append(f'b{i},"{cells}",{y[i]}')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bags.arff"
        path.write_text("\n".join(lines) + "\n")
        yield path
