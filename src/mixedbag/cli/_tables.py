"""Reading what the user points at, and saying what was understood."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mixedbag.cli._edge import at_the_edge
from mixedbag.exceptions import InputError

if TYPE_CHECKING:
    from mixedbag.datasets import BagData
    from mixedbag.engines import SpooledBags
    from mixedbag.tables._pooled import PooledBags


@at_the_edge
def read_data(
    source: str,
    bag: str | None = None,
    label: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    instance: str | None = None,
    group: str | None = None,
    weight: str | None = None,
    query: str | None = None,
    labels: Any = None,
) -> "BagData":
    """A file, a pattern of files, a folder of bags, or a data set by its name, as `BagData`."""
    from mixedbag import datasets

    if not Path(source).exists() and source in datasets.list_names():
        data = datasets.load(source)
        if not isinstance(data, datasets.BagData):
            raise ValueError(f"{source} is no set of bags; see `mixedbag datasets show {source}`")
    else:
        data = datasets.read(
            source,
            bag,
            label,
            instance=instance,
            group=group,
            weight=weight,
            time=time,
            drop=drop,
            labels=labels,
            query=query,
        )
    if data.weight is not None:
        note = f"bags count by their weights, {data.weight.min():g} to {data.weight.max():g}"
        data = replace(data, notes=(*data.notes, note))
    return data


@at_the_edge
def fits_in_memory(source: str) -> bool:
    """Whether a file, a folder or a data set of the catalogue is likely to fit in memory."""
    from mixedbag import tables

    return not _is_wild_or_file(source) or tables.fits_in_memory(source)


def _is_wild_or_file(source):
    return Path(source).is_file() or re.search(r"[*?\[]", source) is not None


@at_the_edge
def spool_bags(
    source: str,
    bag: str | None = None,
    label: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    group: str | None = None,
    weight: str | None = None,
    query: str | None = None,
    positive: str | None = None,
) -> "SpooledBags":
    """The table of `read_data` as `SpooledBags`: in blocks on disk, whatever its length.

    With `positive`, one label of several against all others.
    """
    from mixedbag.datasets._several_labels import label_columns
    from mixedbag.datasets.records import DataFormatError
    from mixedbag.engines import SpooledBags

    if group is not None:
        raise ValueError("--group needs all bags in memory, and they are on disk")
    made = partial(
        SpooledBags.from_table, source, bag, weight=weight, time=time, drop=drop, n_jobs=-1
    )
    try:
        bags = made(label=label, query=query)
    except DataFormatError as error:
        several = label_columns(label)
        if error.column != label or several is None:
            raise
        bags = made(label=label, query=_with_shares(source, label, *several, query))
        bags.notes = (*bags.notes, f"labels are shares of {several[1]!r}")
    if label is not None:
        bags = _in_shares(bags, label)
    understood = f"{len(bags)} bags, {bags.n_instances} instances of {bags.n_features} features"
    bags.notes = (f"{understood}, in {len(bags.blocks)} blocks on disk", *bags.notes)
    known = [str(name) for name in bags.labels.tolist()]
    if positive is not None:
        if positive not in known:
            raise ValueError(f"{source}: no bag is labelled {positive!r}; there are {known[:12]}")
        if len(known) > 2:
            bags.blocks = bags.blocks.map(_against_all_others, positive)
            bags.labels = np.unique([positive, f"not {positive}"])
    return bags


def _with_shares(source, label, columns, size, query):
    """The query that makes "yes/voters" a column, of the table or of what a query makes of it."""
    from mixedbag.tables._engine import identifier, literal
    from mixedbag.tables._sources import files_of, kind_of

    if size is None or len(columns) > 1:
        raise InputError(
            f"{label!r} has a column a class, and a label on disk is one: take --in-memory, or "
            "--label yes/voters"
        )
    yes, of, share = map(identifier, (*columns, size, label))
    if kind_of(files_of(source)[0]) == "sqlite":
        raise InputError(
            f"{source}: {label!r} of a SQLite file on disk is not worked out: take --in-memory, or "
            f"a --query with a column such as 1.0 * {yes} / {of}"
        )
    table = "data" if query is None else f"({query.strip().rstrip(';')}\n)"
    wrong = f"{literal(f'column {size!r} holds ')} || {of} || ': a size is above zero'"
    return (
        f"select * exclude ({yes}, {of}), case when {of} < 0 or {of} = 0 and {yes} <> 0 "
        f"then error({wrong}) else {yes} / nullif({of}, 0) end as {share} from {table}"
    )


def _in_shares(bags, label):
    """The bags with labels in per cent as shares: text, or numbers of a column that says so."""
    from mixedbag._per_cent import NOTE, as_shares

    shares = as_shares(bags.labels, np.ones(len(bags.labels)), label, by_sizes=False)
    if shares is None:
        return bags
    bags.blocks = bags.blocks.map(_of_a_hundred)
    bags.labels = np.unique(shares[~np.isnan(shares)])
    bags.notes = (*bags.notes, NOTE)
    return bags


def _of_a_hundred(block):
    y = block.target
    if y.dtype.kind in "iuf":
        return block._replace(target=y / 100)
    from mixedbag._per_cent import as_shares

    return block._replace(target=as_shares(y, block.bags.sizes))


def _against_all_others(block, positive):
    is_positive = block.target.astype(str) == positive
    return block._replace(target=np.where(is_positive, positive, f"not {positive}"))


@at_the_edge
def stream_bags(
    path: str,
    bag: str | None = None,
    features: Sequence[str] | None = None,
    time: str | None = None,
    rows: int = 20_000,
    query: str | None = None,
    label: str | None = None,
    instance: str | None = None,
) -> "Iterator[BagData]":
    """Blocks of whole bags of a table or folder of any length, with the features of a model.

    Parameters
    ----------
    path : path
    bag : str, optional
        The column with the bag of each row; by default "bag".
    features : list of str, optional
        The columns to use, in this order; by default all others.
    time : str, optional
        The column that orders the rows of a bag.
    rows : int
        How many rows a block has at least.
    query : str, optional
        A select statement that makes the table of the one in the file.
    label : str, optional
        A column with something known of the bags. Else labels are not looked at: a column "label"
        may be a feature, or disagree within a bag.
    instance : str, optional
        A column with the names of instances; a table without it is read all the same.
    """
    from mixedbag.datasets import read_blocks

    told = () if label is None and features is not None else label
    asked = partial(
        read_blocks, path, bag, told, features=features, time=time, rows=rows, query=query
    )
    blocks = asked(instance=instance)
    try:
        first = next(blocks, None)
    except ValueError:  # no such column; or something else, which is met again
        if instance is None:
            raise
        blocks = asked()
        first = next(blocks, None)
    if first is not None:
        yield first
        yield from blocks


@at_the_edge
def stream_pooled(
    path: str,
    bag: str | None,
    features: Sequence[str],
    scores: Sequence[Any],
    span: tuple[np.ndarray, np.ndarray] | None,
    n_bags: int,
    query: str | None,
) -> "Iterator[PooledBags]":
    """Pooled scores of the bags of a table; a `NotPooledError` where its rows must be looked at."""
    from mixedbag.datasets._folders import is_folder
    from mixedbag.datasets.streaming import is_for_engine
    from mixedbag.tables import Roles
    from mixedbag.tables._pooled import NotPooledError, read_pooled

    roles = Roles(bag, (), features=features)
    if is_folder(path) or not is_for_engine(path, roles, query):
        raise NotPooledError
    yield from read_pooled(path, roles, scores, span, n_bags, query)


def as_numbers(amounts: np.ndarray) -> np.ndarray:
    """Known amounts, NaN where there is none."""
    try:
        known = [np.nan if amount is None else amount for amount in amounts.ravel().tolist()]
        return np.array(known, dtype=np.float64).reshape(amounts.shape)
    except ValueError as error:
        raise InputError(f"amounts must be numbers; {error}") from error


@at_the_edge
def read_bag(
    path: str,
    name: str,
    bag: str | None = None,
    features: Sequence[str] | None = None,
    time: str | None = None,
    query: str | None = None,
    instance: str | None = None,
) -> "BagData":
    """The one bag of that id, with the notes on its table; parameters as in `stream_bags`."""
    from mixedbag.datasets import BagData
    from mixedbag.datasets._folders import is_folder
    from mixedbag.datasets._folders import read_bag as read_file

    if is_folder(path):
        return read_file(path, name)
    n_bags, notes = 0, ()
    for data in stream_bags(path, bag, features, time, query=query, instance=instance):
        ids, notes = data.bags.ids, (*notes, *data.notes)
        ids = range(n_bags, n_bags + len(data.bags)) if ids is None else ids.tolist()
        for i, candidate in enumerate(ids):
            if str(candidate) == name:
                rows, names = data.bags.rows_of(np.array([i])), data.instance_ids
                names = None if names is None else names[rows]
                return BagData(data.bags[i : i + 1], instance_ids=names, notes=notes)
        n_bags += len(data.bags)
    raise ValueError(f"{path} has no bag {name!r} among its {n_bags} bags")


@at_the_edge
def refuse_unlabelled(data: "BagData", source: str) -> None:
    """Refuse data without labels, with the option that names them."""
    from mixedbag.datasets._folders import is_folder

    if data.y is None and is_folder(source):
        raise ValueError(f"{source} has no labels: name the table that has them with --labels")
    if data.y is None:
        names = ", ".join(map(repr, (data.bags.feature_names or [])[:12]))
        raise ValueError(
            f"{source} has no column 'label': name it with --label COLUMN; there are {names}"
        )


@at_the_edge
def require_labels(
    data: "BagData", source: str, positive: str | None = None
) -> "tuple[BagData, BagData | None]":
    """The bags with labels, ready to be learned from, and the others; no labels are refused.

    `positive` is the label that counts as positive, against all others; without it, one of two text
    labels does, and a note says which and why. Labels keep their words.
    """
    refuse_unlabelled(data, source)
    data, others = data.by_label()
    labels = sorted({str(value) for value in data.y.tolist()})
    if positive is not None:
        if positive not in labels:
            raise ValueError(f"{source}: no bag is labelled {positive!r}; there are {labels[:12]}")
        note = f"the positive label is {positive!r}"
        if len(labels) > 2:
            found = data.y.tolist()
            y = [positive if str(value) == positive else f"not {positive}" for value in found]
            data, note = replace(data, y=np.array(y)), f"{note}, against all others"
        return replace(data, notes=(*data.notes, note)), others
    if data.y.dtype.kind in "OU" and len(labels) == 2:
        from mixedbag.comparison._questions import choose_positive

        last, why = choose_positive(*np.unique(data.y, return_inverse=True))
        note = f"the positive label is {labels[last]!r} ({why}); --positive chooses"
        return replace(data, notes=(*data.notes, note)), others
    return data, others


@at_the_edge
def seconds(text: str) -> float | None:
    """``"90"``, ``"90s"``, ``"10m"`` or ``"1h30m"`` as seconds; "none" for no limit."""
    if text.strip().lower() in ("none", "0", ""):
        return None
    match = re.fullmatch(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?", text.strip().lower())
    if match is None:
        raise ValueError(f"{text!r} is no time: write 90s, 10m or 1h30m")
    hours, minutes, rest = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


@at_the_edge
def shape(text: str | None) -> tuple[int, ...] | None:
    """``"8x8"`` as (8, 8)."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)[x×](\d+)", text)
    if match is None:
        raise ValueError(f"{text!r} is no image shape: write HEIGHTxWIDTH, such as 8x8")
    return tuple(int(part) for part in match.groups())
