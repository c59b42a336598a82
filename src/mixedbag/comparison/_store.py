"""Where finished trials are kept, so that an interrupted comparison goes on where it stopped."""

import hashlib
import json
import re
from itertools import product
from pathlib import Path

import numpy as np

from mixedbag._files import sweep, written_whole
from mixedbag._version import __version__
from mixedbag.comparison._trials import Trial, blocks, settings, what_is_wrong

_ARRAYS = ("inner", "inner_instances", "outer", "instances")
_SLACK = 1 << 16  # bytes of a trial file besides its scores


class Memory:
    """Keeps trials for the life of the process."""

    def __init__(self):
        self._trials = {}

    def get(self, candidate, split, block=0):
        return self._trials.get((candidate.name, split.name, block))

    def put(self, candidate, split, trial, block=0):
        self._trials[candidate.name, split.name, block] = trial

    def recall(self, candidates):
        """Take up the trials of an earlier run; says what was wrong with some. Here: none."""
        return []


class Folder(Memory):
    """Keeps trials as files, one a trial, below a folder named after the data and the protocol.

    A file counts only for the same candidate with the same parameters and grid. Files are written
    beside their place and moved, so a crash or a full disk never leaves half a trial.
    """

    def __init__(self, folder, protocol):
        super().__init__()
        self.protocol = protocol
        self.folder = Path(folder) / fingerprint(protocol)[:16]
        self.folder.mkdir(parents=True, exist_ok=True)
        for other in Path(folder).iterdir():
            sweep(other)

    def recall(self, candidates):
        """Take up the trials that an earlier run left; what cannot be one is named and left."""
        notes = []
        for candidate in candidates:
            start, there_are = self.folder / _stem(candidate), range(len(blocks(candidate)))
            for split, block in product(self.protocol.splits, there_are):
                path = _path(start, split, block)
                if not path.exists():
                    continue
                try:
                    trial = self._read(path, candidate, split, block)
                    super().put(candidate, split, trial, block)
                except Exception as error:  # whatever bytes can do to a reader
                    reason = str(error) or type(error).__name__
                    notes.append(f"{path.name} is no finished trial and is done again: {reason}")
        return notes

    def put(self, candidate, split, trial, block=0):
        facts = {k: v for k, v in vars(trial).items() if k not in _ARRAYS}
        arrays = {name: getattr(trial, name) for name in _ARRAYS}
        with written_whole(self.path(candidate, split, block)) as file:
            np.savez(file, facts=json.dumps(facts), **arrays)
        super().put(candidate, split, trial, block)

    def path(self, candidate, split, block=0):
        """Where the trial of a candidate on a split with a block of settings is kept."""
        return _path(self.folder / _stem(candidate), split, block)

    def _read(self, path, candidate, split, block):
        with open(path, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            # Sizes first: a small file can unpack to more than there is memory.
            n_rows = len(self.protocol.bags) + self.protocol.bags.n_instances
            limit = 8 * max(self.protocol.question.widths) * n_rows + _SLACK
            if sum(member.file_size for member in file.zip.infolist()) > limit:
                raise ValueError("it is too large")
            facts = json.loads(str(file["facts"]))
            facts["setting"] = _own_setting(candidate, facts["setting"])
            trial = Trial(**facts, **{name: file[name] for name in _ARRAYS})
        wrong = what_is_wrong(trial, self.protocol, candidate, split, block)
        if wrong:
            raise ValueError(wrong)
        return trial


def _stem(candidate):
    """How the names of a candidate's files begin: other parameters or grids give another."""
    # Not the repr, which scikit-learn shortens.
    text = f"{candidate.estimator.get_params()} {sorted(candidate.grid.items())}"
    text += f" {candidate.max_bags}" if candidate.max_bags else ""
    digest = hashlib.sha256(re.sub(r"\s+", " ", text).encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '-', candidate.name.lower())}-{digest}"


def _path(start, split, block):
    return start.with_name(f"{start.name}-{split.name}-{block}.npz")


def _own_setting(candidate, setting):
    """The setting of the grid that was written down: a file knows lists, a grid may hold tuples."""
    written = json.dumps(setting, sort_keys=True)
    return next(
        (s for s in settings(candidate) if json.dumps(s, sort_keys=True) == written), setting
    )


def fingerprint(protocol):
    """A name for the data and how it is cut: other data, labels or folds give another."""
    digest = hashlib.sha256()
    X = protocol.bags.instances
    parts = [X] if not protocol.bags.is_sparse else [X.data, X.indices, X.indptr]
    for part in (*parts, protocol.bags.offsets, *(s.train for s in protocol.splits)):
        digest.update(np.ascontiguousarray(part).data)
    digest.update(repr(np.asarray(protocol.question.targets).tolist()).encode())
    if protocol.groups is not None:
        digest.update(repr(protocol.groups.tolist()).encode())
    weight = protocol.question.weight
    if (weight != 1.0).any():
        digest.update(weight.data)
    question = protocol.question
    facts = [question.rule, question.measure.chosen_by, protocol.inner_folds]
    facts += [protocol.random_state, __version__]
    digest.update(json.dumps(facts).encode())
    return digest.hexdigest()
