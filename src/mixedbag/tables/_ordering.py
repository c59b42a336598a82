"""Rows brought together by bag: bags in the order of their first rows, rows in theirs.

The table ``bags`` has one row a bag: `key`, `n` rows, the first and the last of them, and what all
of them must agree on. Where the rows of every bag are adjacent, nothing is sorted.
"""

from dataclasses import dataclass

from mixedbag.datasets._formats.source import shown
from mixedbag.tables import _kinds as kinds
from mixedbag.tables._written import written

AGREED = {"label": "labels", "weight": "weights", "group": "groups"}


@dataclass(frozen=True)
class Ordering:
    """How rows are fetched in the order of their bags."""

    sql: str  # after "select … "
    keys: tuple = ()  # columns to sort by, or none where the rows come in order
    agreed: tuple = ()  # roles that ``bags`` has a column of
    adjacent: bool = True


def role_values(relation, roles):
    """SQL for the values of roles, given their positions; makes the view ``keyed`` of them."""
    for role, j in roles.items():
        if kinds.is_nested(relation.types[j]):
            name = relation.names[j]
            raise relation.error(f"column {name!r} holds nested or binary values, no {role}s")
    values = {role: _value(relation, role, j) for role, j in roles.items() if role != "instance"}
    relation.con.execute(
        f"create or replace temp view keyed as select row, {selected(values)} from rows"
    )
    _refuse_missing(relation, values, roles)
    if "weight" in values:
        _refuse_negative(relation, roles["weight"])
    return values


def arrange(relation, roles):
    """Make the table ``bags``, given the positions of roles; the `Ordering` of rows."""
    con = relation.con
    values = role_values(relation, roles)
    agreed = tuple(role for role in AGREED if role in values)
    extras = "".join(
        f', arg_min("{role}", row) as "{role}", '
        f'min("{role}") is distinct from max("{role}") as {role}_differs'
        for role in agreed
    )
    con.execute(
        "create or replace table bags as select bag as key, min(row) as first, max(row) as last, "
        f"count(*) as n{extras} from keyed group by bag"
    )
    for role in agreed:
        _refuse_disagreement(relation, role)
    if "label" in agreed:
        _refuse_half_labelled(relation)
    ((n_rows, adjacent),) = relation.ask("select sum(n), bool_and(last - first + 1 = n) from bags")
    if n_rows != relation.n_rows:
        raise relation.error(f"{n_rows} of {relation.n_rows} rows could be read")
    if adjacent and "time" not in values:
        return Ordering("from rows", agreed=agreed)
    timed = ("the_time",) if "time" in values else ()
    join = f"from (select *, {values['bag']} as the_bag"
    join += f", {values['time']} as the_time" if timed else ""
    sql = f"{join} from rows) join bags on the_bag = key"
    return Ordering(sql, ("first", *timed, "row"), agreed, adjacent)


def _value(relation, role, j):
    """SQL for the value of a role: an id, a label, a weight or a time; null where it is missing."""
    if role in ("bag", "group"):
        return id_of(relation, j)
    if role == "time":
        return _time(relation, j)
    column = written(relation, j, kinds.NO_NAME)
    known = kinds.known(kinds.stripped(f"c{j}"), kinds.NO_NAME)
    if role == "weight":
        for kind in column.kinds.keys() - {kinds.NUMBER}:
            text, row, _ = column.kinds[kind]
            raise relation.error(f"weight {shown(text)} is not a number from 0 upwards", row)
        return kinds.as_number(known, column.decimal)
    return label_of(relation, known, column)


def label_of(relation, known, column):
    """Whole numbers where all labels are, else numbers, else true and false, else text."""
    if column.kinds.keys() == {kinds.FLAG}:
        return f"lower({known}) = 'true'"
    if kinds.INFINITE in column.kinds and column.kinds.keys() <= {kinds.INFINITE, kinds.NUMBER}:
        text, row, _ = column.kinds[kinds.INFINITE]
        raise relation.error(f"label {shown(text)} is not finite", row)
    if column.doubt and not relation.parted_by_commas:
        text, row, _ = column.kinds[kinds.TEXT]
        raise relation.error(f"label {shown(text)} is no number: {column.doubt}", row)
    if column.kinds.keys() != {kinds.NUMBER}:
        return known
    if _all_whole(relation, known, "rows"):
        return f"cast({known} as bigint)"
    number = kinds.as_number(known, column.decimal)
    ((largest, whole),) = relation.ask(
        f"select max(abs({number})), bool_and({number} = round({number})) from rows"
    )
    if largest is not None and largest >= 2**53 and whole:
        return known  # as numbers, different labels might be one
    return f"cast({number} as bigint)" if whole else number


def id_of(relation, j):
    """SQL for an id: whole numbers as they are, all else as text without surrounding blanks."""
    if relation.types[j] in kinds.INTEGERS:
        return f"cast(c{j} as bigint)"
    return kinds.known(kinds.stripped(f"c{j}"), kinds.NO_NAME)


