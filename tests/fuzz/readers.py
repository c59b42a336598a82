"""Files of every format, damaged: `read` refuses them, or finds every row that was left alone.

A case begins with a line that names the format and whether `read` is told it (``"c45 told"``) or
has to recognise it (``"c45 found"``), or ``"random"`` and the format it is read as.
"""

import csv
import gzip
import io
import json
import random
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np

from mixedbag.datasets import DataFormatError, read
from mixedbag.datasets._formats.hdf5 import read_hdf5
from mixedbag.datasets._formats.source import Source
from mixedbag.datasets.activity import read_chest
from tests.fuzz.damage import damaged
from tests.fuzz.rows import ROWS, lost

HDF5_EVERY = 400  # cases: each takes a process


# Whole files --------------------------------------------------------------------------------------


def text(head, line, rows=ROWS):
    return (head + "\n".join(map(line, rows)) + "\n").encode()


def numbers(row):
    return ",".join(f"{value:g}" for value in row.values)


def pairs(row, between):
    return between.join(f"{j}:{value:g}" for j, value in enumerate(row.values, start=1))


def relational():
    bags = {}
    for row in ROWS:
        bags.setdefault((row.bag, row.label), []).append(numbers(row))
    head = "@relation r\n@attribute id string\n@attribute bag relational\n"
    head += "".join(f"@attribute {name} numeric\n" for name in "xyz")
    head += "@end bag\n@attribute class {0,1}\n@data\n"
    lines = []
    for (bag, label), values in bags.items():
        instances = r"\n".join(values)
        lines.append(f'{bag},"{instances}",{label}')
    return (head + "\n".join(lines) + "\n").encode()


def mat(compressed=False, plain=False):
    from scipy.io import savemat

    number = {name: k for k, name in enumerate(dict.fromkeys(row.bag for row in ROWS), start=1)}
    data = np.array([row.values for row in ROWS])
    bag = np.array([[number[row.bag]] for row in ROWS])
    nlab = np.array([[1 + int(row.label)] for row in ROWS])
    dataset = {"data": data, "nlab": nlab, "lablist": np.array(["negative", "positive"])}
    dataset["ident"] = {"milbag": bag}
    buffer = io.BytesIO()
    matrices = {"X": data, "bag": bag, "labels": nlab}
    savemat(buffer, matrices if plain else {"x": dataset}, do_compression=compressed)
    return buffer.getvalue()


def hdf5():
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["train/data"] = np.array([row.values for row in ROWS])
        file["train/target"] = np.array([int(row.label) for row in ROWS])
    return buffer.getvalue()


def parquet():
    import pyarrow as pa
    from pyarrow import parquet

    table = {"bag": [r.bag for r in ROWS], "label": [int(r.label) for r in ROWS]}
    table |= {name: [r.values[j] for r in ROWS] for j, name in enumerate("xyz")}
    buffer = io.BytesIO()
    parquet.write_table(pa.table(table), buffer, row_group_size=10, write_page_checksum=True)
    return buffer.getvalue()


def bag_of(kind):
    """One bag as the tools that make embeddings write it."""
    X = np.array([row.values for row in ROWS], dtype=np.float32)
    places = np.arange(2 * len(X)).reshape(-1, 2)
    buffer = io.BytesIO()
    if kind == "bag.npy":
        np.save(buffer, X)
    elif kind == "bag.npz":
        np.savez_compressed(buffer, features=X, coords=places)
    elif kind == "bag.safetensors":
        ends = [0, X.nbytes, X.nbytes + places.nbytes]
        header = {
            "features": {"dtype": "F32", "shape": X.shape, "data_offsets": ends[:2]},
            "coords": {"dtype": "I64", "shape": places.shape, "data_offsets": ends[1:]},
        }
        head = json.dumps(header).encode()
        return len(head).to_bytes(8, "little") + head + X.tobytes() + places.tobytes()
    else:
        import h5py

        with h5py.File(buffer, "w") as file:
            file["features"], file["coords"] = X, places
    return buffer.getvalue()


CSV = text("instance,bag,label,x,y,z\n", lambda r: f"{r.instance},{r.bag},{r.label},{numbers(r)}")
WHOLE = {
    "c45": lambda: text("", lambda r: f"{r.bag},{r.instance},{numbers(r)},{r.label}."),
    "colons": lambda: text(
        f"{len(ROWS)} 3\n", lambda r: f"{r.instance}:{r.bag}:{r.label} {pairs(r, ' ')}"
    ),
    "sparse-commas": lambda: text("", lambda r: f"{r.instance},{r.bag},{r.label},{pairs(r, ',')}"),
    "commas": lambda: text("", lambda r: f"{r.instance},{r.bag},{r.label},{numbers(r)}"),
    "arff": relational,
    "flat-arff": lambda: text(
        "@relation f\n@attribute bag string\n@attribute x numeric\n@attribute y numeric\n"
        "@attribute z numeric\n@attribute label {0,1}\n@data\n",
        lambda r: f"{r.bag},{numbers(r)},{r.label}",
    ),
    "table": lambda: CSV,
    "gzip": lambda: gzip.compress(CSV, mtime=0),
    "gzip-c45": lambda: gzip.compress(whole("c45"), mtime=0),
    "mat": mat,
    "mat-packed": lambda: mat(compressed=True),
    "mat-plain": lambda: mat(plain=True),
    "activity": lambda: text("", lambda r: f"{numbers(r)},{r.label},{1 + int(r.label)}"),
    "parquet": parquet,
    "hdf5": hdf5,
    **{kind: partial(bag_of, kind) for kind in ("bag.npy", "bag.npz", "bag.safetensors", "bag.h5")},
}
SLOW = ("hdf5", "bag.h5")
NAMES = {
    "flat-arff": "arff",
    "gzip": "table",
    "gzip-c45": "c45",
    "mat-packed": "mat",
    "mat-plain": "mat",
    "parquet": "table",
}


