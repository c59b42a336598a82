"""What is known of a table before its rows are fetched."""

import errno
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from tempfile import gettempdir

from mixedbag.datasets.records import DataFormatError
from mixedbag.tables._coding import code
from mixedbag.tables._engine import first_line, sandbox
from mixedbag.tables._frames import is_frame
from mixedbag.tables._gathering import Gathering, gathered, survey
from mixedbag.tables._ordering import Ordering, arrange, id_of, whole_ids
from mixedbag.tables._relation import Relation
from mixedbag.tables._sizes import engine_limits
from mixedbag.tables._sources import files_of, open_relation
from mixedbag.tables._unknown import on_unknown, unknown_values


@dataclass(frozen=True)
class Plan:
    """A table in the engine, the features that its columns make, and how its rows become bags."""

    relation: Relation
    features: list
    notes: list
    ordering: Ordering | Gathering | None  # the latter to read in blocks
    instance: str | None  # SQL for the name of an instance
    required: bool  # whether the features were asked for by name
    folder: str  # for what does not fit in memory

    @property
    def names(self):
        return [feature.name for feature in self.features]

    def blocks(self, rows):
        return gathered(
            self.relation, self.features, self.ordering, self.instance, rows, self.folder
        )


@contextmanager
def engine_on(source, limits=None):
    """A connection for a source; what the engine cannot read is an error of the file."""
    import duckdb
    import pyarrow as pa

    paths = [] if is_frame(source) else files_of(source)
    try:
        with sandbox(paths, limits) as connection:
            yield connection
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(first_line(error)) from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        # A file that cannot be opened has an `errno`; a stream of the engine that fails has none.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if "Out of Memory" in str(error):
            raise MemoryError(first_line(error)) from error
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, "No space left on device", gettempdir()) from error
        place = paths[0] if paths else "the table"
        raise DataFormatError(place, f"not readable ({first_line(error)})") from error


@contextmanager
def in_blocks(source, roles, query, memory, rows):
    """The plan of a table, and its blocks of at least ``rows(plan)`` rows in limited memory.

    An engine that cannot do with so much memory, as for thousands of columns, is given more: the
    first block tells, and has been read.
    """
    attempts = engine_limits(source, memory)
    with ExitStack() as stack:
        for limits in attempts:
            try:
                begun = stack.enter_context(_begun(source, roles, query, limits, rows))
                break
            except MemoryError:
                if limits is attempts[-1]:
                    raise
        yield begun


@contextmanager
def _begun(source, roles, query, limits, rows):
    with (
        planned(source, roles, query, limits) as plan,
        closing(plan.blocks(rows(plan))) as blocks,
    ):
        first = iter([*islice(blocks, 1)])  # which forgets the block as soon as others follow
        yield plan, chain(first, blocks)


@contextmanager
def planned(source, roles, query=None, limits=None):
    """The plan of a table: to be read at once, or in blocks where the engine has limits."""
    with engine_on(source, limits) as (con, folder):
        relation = open_relation(con, folder, source, roles, query)
        positions = roles.positions(relation.names, relation.header_error)
        asked = roles.feature_positions(relation.names, positions.values(), relation.header_error)
        required = roles.features is not None
        features, notes = code(relation, asked, required)
        unknown = unknown_values(asked)
        notes += on_unknown(relation, {relation.names[j]: sql for j, sql in unknown.items()})
        ordering = (arrange if limits is None else survey)(relation, positions)
        instance = None
        if "instance" in positions:
            instance = whole_ids(relation, id_of(relation, positions["instance"]), "rows")
        notes += [f"column {name!r} left out: as asked" for name in roles.drop]
        if roles.time is not None:
            notes.append(f"instances in the order of {roles.time!r}")
        elif not ordering.adjacent:
            notes.append("rows of a bag are not adjacent; they were brought together")
        yield Plan(relation, features, notes, ordering, instance, required, folder)
