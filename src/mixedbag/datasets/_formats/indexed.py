"""The three plain-text formats that put instance, bag and label in front of the values.

* ``instance:bag:label index:value …``, often below a first line with the number of instances and
  features (Corel: elephant, fox, tiger);
* ``instance,bag,label,index:value,…`` (TREC9), which stays sparse;
* ``instance,bag,label,value,value,…`` (mutagenesis chains).

Indices start at 1. A value that is not written is 0.
"""

import numpy as np
from scipy import sparse

from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import number, number_table

# Below this share of written values a table is kept sparse, so that no file can ask for more
# memory than it has content for.
DENSE_FROM = 0.1


def read_colons(source):
    declared, rows, n_features = None, _Sparse(source), None
    for line, text in source.lines():
        head, _, pairs = text.partition(" ")
        if declared is None and not rows.lines and ":" not in text:
            declared, n_features = _declared_size(source, text, line)
            continue
        rows.add(line, head.split(":"), pairs.split())
    if declared is not None and declared != len(rows.lines):
        raise source.error(
            f"the first line declares {declared} instances, there are {len(rows.lines)}"
        )
    table = rows.table(n_features)
    if table.nnz >= DENSE_FROM * table.shape[0] * table.shape[1]:
        table = table.toarray()
    return rows.finish(table)


def read_sparse_commas(source):
    rows = _Sparse(source)
    for line, text in source.lines():
        head = text.split(",")
        rows.add(line, head[:3], head[3:])
    return rows.finish(rows.table())


def read_commas(source):
    heads, texts, lines = [], [], []
    for line, text in source.lines():
        head = text.split(",", 3)
        if len(head) < 4:
            raise source.error("expected an instance, a bag, a label and values", line)
        heads.append(_named(source, head[:3], line))
        texts.append(head[3])
        lines.append(line)
    table = number_table(source, texts, lines)
    instance, bag, label = map(list, zip(*heads))
    names = [f"f{j}" for j in range(1, table.shape[1] + 1)]
    return Rows(table, bag, label, lines, names, instance)


class _Sparse:
    """Rows of ``index:value`` pairs, collected line by line."""

    def __init__(self, source):
        self.source = source
        self.heads, self.lines = [], []
        self.indices, self.values, self.lengths = [], [], []

    def add(self, line, head, pairs):
        self.heads.append(_named(self.source, head, line))
        self.lines.append(line)
        try:
            split = [pair.split(":") for pair in pairs]
            indices = [int(index) for index, _ in split]
            values = [float(value) for _, value in split]
        except ValueError:
            for pair in pairs:
                index, _, value = pair.partition(":")
                if not (index.strip().isdecimal() and value.strip()):
                    message = f"{pair[:40]!r} is not a pair of index and value"
                    raise self.source.error(message, line) from None
                number(self.source, value, line)
            raise self.source.error("not pairs of index and value", line) from None
        if not np.isfinite(values).all() or any("_" in pair for pair in pairs):
            raise self.source.error("a value is not a finite number", line)
        if indices and not 1 <= min(indices) <= max(indices) < 2**31:
            raise self.source.error("an index is below 1 or above 2147483646", line)
        if len(set(indices)) != len(indices):
            raise self.source.error("an index appears twice", line)
        self.indices.append(np.array(indices, dtype=np.int64))
        self.values.append(np.array(values))
        self.lengths.append(len(indices))

    def table(self, n_features=None):
        if not self.lines:
            raise self.source.error("no instances")
        largest = max((int(i.max()) for i in self.indices if len(i)), default=0)
        if largest == 0:
            raise self.source.error("no instance has a value")
        if n_features is None:
            n_features = largest
        elif largest > n_features:
            row = next(r for r, i in enumerate(self.indices) if len(i) and i.max() == largest)
            message = f"index {largest}, but the first line declares {n_features} features"
            raise self.source.error(message, self.lines[row])
        indptr = np.concatenate([[0], np.cumsum(self.lengths)])
        parts = (np.concatenate(self.values), np.concatenate(self.indices) - 1, indptr)
        table = sparse.csr_array(parts, shape=(len(self.lines), n_features))
        table.sort_indices()
        return table

    def finish(self, table):
        instance, bag, label = map(list, zip(*self.heads))
        return Rows(table, bag, label, self.lines, instance_ids=instance)


def _named(source, head, line):
    """The instance, bag and label in front of a line's values."""
    head = [part.strip() for part in head]
    if len(head) != 3 or not all(head):
        raise source.error("expected an instance, a bag and a label in front of the values", line)
    return head


def _declared_size(source, text, line):
    words = text.split()
    if len(words) != 2 or not all(word.isdecimal() and len(word) < 19 for word in words):
        raise source.error("expected the number of instances and of features", line)
    n_instances, n_features = map(int, words)
    if not 0 < n_features < 2**31:
        raise source.error(f"{n_features} features declared", line)
    return n_instances, n_features
