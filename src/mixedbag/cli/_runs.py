"""Whose results a folder or file holds: those of another run are not overwritten unasked."""

import glob
import json
import os
import shlex
import sys
from pathlib import Path

from mixedbag._files import refuse_place, written_whole
from mixedbag.exceptions import InputError

_NAME = "run.json"
_RESULTS = ("leaderboard.csv", "model.skops", "report.html", "reproduce.json")
_FLAGS = {"--json", "--open", "--overwrite"}  # what changes no answer, alone
# And with a value. Of one run there may be less and more: the longer goes on from the shorter.
_OPTIONS = {"--out", "--jobs", "--time-budget", "--work"}


def this_run(typed=None):
    """What was typed, without what changes no answer: the same run has the same."""
    kept, words = [], iter(sys.argv[1:] if typed is None else typed)
    for word in words:
        if word in _OPTIONS:
            next(words, None)
        elif word not in _FLAGS and word.partition("=")[0] not in _OPTIONS:
            kept.append(word)
    return shlex.join(kept)


def refuse_other_run(out, overwrite):
    """Stop, before any work, where `out` has what another run left there."""
    if overwrite or not out.exists():
        return
    if out.is_dir():
        run = _run_of_folder(out)
        taken = any((out / name).exists() for name in (_NAME, *_RESULTS))
    else:
        run, taken = _run_of_model(out), True
    if taken and run != this_run():
        whose = f"the results of `mixedbag {run}`" if run else "other results"
        raise InputError(f"{out} has {whose}: name another --out, or add --overwrite")


def refuse_file(out):
    """Stop, before any work, where a folder is filled and `out` is none."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file, and results go to a folder: name another --out")


def refuse_out(out, *sources):
    """Stop, before any work, where the file `out` cannot be written, or is one that is read."""
    if out.is_dir():
        raise InputError(f"{out} is a folder: name a file with --out")
    if out.is_file() or not out.exists():  # a device is written to directly
        refuse_place(Path(os.path.realpath(out)))
    if not out.is_file():
        return
    for source in map(str, sources):
        paths = [source] if os.path.exists(source) else glob.glob(source, recursive=True)
        if any(os.path.exists(path) and os.path.samefile(out, path) for path in paths):
            raise InputError(f"{out} is what is read, and would be lost: name another --out")


def sign(folder):
    """Note in a folder which run it belongs to."""
    with written_whole(folder / _NAME) as file:
        file.write(json.dumps({"run": this_run()}).encode())


def _run_of_folder(folder):
    for name, key in ((_NAME, "run"), ("reproduce.json", "command")):
        try:
            told = json.loads((folder / name).read_text())[key]
            return told if key == "run" else this_run(shlex.split(told)[1:])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return None


def _run_of_model(path: Path):
    from mixedbag.io import read_stamp

    try:
        return read_stamp(path).get("run")
    except (OSError, ValueError):
        return None


def remember(model, positive=None, **columns):
    """Let a model know its table, so that nobody has to tell it again."""
    named = {role: column for role, column in columns.items() if column is not None}
    model.origin = model.origin.with_table(columns=named, positive=positive, run=this_run())