def whole_ids(relation, expression, table):
    """SQL for ids as whole numbers where all of them are written as such, else as they are."""
    ((kind,),) = relation.ask(f"select typeof({expression}) from {table} limit 1")
    text = f"cast({expression} as varchar)"
    if kind in kinds.INTEGERS or _all_whole(relation, text, table):
        return f"cast({expression} as bigint)"
    return expression


def _all_whole(relation, text, table):
    """Whether all texts are whole numbers as one would write them, in 64 bits."""
    ((odd,),) = relation.ask(  # which ends at the first that is none
        f"select exists(select 1 from {table} where {text} is not null and not "
        f"(regexp_full_match({text}, '{kinds.WHOLE}') and try_cast({text} as bigint) is not null))"
    )
    return not odd


def selected(values):
    """SQL for values by the names of their columns."""
    return ", ".join(f'{value} as "{name}"' for name, value in values.items())


def _time(relation, j):
    """SQL for when a row was: a number, or days since 1970; whole numbers where days are coarse."""
    kind, name = relation.types[j], relation.names[j]
    if kind in kinds.INTEGERS:
        return f"cast(c{j} as bigint)"
    if kinds.is_numeric(kind):
        return kinds.unless_nan(f"cast(c{j} as double)")
    if kinds.is_date(kind):
        as_time = kinds.as_nanoseconds if kind.endswith("_NS") else kinds.as_days
        return as_time(f"c{j}", kinds.is_zoned(kind))
    if kinds.is_duration(kind):
        return kinds.duration_as_days(f"c{j}")
    column = written(relation, j)
    found, known = column.kinds, kinds.known(kinds.stripped(f"c{j}"))
    allowed = {kinds.NUMBER, kinds.DATE, kinds.ZONED}
    for kind in found.keys() - allowed:
        text, row, _ = found[kind]
        raise relation.error(
            f"column {name!r}: {shown(text)} is no time; write numbers or dates such as "
            "2024-05-31 12:30:00",
            row,
        )
    if len(found) > 1:
        told = ", ".join(
            f"{kind} ({relation.place(row)} has {shown(text)})"
            for kind, (text, row, _) in found.items()
        )
        raise relation.error(
            f"column {name!r} mixes {told}: which came first?", max(f[1] for f in found.values())
        )
    if kinds.NUMBER in found:
        if _all_whole(relation, known, "rows"):
            return f"cast({known} as bigint)"
        return kinds.as_number(known, column.decimal)
    ((fine,),) = relation.ask(f"select bool_or(regexp_matches({known}, '[.][0-9]{{7}}')) from rows")
    as_time = kinds.as_nanoseconds if fine else kinds.as_days
    return as_time(known, kinds.ZONED in found)


def _refuse_missing(relation, values, roles):
    """Refuse a row without bag, weight, group or time; a bag may be without a label."""
    needed = [role for role in values if role != "label"]
    counts = ", ".join(f'min(row) filter (where "{role}" is null)' for role in needed)
    (first,) = relation.ask(f"select {counts} from keyed")
    missing = [(row, role) for row, role in zip(first, needed) if row is not None]
    if missing:
        row, role = min(missing)
        raise relation.error(f"no {role} in column {relation.names[roles[role]]!r}", row)


def _refuse_half_labelled(relation):
    """Refuse a bag with a label in some of its rows only."""
    key = whole_ids(relation, "key", "bags")
    found = relation.ask(
        f"select row, {key}, b.label from keyed k join bags b on k.bag = b.key "
        "where k.label is null and b.label is not null order by row limit 1"
    )
    for row, bag, label in found:
        reason = f"bag {bag!r} has the label {label!r} in another row and none in this"
        raise relation.error(reason, row)


def _refuse_negative(relation, j):
    ((row,),) = relation.ask("select min(row) from keyed where not (weight >= 0)")
    if row is not None:
        ((text,),) = relation.ask(f"select cast(c{j} as varchar) from rows where row = {row}")
        raise relation.error(f"weight {shown(text)} is not a number from 0 upwards", row)


def _refuse_disagreement(relation, role):
    ((wrong,),) = relation.ask(f"select count(*) from bags where {role}_differs")
    if not wrong:
        return
    key = whole_ids(relation, "key", "bags")
    ((bag, one, first, other, row),) = relation.ask(
        f'select {key}, b."{role}", b.first, k."{role}", k.row from keyed k '
        f'join bags b on k.bag = b.key where k."{role}" is distinct from b."{role}" '
        "order by k.row limit 1"
    )
    raise relation.error(
        f"bag {bag!r} has two {AGREED[role]}: {one!r} ({relation.place(first)}) and {other!r}"
        f" ({relation.place(row)})",
        row,
    )
