"""HDF5 files, read by another process (h5py): tables of groups, or arrays of one bag."""

import importlib.util
import io
import json
import math
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from mixedbag.datasets._formats.stored import Stored
from mixedbag.datasets.records import Table

_SCRIPT = Path(__file__).with_name("hdf5_process.py")
_SECONDS = 60  # and one more for every 10 MB


def read_hdf5(source):
    """Groups such as ``train`` and ``test``, each ``data`` and ``target``, as one table."""
    _require_h5py()
    parts = _arrays(source)
    if not parts:
        raise source.error("the file has no groups")
    for name, (data, target) in parts.items():
        if data.ndim != 2 or target.ndim != 1 or len(data) != len(target) or not data.size:
            raise source.error(
                f"group {name!r}: data of shape {data.shape}, target of shape {target.shape}"
            )
        if data.dtype.kind == "b" or not (np.isfinite(data).all() and np.isfinite(target).all()):
            raise source.error(f"group {name!r}: data holds values that are not finite numbers")
    if len({data.shape[1] for data, _ in parts.values()}) > 1:
        raise source.error("the groups have different numbers of features")
    X = np.concatenate([data for data, _ in parts.values()])
    return Table(
        X if X.dtype in (np.float32, np.float64) else X.astype(np.float64),
        np.concatenate([target for _, target in parts.values()]),
        split=np.repeat(list(parts), [len(target) for _, target in parts.values()]),
    )


def _arrays(source):
    """Data and target of every group, read by another process that a damaged file may end."""
    content = source.content
    command = [sys.executable, "-P", str(_SCRIPT), str(source.binary_limit)]
    try:
        done = subprocess.run(
            command, input=content, capture_output=True, timeout=_SECONDS + len(content) / 1e7
        )
    except subprocess.TimeoutExpired as error:
        raise source.error("not a readable HDF5 file: its reading does not end") from error
    if done.returncode:
        raise _broken_down(source)
    answer = io.BytesIO(done.stdout)
    facts = json.loads(answer.readline())
    if "error" in facts:
        raise source.error(f"not an HDF5 file of data and target groups ({facts['error']})")
    return {
        name: tuple(np.load(answer, allow_pickle=False) for _ in range(2))
        for name in facts["groups"]
    }


class Hdf5Arrays:
    """Reads the arrays of many files, by one process, which is started when it is needed."""

    def __init__(self) -> None:
        _require_h5py()
        self._process: subprocess.Popen | None = None

    def __call__(self, source):
        """The arrays of numbers at the top of a file by name."""
        with self._asked(source) as (facts, _):
            shapes = facts["arrays"]
        for name, (shape, kind) in shapes.items():
            if math.prod(shape) * np.dtype(kind).itemsize > source.binary_limit:
                raise source.error(
                    f"array {name!r} of shape {shape}: implausible for the file's size"
                )
        return {
            name: Stored(tuple(shape), np.dtype(kind), lambda name=name: self._load(source, name))
            for name, (shape, kind) in shapes.items()
        }

    def _load(self, source, name):
        stored = self(source)[name]
        array = np.empty(stored.shape, stored.dtype)
        with self._asked(source, name=name) as (facts, stream):
            fits = facts["bytes"] == array.nbytes
            filled = stream.readinto(array.reshape(-1).view(np.uint8).data) if fits else -1
        if filled != array.nbytes:
            self.close()
            raise _broken_down(source)
        return array

    @contextmanager
    def _asked(self, source, **more):
        """The answer to one question, and the stream that it comes from; in bounded time."""
        question = {"path": os.path.abspath(source.path), "allowed": source.binary_limit, **more}
        process = self._started()
        clock = threading.Timer(_SECONDS + os.path.getsize(source.path) / 1e7, process.kill)
        clock.start()
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line.endswith(b"\n"):
                raise _broken_down(source)
            facts = json.loads(line)
            if "error" in facts:
                raise source.error(f"not a readable HDF5 file ({facts['error']})")
            yield facts, process.stdout
        except BrokenPipeError as error:
            raise _broken_down(source) from error
        finally:
            clock.cancel()

    def _started(self):
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            command = [sys.executable, "-P", str(_SCRIPT)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, start_new_session=True
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _require_h5py():
    if importlib.util.find_spec("h5py") is None:
        raise ImportError("HDF5 files need h5py: pip install 'mixedbag[hdf5]'")


def _broken_down(source):
    return source.error("not a readable HDF5 file: the HDF5 library broke down on it")
