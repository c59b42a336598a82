"""Tables with named columns: which column is what, and what becomes of each."""

from dataclasses import dataclass, field

import numpy as np

from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import MISSING, number, shown

BLOCK = 512  # rows turned into numbers at a time: their text fits in the processor's cache
_FLAGS = {"true": 1.0, "false": 0.0}
_NO_NAME = MISSING - {"none"}  # "none" is a fine label


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what; every other column is a feature.

    `bag` and `label` default to the columns of these names. `features` asks for some columns only,
    `drop` leaves some out. `instance` names the instances, `weight` holds bag weights, `group`
    what a bag belongs to.
    """

    bag: str | None = None
    label: str | None = None
    weight: str | None = None
    instance: str | None = None
    features: tuple | None = None
    drop: tuple = ()
    group: str | None = None

    def resolve(self, source, names, line=1):
        """Position of each role's column, and the positions of the features."""
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise source.error(f"two columns are called {shown(repeated[0])}", line)

        def position(name):
            if name not in names:
                raise source.error(
                    f"no column is called {name!r}; the columns are {_listed(names)}", line
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
                f"say which column holds the bag; the columns are {_listed(names)}", line
            )
        if len(set(roles.values())) < len(roles):
            raise source.error(f"one column cannot be two of {', '.join(roles)}", line)
        taken = {*roles.values(), *(position(name) for name in self.drop)}
        if self.features is None:
            features = [j for j in range(len(names)) if j not in taken]
        else:
            features = [position(name) for name in self.features]
            for j in features:
                if j in taken:
                    message = f"column {names[j]!r} is asked for as a feature and as something else"
                    raise source.error(message, line)
        if not features:
            raise source.error("no column is left to be a feature", line)
        return roles, features


@dataclass
class Feature:
    """One column, as it turns from text into numbers. Missing values become NaN."""

    name: str
    parts: list = field(default_factory=list)
    first: dict = field(
        default_factory=dict
    )  # kind of value -> (line, text) where it first appears

    def add(self, source, texts, lines):
        try:
            values = np.array([float(text) for text in texts])
            if np.isfinite(values).all() and "_" not in "".join(texts):
                self.first.setdefault("number", (lines[0], texts[0]))
                self.parts.append(values)
                return
        except ValueError:
            pass
        self.parts.append(np.array([self._value(source, *pair) for pair in zip(texts, lines)]))

    def _value(self, source, text, line):
        text = text.strip()
        if text.lower() in MISSING:
            return np.nan
        if text.lower() in _FLAGS:
            self.first.setdefault("true or false", (line, text))
            return _FLAGS[text.lower()]
        if not _is_number(text):
            self.first.setdefault("text", (line, text))
            return np.nan
        self.first.setdefault("number", (line, text))
        return number(source, text, line, f"column {self.name!r}: value")

    def finish(self, source):
        """The values, and why the column cannot be a feature (or None)."""
        values = np.concatenate(self.parts)
        if not self.first:
            return values, "no row has a value"
        if len(self.first) > 1:
            found = ", ".join(
                f"{kind} ({_place(line)} has {shown(text)})"
                for kind, (line, text) in self.first.items()
            )
            raise source.error(
                f"column {self.name!r} mixes {found}; repair it, or leave the column out",
                max(line or 0 for line, _ in self.first.values()) or None,
            )
        if "text" in self.first:
            line, text = self.first["text"]
            return values, f"it is text ({_place(line)} has {shown(text)})"
        return values, None


def read_records(source, names, records, columns, header_line=1):
    """Rows from an iterator of (line, fields) under the given column names."""
    roles, features = columns.resolve(source, names, header_line)
    kept = {role: [] for role in roles}
    table = [Feature(names[j]) for j in features]
    lines = []
    for block_lines, block in blocks(source, records, len(names)):
        for role, j in roles.items():
            kept[role].extend(text.strip() for text in block[j])
        for feature, j in zip(table, features):
            feature.add(source, block[j], block_lines)
        lines.extend(block_lines)
    if not lines:
        raise source.error("no rows below the header")
    for role in {"bag", "label", "group"} & kept.keys():
        for line, text in zip(lines, kept[role]):
            if text.lower() in _NO_NAME:
                raise source.error(f"no {role} in column {names[roles[role]]!r}", line)
    return assemble(source, columns, kept, table, lines)


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


def finish_features(source, table, required=False):
    """The usable features as one array, their names, and what to tell about the others."""
    values, names, notes = [], [], []
    for feature in table:
        column, reason = feature.finish(source)
        if reason is None and feature.name.startswith("unnamed ") and _numbers_rows(column):
            reason = "it only numbers the rows"
        if required and feature.first:  # asked for by name: a column without values stays, as NaN
            if reason is not None:
                raise source.error(f"column {feature.name!r} cannot be a feature: {reason}")
        elif reason is not None and not required:
            notes.append(f"column {feature.name!r} left out: {reason}")
            continue
        missing = int(np.count_nonzero(np.isnan(column)))
        if missing:
            notes.append(f"column {feature.name!r}: {missing} missing values read as NaN")
        if _numbers_rows(column):
            notes.append(
                f"column {feature.name!r} only numbers the rows, yet was kept as a feature; "
                "drop it if it is an id"
            )
        values.append(column)
        names.append(feature.name)
    if not values:
        raise source.error("no column of numbers is left to be a feature: " + "; ".join(notes))
    return np.column_stack(values), names, notes


def header_names(names):
    """Header names without surrounding blanks; a column without one is called after its place."""
    return [name.strip() or f"unnamed {j}" for j, name in enumerate(names, start=1)]


def _numbers_rows(column):
    return len(column) > 2 and bool((np.diff(column) == 1).all())


def _weight(source, text, line):
    value = number(source, str(text), line, "weight")
    if not value >= 0:
        raise source.error(f"weight {text!r} is not a number from 0 upwards", line)
    return value


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _place(line):
    return "a row" if line is None else f"line {line}"


def _listed(names):
    shown_names = ", ".join(repr(name) for name in names[:12])
    return shown_names if len(names) <= 12 else f"{shown_names}, … ({len(names)} in all)"