@cache
def whole(kind):
    return WHOLE[kind]()


def cases(seed):
    rng = random.Random(seed)
    kinds = [kind for kind in WHOLE if kind not in SLOW]
    while True:
        kind = rng.choice(SLOW if rng.randrange(HDF5_EVERY) == 0 else [*kinds, "random"])
        way = rng.choice(["told", "found"])
        if kind == "random":
            way = rng.choice([*NAMES.values(), "colons", "commas", "found"])
        content = noise(rng) if kind == "random" else damaged(whole(kind), rng)
        yield f"{kind}-{way}", f"{kind} {way}\n".encode() + content


def noise(rng):
    """Bytes, or letters that mean something in a format, without a file behind them."""
    if rng.random() < 0.3:
        return rng.randbytes(rng.randint(0, 200))
    letters = "01.,:;\n\t'\"{}@?ab e-"
    return "".join(rng.choices(letters, k=rng.randint(0, 200))).encode()


# What must be found -------------------------------------------------------------------------------


@cache
def folder():
    """One for all cases: to make and remove a folder takes longer than to read a file."""
    return tempfile.TemporaryDirectory()


def run(content):
    head, _, content = content.partition(b"\n")
    kind, way = head.decode().split()
    path = Path(folder().name) / ("1.mat" if kind.startswith("mat") else "1")
    if kind.startswith("bag."):
        path = path.with_name(kind)
    path.write_bytes(content)
    try:
        if kind == "hdf5":
            table = read_hdf5(Source(path))
            return "accepted" if table.X.shape == (len(ROWS), 3) else f"lost: {table!r}"
        if kind == "activity":
            found = read_chest([path])
            lines = Source(path).text.rstrip().split("\n")
            return "accepted" if found.bags.n_instances == len(lines) else f"lost: {found!r}"
        if kind.startswith("bag."):
            found = read(path).bags.instances
            return "accepted" if found.size == 3 * len(ROWS) else f"lost: shape {found.shape}"
        form = {"told": NAMES.get(kind, kind), "found": None}.get(way, way)
        data = read(path, format=form)
    except DataFormatError as error:
        return "refused" if str(path) in str(error) else f"exception: no file in {error}"
    if len(data.bags) != len(data.bags.ids) or (
        data.y is not None and len(data.y) != len(data.bags)
    ):
        return f"lost: inconsistent {data!r}"
    if not np.isfinite(data.bags.instances.sum()):
        data.bags.check_finite(allow_nan=True)
    wrong = judge(kind, content, data)
    return f"lost: {wrong}" if wrong else "accepted"


def decoded(content):
    """Text as tables are read: UTF-8, or else that of Windows."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def judge(kind, content, data):
    """What is wrong with bags read from damaged content, or None."""
    if kind == "random":
        return None
    if kind.startswith("mat") or kind == "parquet":
        n = data.bags.n_instances
        return None if n == len(ROWS) else f"{n} instances of {len(ROWS)}"
    if kind.startswith("gzip"):  # its checksum covers everything
        content = CSV if kind == "gzip" else whole("c45")
        kind = "table" if kind == "gzip" else "c45"
    text = decoded(content).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    original = [line.strip() for line in whole(kind).decode().split("\n") if line.strip()]
    if kind == "table":
        return judge_table(text, lines, original, data)
    expected, body = body_of(kind, lines)
    if kind == "arff":
        if len(data.bags) != expected:
            return f"{len(data.bags)} bags where {expected} lines are"
    elif data.bags.n_instances != expected:
        return f"{data.bags.n_instances} instances where {expected} lines are"
    intact = set(original) & set(body)
    if kind == "arff":
        bags = {line.split(",")[0] for line in intact}
        undamaged = [row for row in ROWS if row.bag in bags]
    else:
        first = len(original) - len(ROWS)
        undamaged = [row for row, line in zip(ROWS, original[first:]) if line in intact]
    header = (
        lines[: len(lines) - len(body)]
        == original[: len(original) - len(body_of(kind, original)[1])]
    )
    return lost(data, undamaged, strict=header)


def body_of(kind, lines):
    """How many instances (bags, of relational ARFF) there must be, and the lines they are in."""
    if kind.endswith("arff"):
        start = next(k for k, line in enumerate(lines) if line.split()[0].lower() == "@data")
        body = [line for line in lines[start + 1 :] if not line.startswith("%")]
        return len(body), body
    body = lines[1:] if kind == "colons" and ":" not in lines[0] else lines
    return len(body), body


def judge_table(text, lines, original, data):
    named = "table" in data.notes[0]
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    records = [r for r in records if len(r) > 1 or (r and r[0].strip())]
    if (
        "\t" not in lines[0]
        and ";" not in lines[0]
        and data.bags.n_instances != len(records) - named
    ):
        return f"{data.bags.n_instances} instances where {len(records) - named} records are"
    intact = {",".join(record) for record in records}
    undamaged = [row for row, line in zip(ROWS, original[1:]) if line in intact]
    return lost(data, undamaged, strict=lines[0] == original[0])
