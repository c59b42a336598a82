"""HDF5 files with groups such as ``train`` and ``test``, each ``data`` and ``target`` (h5py)."""

import io

import numpy as np

from mixedbag.datasets.records import Table


def read_hdf5(source):
    try:
        import h5py
    except ImportError as error:
        raise ImportError("HDF5 files need h5py: pip install 'mixedbag[hdf5]'") from error
    try:
        with h5py.File(io.BytesIO(source.content), "r") as file:
            parts = {
                name: (np.asarray(group["data"]), np.asarray(group["target"]))
                for name, group in sorted(file.items(), key=_train_first)
            }
    except (OSError, KeyError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise source.error(f"not an HDF5 file of data and target groups ({error})") from error
    if not parts:
        raise source.error("the file has no groups")
    for name, (data, target) in parts.items():
        if data.ndim != 2 or target.ndim != 1 or len(data) != len(target) or not len(data):
            raise source.error(
                f"group {name!r}: data of shape {data.shape}, target of shape {target.shape}"
            )
        if data.dtype.kind not in "iuf" or not np.isfinite(data).all():
            raise source.error(f"group {name!r}: data holds values that are not finite numbers")
    if len({data.shape[1] for data, _ in parts.values()}) > 1:
        raise source.error("the groups have different numbers of features")
    X = np.concatenate([data for data, _ in parts.values()])
    return Table(
        X if X.dtype in (np.float32, np.float64) else X.astype(np.float64),
        np.concatenate([target for _, target in parts.values()]),
        split=np.repeat(list(parts), [len(target) for _, target in parts.values()]),
    )


def _train_first(item):
    return item[0] != "train", item[0]
