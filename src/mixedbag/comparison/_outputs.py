"""The folder that a comparison leaves: leaderboard, predictions, model, and how to repeat it."""

import csv
import importlib.metadata
import io
import json
import platform
from pathlib import Path

import numpy as np

from mixedbag._files import cell, written_whole
from mixedbag._version import __version__
from mixedbag.io import save


def write_outputs(result, folder, command=None, instance_ids=None):
    """Write everything but the report into `folder`; every file is complete or not there.

    Returns
    -------
    list of paths
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names, rows = leaderboard_table(result)
    written = [write_table(folder / "leaderboard", names, rows, parquet=False)]
    answers = result.out_of_fold()
    if answers is not None:
        bags, instances = prediction_tables(result, answers, instance_ids)
        written.append(write_table(folder / "predictions", *bags))
        written.append(write_table(folder / "instance-predictions", *instances))
    if result.model is not None:
        save(result.model, folder / "model.skops")
        written.append(folder / "model.skops")
    written.append(folder / "reproduce.json")
    with written_whole(written[-1]) as file:
        file.write(json.dumps(circumstances(result, command), indent=2).encode())
    return written


def leaderboard_table(result):
    """Column names and rows of the leaderboard."""
    names = ["name", "kind", "status", "folds", "metric", "mean", "low", "high"]
    facts = ["p_value", "p_constant", "seconds", "note"]
    measures = [measure.name for measure in result.figures.measures]
    rows = [
        [
            *(result.metric if name == "metric" else getattr(row, name) for name in names),
            *(row.scores.get(name) for name in measures),
            *(getattr(row, name) for name in facts),
        ]
        for row in result.leaderboard()
    ]
    return [*names, *measures, *facts], rows


def prediction_tables(result, answers, instance_ids=None):
    """Out-of-fold predictions as two tables (names, rows): of the bags and of their instances."""
    bags = result.bags
    ids = (np.arange(len(bags)) if bags.ids is None else bags.ids).tolist()
    values = _value_names(result, answers.bags)
    true = result.y.tolist() if result.y.ndim == 1 else [list(map(str, row)) for row in result.y]
    predicted = answers.labels.tolist() if answers.labels.ndim == 1 else [""] * len(bags)
    of_bags = [
        [bag, label, guess, *value]
        for bag, label, guess, value in zip(ids, true, predicted, answers.bags.tolist())
    ]
    place = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    names = place if instance_ids is None else instance_ids
    named = answers.instance_labels
    labels = [[]] * bags.n_instances if named is None else [[label] for label in named.tolist()]
    of_instances = [
        [ids[bag], name, *label, *value]
        for bag, name, label, value in zip(
            bags.bag_of.tolist(), np.asarray(names).tolist(), labels, answers.instances.tolist()
        )
    ]
    columns = [] if named is None else ["predicted"]
    return (
        (["bag", "label", "predicted", *values], of_bags),
        (["bag", "instance", *columns, *values], of_instances),
    )


def _value_names(result, answer):
    if result.question.kind == "classes":
        return [f"probability {label}" for label in result.question.classes.tolist()]
    if answer.shape[1] == 1:
        return ["amount"]
    return [f"amount {k}" for k in range(answer.shape[1])]


def write_table(stem, names, rows, parquet=True):
    """Write rows as Parquet where pyarrow is installed, else as CSV; returns the path."""
    stem = Path(stem)
    if parquet:
        try:
            return _write_parquet(stem.with_suffix(".parquet"), names, rows)
        except ImportError:
            pass
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([cell(value) for value in row] for row in (names, *rows))
    with written_whole(stem.with_suffix(".csv")) as file:
        file.write(text.getvalue().encode())
    return stem.with_suffix(".csv")


def _write_parquet(path, names, rows):
    import pyarrow
    import pyarrow.parquet

    columns = list(zip(*rows))
    table = pyarrow.table(
        {name: _one_type(column) for name, column in zip(names, columns, strict=True)}
    )
    with written_whole(path) as file:
        pyarrow.parquet.write_table(table, file)
    return path


def _one_type(column):
    kinds = {type(value) for value in column}
    return list(column) if len(kinds) == 1 else [str(value) for value in column]


def circumstances(result, command=None):
    """What somebody needs to repeat the comparison: the command, the settings and the versions."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "command": command,
        "rule": result.rule,
        "metric": result.metric,
        "work": str(result.work),
        "units": result.progress.n_units,
        "left_undone": result.left_undone(),
        "folds": len(result.splits),
        "bags": len(result.bags),
        "inner_folds": result.protocol.inner_folds,
        "random_state": result.protocol.random_state,
        "learners": [candidate.name for candidate in result.candidates],
        "settings": {
            candidate.name: {
                name: trial.setting for name, trial in result.trials(candidate).items()
            }
            for candidate in result.candidates
        },
        "versions": {
            "mixedbag": __version__,
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in packages},
        },
    }
