"""Large tables as a stream of whole bags, in bounded memory."""

import csv
import gzip
from pathlib import Path

import numpy as np

from mixedbag.bags import Bags
from mixedbag.datasets import DataFormatError

_ROWS = 20_000  # read at a time; a block is as much as that, and the rest of its last bag
_MISSING = ("", "?", "na", "n/a", "nan", "null", "none")


def stream_bags(path, bag=None, features=None, time=None, rows=_ROWS):
    """Blocks of whole bags from a CSV, TSV or Parquet table whose bags are adjacent rows.

    Other formats are read at once and come as one block.

    Parameters
    ----------
    path : path
    bag : str, optional
        The column with the bag of each row; by default "bag".
    features : list of str, optional
        The columns to use, in this order; by default all but `bag`.
    time : str, optional
        The column that orders the rows of a bag.
    rows : int
        How many rows to read at a time.
    """
    path, bag = Path(path), bag or "bag"
    if not path.exists():
        raise FileNotFoundError(f"no file {str(path)!r}")
    suffixes = "".join(path.suffixes[-2:]).lower().removesuffix(".gz")
    if suffixes.endswith((".parquet", ".pq")):
        blocks = _parquet_blocks(path, bag, features, time, rows)
    elif suffixes.endswith((".csv", ".tsv")):
        blocks = _delimited_blocks(path, bag, features, time, rows)
    else:
        yield _read_at_once(path, bag, features, time)
        return
    yield from _whole_bags(path, blocks, features, bag)


def _read_at_once(path, bag, features, time):
    from mixedbag.cli.tables import read_data

    data = read_data(str(path), None if bag == "bag" else bag, time=time)
    names = data.bags.feature_names
    if features is None or names is None or names == list(features):
        return data.bags
    missing = [name for name in features if name not in names]
    if missing:
        raise DataFormatError(path, f"no column {missing[0]!r}, which the model needs")
    X = data.bags.instances[:, [names.index(name) for name in features]]
    return data.bags.with_instances(X, list(features))


def _whole_bags(path, blocks, features, bag):
    """Bags out of blocks of (first line, ids, times, rows, names); a bag may span blocks."""
    ids, times, table, seen = [], None, None, _Seen()
    names = features
    for line, more, when, X, names in blocks:
        ids = [*ids, *more]
        table = X if table is None else np.concatenate([table, X])
        if when is not None:
            times = when if times is None else np.concatenate([times, when])
        last = len(ids)
        while last and ids[last - 1] == ids[-1]:  # the last bag may go on in the next block
            last -= 1
        if last:
            part = None if times is None else times[:last]
            yield _gather(path, ids[:last], part, table[:last], names, seen, bag, line)
            ids, table = ids[last:], table[last:]
            times = None if times is None else times[last:]
    if ids:
        yield _gather(path, ids, times, table, names, seen, bag, None)
    elif table is None:
        raise DataFormatError(path, "no rows below the header")


def _gather(path, ids, times, table, names, seen, bag, line):
    starts = [i for i in range(len(ids)) if i == 0 or ids[i] != ids[i - 1]]
    owners = [ids[i] for i in starts]
    again = seen.add(owners)
    if again is not None:
        raise DataFormatError(
            path, f"the rows of bag {again!r} are not adjacent: sort the table by {bag!r}", line
        )
    offsets = np.array([*starts, len(ids)], dtype=np.int64)
    if times is not None:
        group = np.repeat(np.arange(len(starts)), np.diff(offsets))
        table = table[np.lexsort((times, group))]
    return Bags(table, offsets, ids=owners, feature_names=names)


class _Seen:
    """Which bags have been met, in eight bytes a bag: the names themselves might fill memory."""

    def __init__(self):
        self._hashes = np.empty(0, dtype=np.int64)

    def add(self, owners):
        """Note the owners; the first that was there before, or twice among them, or None."""
        hashes = np.array([hash(owner) for owner in owners], dtype=np.int64)
        order = np.argsort(hashes, kind="stable")
        ordered = hashes[order]
        place = np.searchsorted(self._hashes, ordered)
        known = np.zeros(len(ordered), dtype=bool)
        inside = place < len(self._hashes)
        known[inside] = self._hashes[place[inside]] == ordered[inside]
        known[1:] |= ordered[1:] == ordered[:-1]
        if known.any():
            return owners[order[known].min()]
        self._hashes = np.insert(self._hashes, place, ordered)
        return None


