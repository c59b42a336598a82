"""Damaged trial files: a resumed comparison must take them for what they are, and do them again.

A mutation breaks the file or keeps it a valid archive with wrong contents. The oracle is the trial
itself: what a resume takes up is the very same, or is named and done again.
"""

import io
import json
import tempfile
import zipfile
from functools import cache

import numpy as np

from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._store import Folder
from mixedbag.comparison._trials import run_trial
from mixedbag.datasets import make_any

N_BYTES = 40
LEARNER = "spread labels + logistic"


@cache
def _bench():
    """A protocol, a candidate, a split and their trial."""
    data = make_any(n_bags=20, size=(2, 4), n_features=3, random_state=0)
    _, protocol = make_protocol(data.bags, data.y, folds=2, inner_folds=2)
    (candidate,), _ = find_candidates("any", protocol.bags, [LEARNER])
    split = protocol.splits[0]
    return protocol, candidate, split, run_trial(protocol, candidate, split)


def valid():
    """The bytes of a sound trial file."""
    protocol, candidate, split, trial = _bench()
    with tempfile.TemporaryDirectory() as folder:
        store = Folder(folder, protocol)
        store.put(candidate, split, trial)
        return store.path(candidate, split).read_bytes()


def cases(seed=0):
    """Name and bytes of mutations of a sound trial file: every kind of content, some of bytes."""
    sound = valid()
    for name, change in _CONTENTS.items():
        yield name, _packed(change(_parts(sound)))
    for name, damage in _ARCHIVES.items():
        yield name, damage(sound)
    rng = np.random.default_rng(seed)
    for k in range(N_BYTES):
        yield f"bytes {seed}.{k}", _mutated(sound, rng)


def run(content):
    """What a resume makes of the file: "kept", "done again", or "wrong".

    It may keep only what reads as the sound trial, and must name what it does again. Whatever is
    raised is a failure, for the caller to count.
    """
    protocol, candidate, split, sound = _bench()
    with tempfile.TemporaryDirectory() as folder:
        store = Folder(folder, protocol)
        store.path(candidate, split).write_bytes(content)
        notes = store.recall([candidate])
        found = store.get(candidate, split)
        if found is None:
            named = len(notes) == 1 and store.path(candidate, split).name in notes[0]
            return "done again" if named else "wrong"
        return "kept" if not notes and _same(found, sound) else "wrong"


def _same(found, sound):
    arrays = ("inner", "inner_instances", "outer", "instances")
    return vars(found).keys() == vars(sound).keys() and all(
        np.array_equal(value, getattr(found, name))
        if name in arrays
        else value == vars(found)[name]
        for name, value in vars(sound).items()
    )


# Mutations ----------------------------------------------------------------------------------------


def _parts(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file}


def _packed(parts):
    file = io.BytesIO()
    np.savez(file, **parts)
    return file.getvalue()


def _with_facts(**changes):
    def change(parts):
        facts = json.loads(str(parts["facts"])) | changes
        return parts | {"facts": json.dumps(facts)}

    return change


def _with_array(name, change):
    return lambda parts: parts | {name: change(parts[name])}


def _holed(values, hole):
    values = values.copy()
    values[-1] = hole
    return values


_CONTENTS = {
    **{f"{name} short": _with_array(name, lambda a: a[:-1]) for name in ("inner", "outer")},
    "inner instances short": _with_array("inner_instances", lambda a: a[:-1]),
    "instances short": _with_array("instances", lambda a: a[:-1]),
    **{
        f"{name} with {hole}": _with_array(name, lambda a, hole=hole: _holed(a, hole))
        for name in ("inner", "outer", "instances")
        for hole in (np.nan, np.inf)
    },
    "flat": _with_array("inner", np.ravel),
    "wide": _with_array("outer", lambda a: np.repeat(a, 3, axis=1)),
    "text": _with_array("inner", lambda a: a.astype(str)),
    "whole numbers": _with_array("inner", lambda a: a.astype(np.int64)),
    "complex": _with_array("outer", lambda a: a.astype(complex)),
    "huge": _with_array("inner", lambda a: np.zeros((2_000_000, 1))),
    "a part missing": lambda parts: {k: v for k, v in parts.items() if k != "outer"},
    "facts missing": lambda parts: {k: v for k, v in parts.items() if k != "facts"},
    "facts no JSON": lambda parts: parts | {"facts": "{"},
    "facts a list": lambda parts: parts | {"facts": "[1, 2]"},
    "facts deep": lambda parts: parts | {"facts": "[" * 20_000 + "]" * 20_000},
    "unknown setting": _with_facts(setting={"learner__estimator__C": 77.0}),
    "setting of another": _with_facts(setting={"learner__nonsense": 1}),
    "setting a number": _with_facts(setting=3),
    "unknown fact": _with_facts(mood="fine"),
    "loss missing": _with_facts(loss=float("nan")),
    "loss text": _with_facts(loss="small"),
    "seconds negative": _with_facts(seconds=-1.0),
    "seconds null": _with_facts(seconds=None),
    "no settings tried": _with_facts(n_settings=0),
    "settings beyond the grid": _with_facts(n_settings=10**9),
}


def _lying_header(content):
    """An array that claims to be larger than any memory."""
    parts = _parts(content)
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**13, 1)}
    lie = io.BytesIO()
    np.lib.format.write_array_header_1_0(lie, header)
    return _replaced(_packed(parts), "inner.npy", lie.getvalue())


def _with_pickle(content):
    pickled = io.BytesIO()
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return _replaced(content, "inner.npy", pickled.getvalue())


def _bomb(content):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("facts.npy", b"\0" * 50_000_000)
    return file.getvalue()


def _replaced(content, member, data):
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return file.getvalue()


def _plain_array(content):
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


_ARCHIVES = {
    "empty": lambda content: b"",
    "half": lambda content: content[: len(content) // 2],
    "no archive": lambda content: b"not a trial",
    "a plain array": _plain_array,
    "a pickle inside": _with_pickle,
    "a lying header": _lying_header,
    "a bomb": _bomb,
    "twice": lambda content: content + content,
}


def _mutated(content, rng):
    """A few bytes changed, cut out or put in."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(len(data)))
        kind = rng.integers(3)
        if kind == 0:
            data[place] ^= int(rng.integers(1, 256))
        elif kind == 1:
            del data[place : place + int(rng.integers(1, 40))]
        else:
            data[place:place] = rng.bytes(int(rng.integers(1, 40)))
    return bytes(data)
