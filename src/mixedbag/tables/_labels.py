"""A table of labels: one row a bag, whose instances lie elsewhere."""

from dataclasses import dataclass, replace

import numpy as np

from mixedbag.tables import _kinds as kinds
from mixedbag.tables._arrays import as_array
from mixedbag.tables._ordering import arrange, whole_ids
from mixedbag.tables._roles import default_column
from mixedbag.tables._sources import open_relation


@dataclass(frozen=True)
class Labels:
    """What a table says of bags: names as they are written, and an array a role."""

    names: list
    label: np.ndarray
    weight: np.ndarray | None
    group: np.ndarray | None
    notes: tuple


def read_labels(engine, source, roles, known, query=None):
    """The labels in a table.

    Parameters
    ----------
    engine : connection and folder
    source : path, pattern of paths, or data frame
    roles : Roles
        Without a bag, it is the column of that name, or else the one that has most of the names.
    known : callable
        Tells whether a text names a bag.
    query : str, optional
    """
    connection, folder = engine
    relation = open_relation(connection, folder, source, None, query)
    notes = list(relation.notes)
    if roles.bag is None and default_column("bag", relation.names) is None:
        column = _naming_column(relation, known)
        roles = replace(roles, bag=column)
        notes.append(f"column {column!r} names the bags")
    positions = roles.positions(relation.names, relation.header_error)
    if "label" not in positions:
        columns = ", ".join(map(repr, relation.names[:12]))
        raise relation.header_error(f"say which column holds the label; the columns are {columns}")
    ordering = arrange(relation, positions)
    values = {"names": "cast(key as varchar)", **{role: f'"{role}"' for role in ordering.agreed}}
    if "group" in values:
        values["group"] = whole_ids(relation, values["group"], "bags")
    columns = ", ".join(f'{sql} as "{name}"' for name, sql in values.items())
    table = relation.con.sql(f"select {columns} from bags order by first").to_arrow_table()
    found = {name: as_array(table[name].combine_chunks()) for name in values}
    return Labels(
        found["names"].tolist(),
        found["label"],
        found.get("weight"),
        found.get("group"),
        tuple(notes),
    )


def _naming_column(relation, known):
    """The column with most names of bags."""
    hits = []
    for j in range(len(relation.names)):
        value = kinds.stripped(f"c{j}")
        texts = relation.ask(f"select distinct {value} from rows where {value} is not null")
        hits.append(sum(known(text) for (text,) in texts))
    best = max(hits)
    if not best or hits.count(best) > 1:
        why = "several have" if best else "none has"
        raise relation.header_error(
            f"say which column names the bags: {why} the names of the files"
        )
    return relation.names[hits.index(best)]
