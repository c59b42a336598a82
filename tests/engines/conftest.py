"""A cluster of two worker processes on loopback, and tables written for it."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def client(local_cluster):
    distributed = pytest.importorskip("distributed")
    with local_cluster(2) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture
def write():
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")

    def write(folder, rows, groups, labels, cuts):
        for k, (a, b) in enumerate(zip([0, *cuts], [*cuts, len(rows)])):
            table = {f"f{j}": rows[a:b, j] for j in range(rows.shape[1])}
            table |= {"mol": groups[a:b], "active": labels[a:b]}
            pq.write_table(pa.table(table), folder / f"part-{k}.parquet")
        return folder

    return write


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    groups = np.array([f"m{i}" for i in np.repeat(np.arange(60), 5)], dtype=object)
    labels = np.repeat(np.arange(60) % 2, 5)
    return rng.normal(size=(300, 3)) + labels[:, None], groups, labels
