"""The two activity recordings: files of samples in time, each with its activity."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mixedbag.bags import Bags
from mixedbag.datasets._formats.source import Source, number_table
from mixedbag.datasets.records import Recordings

CHEST = {
    1: "working at the computer",
    2: "standing up, walking and going up or down stairs",
    3: "standing",
    4: "walking",
    5: "going up or down stairs",
    6: "walking and talking with someone",
    7: "talking while standing",
}
BATTERYLESS = {1: "sitting on the bed", 2: "sitting on a chair", 3: "lying", 4: "walking"}


def read_chest(paths: Sequence[Path]) -> Recordings:
    """One recording a person: ``number, x, y, z, activity`` at 52 samples a second."""
    parts = [_read_samples(path, 5, CHEST) for path in paths]
    table = np.concatenate(parts)
    people = np.array([_person(path) for path in paths])
    return Recordings(
        bags=Bags(table[:, 1:4], _offsets(parts), people, ["x", "y", "z"]),
        instance_labels=table[:, 4].astype(np.int64),
        activities=CHEST,
        groups=people,
        notes=("52 samples a second, uncalibrated; activity 0 is unlabelled",),
    )


def read_batteryless(paths: Sequence[Path]) -> Recordings:
    """One recording a trial, at irregular times; the last letter of its name is the sex."""
    parts = [_read_samples(path, 9, BATTERYLESS) for path in paths]
    table = np.concatenate(parts)
    trials = np.array([path.name for path in paths], dtype=object)
    return Recordings(
        bags=Bags(table[:, 1:4], _offsets(parts), trials, ["front", "vertical", "lateral"]),
        instance_labels=table[:, 8].astype(np.int64),
        activities=BATTERYLESS,
        groups=trials,
        time=table[:, 0],
        other=table[:, 4:8],
        other_names=("antenna", "rssi", "phase", "frequency"),
        notes=("acceleration in g, sampled at irregular times (see `time`)",),
    )


def _person(path):
    if not path.stem.isdecimal():
        raise Source(path).error("the file is not called after the number of a person")
    return int(path.stem)


def _read_samples(path, width, activities):
    source = Source(path)
    texts = source.text.rstrip().split("\n")
    lines = range(1, len(texts) + 1)
    table = number_table(source, texts, lines, width)
    missing = np.isnan(table).any(axis=1)
    if missing.any():
        raise source.error("a value is missing", lines[int(np.argmax(missing))])
    unknown = ~np.isin(table[:, -1], [0, *activities])
    if unknown.any():
        row = int(np.argmax(unknown))
        raise source.error(
            f"activity {table[row, -1]:g} is not in 0 to {max(activities)}", lines[row]
        )
    return table


def _offsets(parts):
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])])
