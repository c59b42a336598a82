"""Where finished trials are kept, so that an interrupted comparison goes on where it stopped."""

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from mixedbag._version import __version__
from mixedbag.comparison.trial import Trial

_ARRAYS = ("inner", "outer", "instances")


class Memory:
    """Keeps trials for the life of the process."""

    def __init__(self):
        self._trials = {}

    def get(self, candidate, split):
        return self._trials.get((candidate.name, split.name))

    def put(self, candidate, split, trial):
        self._trials[candidate.name, split.name] = trial

    def recall(self, candidates, splits):
        """There is nothing from an earlier run."""


class Folder(Memory):
    """Keeps trials as files, one a trial, below a folder named after the data and the protocol.

    A file counts only for the same candidate with the same parameters and grid. Files are written
    beside their place and moved, so a crash or a full disk never leaves half a trial.
    """

    def __init__(self, folder, protocol, splits):
        super().__init__()
        self.folder = Path(folder) / fingerprint(protocol, splits)[:16]
        self.folder.mkdir(parents=True, exist_ok=True)

    def recall(self, candidates, splits):
        """Take up the trials that an earlier run left; damaged files count as not there."""
        for candidate in candidates:
            for split in splits:
                with suppress(OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
                    super().put(candidate, split, self._read(self._path(candidate, split)))

    def put(self, candidate, split, trial):
        super().put(candidate, split, trial)
        facts = {k: v for k, v in vars(trial).items() if k not in _ARRAYS}
        arrays = {name: getattr(trial, name) for name in _ARRAYS}
        with written_whole(self._path(candidate, split)) as file:
            np.savez(file, facts=json.dumps(facts), **arrays)

    def _path(self, candidate, split):
        # Not the repr, which scikit-learn shortens.
        text = f"{candidate.estimator.get_params()} {sorted(candidate.grid.items())}"
        digest = hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()[:8]
        name = re.sub(r"[^a-z0-9]+", "-", candidate.name.lower())
        return self.folder / f"{name}-{digest}-{split.name}.npz"

    @staticmethod
    def _read(path):
        with np.load(path, allow_pickle=False) as file:
            facts = json.loads(str(file["facts"]))
            return Trial(**facts, **{name: file[name] for name in _ARRAYS})


def fingerprint(protocol, splits):
    """A name for the data and how it is cut: other data, labels or folds give another."""
    digest = hashlib.sha256()
    X = protocol.bags.instances
    parts = [X] if not protocol.bags.is_sparse else [X.data, X.indices, X.indptr]
    for part in (*parts, protocol.bags.offsets, *(s.train for s in splits)):
        digest.update(np.ascontiguousarray(part).data)
    digest.update(repr(np.asarray(protocol.y).tolist()).encode())
    if protocol.groups is not None:
        digest.update(repr(protocol.groups.tolist()).encode())
    weight = protocol.question.weight
    if (weight != 1.0).any():
        digest.update(weight.data)
    facts = [protocol.question.kind, protocol.inner_folds, protocol.random_state, __version__]
    digest.update(json.dumps(facts).encode())
    return digest.hexdigest()


class written_whole:
    """A binary file that is complete or not there: written beside its place, then moved."""

    def __init__(self, path):
        self.path = Path(path)

    def __enter__(self):
        self._draft = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._file = open(self._draft, "wb")
        return self._file

    def __exit__(self, kind, error, trace):
        try:
            self._file.close()
            if kind is None:
                os.replace(self._draft, self.path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(self._draft)
