"""MATLAB files: PRTools data sets with bags, and plain matrices (instances, bags, labels)."""

import numpy as np

from mixedbag.datasets._formats.matfile import read_variables
from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import Source


def read_mat(source):
    """Rows from one .mat file, or from a folder with one variable a file."""
    if source.path.is_dir():
        variables: dict = {}
        for path in sorted(source.path.glob("*.mat")):
            found = _variables(Source(path))
            if found.keys() & variables.keys():
                twice = sorted(found.keys() & variables.keys())[0]
                raise source.error(f"two files hold a variable {twice!r}")
            variables.update(found)
        if not variables:
            raise source.error("a folder without .npy, .npz, .h5, .safetensors or .mat files")
    else:
        variables = _variables(source)
    for value in variables.values():
        if isinstance(value, dict) and value.keys() >= {"data", "nlab", "ident"}:
            return _prtools(source, value)
    return _matrices(source, variables)


def _variables(source):
    if source.content.startswith(b"\x89HDF"):
        raise source.error("a MATLAB 7.3 file; save it with the option -v7")
    try:
        return read_variables(source.content, source.binary_limit)
    except ValueError as error:
        raise source.error(f"not a readable MATLAB file: {error}") from error


def _prtools(source, dataset):
    """A PRTools ``prdataset``: data, nlab (numbers of labels), lablist, ident.milbag."""
    data = _numbers(source, dataset["data"], "data")
    nlab = _whole(source, dataset["nlab"], "nlab")
    ident = dataset["ident"]
    if not (isinstance(ident, dict) and "milbag" in ident):
        raise source.error("the data set has no ident.milbag: its rows are not in bags")
    bag = _whole(source, ident["milbag"], "ident.milbag")
    for what, values in (("nlab", nlab), ("ident.milbag", bag)):
        if len(values) != len(data):
            raise source.error(f"{len(values)} values of {what} for {len(data)} rows of data")
    names = _label_names(dataset.get("lablist"))
    if names is None:
        label = nlab.tolist()
    elif nlab.min() < 1 or nlab.max() > len(names):
        raise source.error(f"nlab goes from {nlab.min()} to {nlab.max()}, with {len(names)} names")
    else:
        label = [names[k - 1] for k in nlab]
    return Rows(data, bag.tolist(), label)


def _label_names(lablist):
    """The names of the labels: the list itself, or the first cell of PRTools' table of lists."""
    if isinstance(lablist, list) and lablist and isinstance(lablist[0], list):
        lablist = lablist[0]
    if not (isinstance(lablist, list) and lablist and all(isinstance(n, str) for n in lablist)):
        return None
    return [name.strip() for name in lablist]


def _matrices(source, variables):
    """Plain matrices, told apart by shape: rows of instances, bags of rows, labels of bags.

    Labels are one a bag, in the order of the bag numbers, or one a row.
    """
    usable = {n: v for n, v in variables.items() if isinstance(v, np.ndarray) and v.ndim == 2}
    tables = {n: v for n, v in usable.items() if min(v.shape) > 1}
    vectors = {n: v.ravel() for n, v in usable.items() if v.size and min(v.shape) == 1}
    if len(tables) != 1:
        raise source.error(
            f"expected one matrix of instances, found {len(tables)} among {sorted(variables)}"
        )
    ((_, data),) = tables.items()
    data = _numbers(source, data, "the matrix of instances")
    of_rows = {n: v for n, v in vectors.items() if len(v) == len(data)}
    bag_name = _bag_vector(source, of_rows)
    bag = _whole(source, of_rows[bag_name], bag_name)
    numbers, codes = np.unique(bag, return_inverse=True)
    labels = [
        n for n, v in vectors.items() if n != bag_name and len(v) in (len(numbers), len(data))
    ]
    if len(labels) != 1:
        raise source.error(
            f"expected one vector of {len(numbers)} bag labels, found {len(labels)} among "
            f"{sorted(variables)}"
        )
    label = vectors[labels[0]]
    if not np.isfinite(label).all():
        raise source.error(f"{labels[0]} has a value that is not finite")
    label = label if len(label) == len(data) else label[codes]
    whole = label.dtype.kind != "f" or _is_whole(label)
    return Rows(data, bag.tolist(), (_as_whole(label) if whole else label).tolist())


def _bag_vector(source, of_rows):
    if len(of_rows) == 1:
        return next(iter(of_rows))
    named = [name for name in of_rows if "bag" in name.lower() or "group" in name.lower()]
    if len(named) != 1:
        raise source.error(
            f"cannot tell which variable numbers the bags: {sorted(of_rows) or 'none fits'}; call "
            "it 'bag'"
        )
    return named[0]


def _numbers(source, values, what):
    if not isinstance(values, np.ndarray) or values.ndim != 2 or 0 in values.shape:
        raise source.error(f"{what} is not a matrix of numbers")
    if np.isinf(values).any():
        raise source.error(f"{what} has an infinite value")
    return np.ascontiguousarray(values, dtype=np.float64)


def _whole(source, values, what):
    if not isinstance(values, np.ndarray) or not values.size:
        raise source.error(f"{what} does not hold numbers")
    values = values.ravel()
    if values.dtype.kind == "f" and not _is_whole(values):
        raise source.error(f"{what} does not hold whole numbers")
    return _as_whole(values)


def _is_whole(values):
    """Whether floats are whole numbers, none so large that two of them might share a float."""
    return (np.abs(values) < 2**53).all() and (values == np.round(values)).all()


def _as_whole(values):
    return values if values.dtype == np.uint64 else values.astype(np.int64)
