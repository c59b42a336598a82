"""Tables of any origin as bags: one engine reads, types, codes and sorts them.

CSV, TSV, JSON, Parquet, Arrow, SQLite and DuckDB files (plain, gzip or zstd, one or many by a
pattern such as ``plate-*.csv``) and data frames in memory (pandas, polars, pyarrow, DuckDB) become
one relation of DuckDB (`_sources`, `_text`, `_frames`), whose columns are typed by all of their
values and coded as numbers (`_coding`), and whose rows are brought together by bag: all at once by
the engine (`_ordering`), or in blocks and bounded memory (`_gathering`). What is said of a table
does not depend on where it comes from.

Why DuckDB: on a million shuffled rows of 22 columns, read, brought into the order of their bags and
written (``benchmarks/product/table_engines.py``, two cores, one run each), it took 1.6 s for CSV
and 1.2 s for Parquet where polars' streaming engine took 1.7 s and 1.3 s. On 300,000 rows both took
0.8 s for CSV, and 0.5 s and 0.6 s for Parquet. What decides is the rest: DuckDB goes on below a
memory limit by spilling to disk, reads files in a sandbox, and speaks SQL.
"""

from mixedbag.tables._reading import read, read_blocks, read_labels, read_rows, streamed
from mixedbag.tables._roles import Roles
from mixedbag.tables._sizes import fits_in_memory
from mixedbag.tables._sources import is_certain

__all__ = [
    "Roles",
    "fits_in_memory",
    "is_certain",
    "read",
    "read_blocks",
    "read_labels",
    "read_rows",
    "streamed",
]
