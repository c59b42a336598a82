"""Tables with named columns: which column is what."""

from collections.abc import Sequence
from dataclasses import dataclass

from mixedbag.datasets._formats.features import Feature, Indicator, finish_features
from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import MISSING, Source, number, shown

BLOCK = 512  # rows turned into numbers at a time: their text fits in the processor's cache
_NO_NAME = MISSING - {"none"}  # "none" is a fine label


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what; every other column is a feature.

    `bag` and `label` default to the columns of these names. `features` asks for some columns only
    (``"type=br"`` for one value of a column of text), `drop` leaves some out. `instance` names the
    instances, `weight` holds bag weights, `group` what a bag belongs to.
    """

    bag: str | None = None
    label: str | None = None
    weight: str | None = None
    instance: str | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()
    group: str | None = None

    def resolve(
        self, source: Source, names: list[str], line: int = 1
    ) -> tuple[dict[str, int], list[tuple[int, Feature | Indicator]]]:
        """Position of each role's column, and pairs of position and empty feature."""
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise source.error(f"two columns are called {shown(repeated[0])}", line)

        def position(name):
            if name not in names:
                raise source.error(
                    f"no column is called {name!r}; the columns are {listed(names)}", line
                )
            return names.index(name)

        roles = {}
        for role in ("bag", "label", "weight", "instance", "group"):
            name = getattr(self, role)
            if name is not None:
                roles[role] = position(name)
            elif role in ("bag", "label") and role in names:
                roles[role] = position(role)
        if "bag" not in roles:
            raise source.error(
                f"say which column holds the bag; the columns are {listed(names)}", line
            )
        if len(set(roles.values())) < len(roles):
            raise source.error(f"one column cannot be two of {', '.join(roles)}", line)
        taken = {*roles.values(), *(position(name) for name in self.drop)}
        features: list[tuple[int, Feature | Indicator]]
        if self.features is None:
            features = [(j, Feature(name)) for j, name in enumerate(names) if j not in taken]
        else:
            features = []
            for name in self.features:
                column, value = column_and_value(name, names)
                j = position(column)
                if j in taken:
                    message = f"column {column!r} is asked for as a feature and as something else"
                    raise source.error(message, line)
                features.append((j, Feature(name) if value is None else Indicator(name, value)))
        if not features:
            raise source.error("no column is left to be a feature", line)
        return roles, features


def column_and_value(name, names):
    """``"type=br"`` as the column "type" and its value "br", unless a column has the whole name."""
    if name not in names:
        for j, letter in enumerate(name):
            if letter == "=" and name[:j] in names:
                return name[:j], name[j + 1 :]
    return name, None


def read_records(source, names, records, columns, header_line=1):
    """Rows from an iterator of (line, fields) under the given column names."""
    roles, features = columns.resolve(source, names, header_line)
    kept: dict[str, list[str]] = {role: [] for role in roles}
    lines = []
    for block_lines, block in blocks(source, records, len(names)):
        for role, j in roles.items():
            kept[role].extend(text.strip() for text in block[j])
        for j, feature in features:
            feature.add(source, block[j], block_lines)
        lines.extend(block_lines)
    if not lines:
        raise source.error("no rows below the header")
    for role in {"bag", "label", "group"} & kept.keys():
        for line, text in zip(lines, kept[role]):
            if text.lower() in _NO_NAME:
                raise source.error(f"no {role} in column {names[roles[role]]!r}", line)
    return assemble(source, columns, kept, [feature for _, feature in features], lines)


def blocks(source, records, width):
    """Records as blocks of columns, each with `width` fields a row or an error."""
    lines, rows = [], []
    for line, record in records:
        if len(record) != width:
            raise source.error(f"{len(record)} values where {width} are expected", line)
        lines.append(line)
        rows.append(record)
        if len(rows) == BLOCK:
            yield lines, list(zip(*rows))
            lines, rows = [], []
    if rows:
        yield lines, list(zip(*rows))


def assemble(source, columns, kept, table, lines):
    """Rows from the texts of the roles and the finished features."""
    values, names, notes = finish_features(source, table, required=columns.features is not None)
    notes += [f"column {name!r} left out: as asked" for name in columns.drop]
    weight = None
    if "weight" in kept:
        rows = lines or [None] * len(kept["weight"])
        weight = [_weight(source, text, line) for text, line in zip(kept["weight"], rows)]
    return Rows(
        instances=values,
        bag=kept["bag"],
        label=kept.get("label"),
        lines=lines,
        feature_names=names,
        instance_ids=kept.get("instance"),
        weight=weight,
        group=kept.get("group"),
        notes=notes,
    )


def _weight(source, text, line):
    value = number(source, str(text), line, "weight")
    if not value >= 0:
        raise source.error(f"weight {text!r} is not a number from 0 upwards", line)
    return value


def listed(names):
    shown_names = ", ".join(repr(name) for name in names[:12])
    return shown_names if len(names) <= 12 else f"{shown_names}, … ({len(names)} in all)"
