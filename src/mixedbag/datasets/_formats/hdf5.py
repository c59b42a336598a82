"""HDF5 files with groups such as ``train`` and ``test``, each ``data`` and ``target`` (h5py)."""

import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from mixedbag.datasets.records import Table

_SECONDS = 60  # and one more for every 10 MB


def read_hdf5(source):
    if importlib.util.find_spec("h5py") is None:
        raise ImportError("HDF5 files need h5py: pip install 'mixedbag[hdf5]'")
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
    script = Path(__file__).with_name("hdf5_process.py")
    command = [sys.executable, "-P", str(script), str(source.binary_limit)]
    try:
        done = subprocess.run(
            command, input=content, capture_output=True, timeout=_SECONDS + len(content) / 1e7
        )
    except subprocess.TimeoutExpired as error:
        raise source.error("not a readable HDF5 file: its reading does not end") from error
    if done.returncode:
        raise source.error("not a readable HDF5 file: the HDF5 library broke down on it")
    answer = io.BytesIO(done.stdout)
    facts = json.loads(answer.readline())
    if "error" in facts:
        raise source.error(f"not an HDF5 file of data and target groups ({facts['error']})")
    return {
        name: tuple(np.load(answer, allow_pickle=False) for _ in range(2))
        for name in facts["groups"]
    }
