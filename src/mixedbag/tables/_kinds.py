"""What a written value is: missing, a number, true or false, a date, or text.

The same rules twice, as regular expressions for Python and as SQL for the engine.
"""

import re

from mixedbag.datasets._formats.source import MISSING
from mixedbag.tables._engine import literal

NO_NAME = MISSING - {"none"}  # "none" is a fine label
_NUMBER = r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"
_ZONE = r" ?(Z|z|[-+][0-9]{2}(:?[0-9]{2})?)"
DOT_NUMBER = re.compile(_NUMBER)
COMMA_NUMBER = re.compile(_NUMBER.replace(r"\.", ","))
WHOLE = "0|-?[1-9][0-9]{0,18}"

NUMBER, FLAG, DATE, ZONED, TEXT = "number", "true or false", "date", "date with a time zone", "text"
INFINITE = "infinite"

INTEGERS = frozenset(
    ["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"]
)
_BIG = frozenset(["UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM"])


def number_with(mark):
    """The pattern of numbers with a decimal mark."""
    return COMMA_NUMBER if mark == "," else DOT_NUMBER


def thousands_with(mark):
    """The pattern of whole numbers whose thousands the mark may part."""
    return rf"[-+]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}"


def is_numeric(sql_type):
    return (
        sql_type in INTEGERS
        or sql_type in _BIG
        or sql_type in ("FLOAT", "DOUBLE", "BOOLEAN")
        or sql_type.startswith("DECIMAL")
    )


def is_date(sql_type):
    return sql_type == "DATE" or sql_type.startswith("TIMESTAMP")


def is_zoned(sql_type):
    return sql_type.endswith("ZONE") or sql_type.startswith("TIMESTAMPTZ")


def is_duration(sql_type):
    return sql_type == "INTERVAL"


def is_text(sql_type):
    return sql_type == "VARCHAR" or sql_type.startswith("ENUM") or sql_type == "UUID"


def is_nested(sql_type):
    return (
        sql_type.endswith("]")
        or sql_type.startswith(("STRUCT", "MAP", "UNION"))
        or (sql_type == "BLOB")
    )


def stripped(column):
    """SQL: a value as text without surrounding blanks."""
    return f"trim(cast({column} as varchar), ' \t\n\v\f\r')"


def known(value, missing=MISSING):
    """SQL: a text, or null where it says that it is missing."""
    words = ", ".join(map(literal, sorted(missing)))
    return f"case when lower({value}) in ({words}) then null else {value} end"


def kind_of(value, decimal="."):
    """SQL: the kind of a text that is not missing."""
    number = number_with(decimal).pattern
    number_value = as_number(value, decimal)
    return (
        f"case when {value} is null then null "
        f"when lower({value}) in ('true', 'false') then {literal(FLAG)} "
        f"when lower(ltrim({value}, '+-')) in ('inf', 'infinity') then {literal(INFINITE)} "
        f"when regexp_full_match({value}, {literal(number)}) then "
        f"case when coalesce(isinf({number_value}), true) then {literal(INFINITE)} "
        f"else {literal(NUMBER)} end "
        f"when regexp_full_match({value}, {literal(_DATE)}) "
        f"and try_cast({value} as timestamp) is not null then {literal(DATE)} "
        f"when regexp_full_match({value}, {literal(_DATE + _ZONE)}) "
        f"and try_cast({value} as timestamptz) is not null then {literal(ZONED)} "
        f"else {literal(TEXT)} end"
    )


def as_number(value, decimal="."):
    """SQL: a text as a number, null where it is none."""
    if decimal == ",":
        value = f"replace({value}, ',', '.')"
    return f"try_cast({value} as double)"


def unless_nan(number):
    """SQL: a number, or null where it is NaN.

    The engine trusts the statistics of a Parquet file, which leave NaN out: where they are finite,
    it takes ``isnan`` for false and ``x <= 1e300`` for true without a look, but not ``isfinite``.
    """
    return f"case when isfinite({number}) or isinf({number}) then {number} end"


def as_days(value, zoned=False):
    """SQL: a date or a text that is one, as days since 1970 (of Greenwich, where it has a zone)."""
    kind = "timestamptz" if zoned else "timestamp"
    return f"(epoch_us(cast({value} as {kind})) / 86400e6)"


def as_nanoseconds(value, zoned=False):
    """SQL: the same as nanoseconds since 1970, which can be told for about 300 years around it."""
    kind = "timestamptz_ns" if zoned else "timestamp_ns"
    return f"epoch_ns(cast({value} as {kind}))"


def duration_as_days(value):
    """SQL: how many days a duration is."""
    return f"(epoch_us({value}) / 86400e6)"