# Delimited text -----------------------------------------------------------------------------------


def _delimited_blocks(path, bag, features, time, n_rows):
    with _text(path) as file:
        first = file.readline()
        if not first.strip():
            raise DataFormatError(path, "the file is empty")
        delimiter = max((",", "\t", ";"), key=first.count)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
        place = _places(path, header, bag, features, time)
        names = features or [name for name in header if name not in (bag, time)]
        reader = csv.reader(file, delimiter=delimiter)
        while True:
            line = reader.line_num + 2
            block = _take(path, reader, n_rows, len(header))
            if not block:
                return
            columns = list(zip(*block))
            X = np.empty((len(block), len(names)))
            for j, name in enumerate(names):
                X[:, j] = _numbers(path, name, columns[place[name]], line)
            ids = [text.strip() for text in columns[place[bag]]]
            if "" in ids:
                raise DataFormatError(path, f"no bag in column {bag!r}", line + ids.index(""))
            when = None if time is None else _numbers(path, time, columns[place[time]], line)
            yield line, ids, when, X, names


def _text(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    opener = gzip.open if packed else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _take(path, reader, n_rows, width):
    """Up to `n_rows` records of the right width; blank lines do not count."""
    block = []
    try:
        for record in reader:
            if len(record) != width:
                if not any(field.strip() for field in record):
                    continue
                reason = f"{len(record)} values where {width} are expected"
                raise DataFormatError(path, reason, reader.line_num + 1)
            block.append(record)
            if len(block) == n_rows:
                break
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataFormatError(path, str(error), reader.line_num + 1) from error
    return block


def _numbers(path, name, texts, line):
    """A column of numbers; missing values are NaN, anything else is an error with its line."""
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        pass
    values = np.empty(len(texts))
    for i, text in enumerate(texts):
        text = text.strip()
        try:
            values[i] = np.nan if text.lower() in _MISSING else float(text)
        except ValueError:
            reason = f"column {name!r}: {text!r} is not a number"
            raise DataFormatError(path, reason, line + i) from None
    return values


def _places(path, header, bag, features, time):
    wanted = [bag, *(features or []), *([] if time is None else [time])]
    for name in wanted:
        if name not in header:
            shown = ", ".join(map(repr, header[:12])) + (", …" if len(header) > 12 else "")
            raise DataFormatError(path, f"no column {name!r}; there are {shown}", 1)
    return {name: j for j, name in enumerate(header)}


# Parquet ------------------------------------------------------------------------------------------


def _parquet_blocks(path, bag, features, time, n_rows):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError("reading Parquet needs pyarrow: pip install mixedbag[parquet]") from error
    try:
        # Buffered ahead, all of a file would be held before its end is read.
        file = pyarrow.parquet.ParquetFile(path, pre_buffer=False)
    except pyarrow.ArrowInvalid as error:
        raise DataFormatError(path, f"not a Parquet file ({error})") from error
    with file:
        header = file.schema_arrow.names
        _places(path, header, bag, features, time)
        names = features or [name for name in header if name not in (bag, time)]
        wanted = [bag, *names, *([] if time is None else [time])]
        row = 1
        for batch in file.iter_batches(batch_size=n_rows, columns=wanted):
            X = np.column_stack([_arrow_numbers(path, batch, name) for name in names])
            when = None if time is None else _arrow_numbers(path, batch, time)
            yield row, batch.column(bag).to_pylist(), when, X, names
            row += len(batch)


def _arrow_numbers(path, batch, name):
    import pyarrow

    try:
        column = batch.column(name).cast(pyarrow.float64())
    except pyarrow.ArrowInvalid as error:
        raise DataFormatError(path, f"column {name!r} is not made of numbers: {error}") from error
    return column.to_numpy(zero_copy_only=False)
