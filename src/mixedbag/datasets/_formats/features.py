"""Columns of a table as they turn from text into numbers, and what becomes of each."""

from dataclasses import dataclass, field

import numpy as np

from mixedbag.datasets._formats.source import MISSING, number, shown

_FLAGS = {"true": 1.0, "false": 0.0}
_MOST_VALUES = 30  # of a column of text that is coded


@dataclass
class Feature:
    """One column. Missing values become NaN; text becomes the number of its value."""

    name: str
    parts: list = field(default_factory=list)
    # Kind of value -> (line, text) where it first appears.
    first: dict = field(default_factory=dict)
    values: dict = field(default_factory=dict)  # of text, each with its number

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
            if len(self.values) <= _MOST_VALUES:
                self.values.setdefault(text, float(len(self.values)))
            return self.values.get(text, np.nan)
        self.first.setdefault("number", (line, text))
        return number(source, text, line, f"column {self.name!r}: value")

    def finish(self, source):
        """The columns it makes, by name; why it makes none (or None); what to tell of it."""
        values = np.concatenate(self.parts)
        if not self.first:
            return {self.name: values}, "no row has a value", []
        if len(self.first) > 1:
            found = ", ".join(
                f"{kind} ({_place(line)} has {shown(text)})"
                for kind, (line, text) in self.first.items()
            )
            raise source.error(
                f"column {self.name!r} mixes {found}; repair it, or leave the column out",
                max(line or 0 for line, _ in self.first.values()) or None,
            )
        (kind,) = self.first
        if kind == "text":
            return self._indicators(values)
        reason = None if kind in ("number", "true or false") else f"its values are {kind}"
        return {self.name: values}, reason, _on_missing(self.name, values)

    def _indicators(self, codes):
        """A column of zeros and ones for every value of a text; none where it has no value."""
        line, text = self.first["text"]
        n_values = len(self.values)
        if n_values > _MOST_VALUES or 2 * n_values > len(codes):
            many = f"more than {_MOST_VALUES}" if n_values > _MOST_VALUES else n_values
            what = f"text of {many} values in {len(codes)} rows"
            return {}, f"it is {what} ({_place(line)} has {shown(text)})", []
        if n_values == 1:
            return {}, f"it has no other value than {shown(text)}", []
        names = {f"{self.name}={value}": code for value, code in sorted(self.values.items())}
        notes = [f"column {self.name!r} is text: {', '.join(names)} say which"]
        columns = {name: (codes == code).astype(np.float64) for name, code in names.items()}
        return columns, None, notes + _on_missing(self.name, codes, "none of these")


@dataclass
class Indicator:
    """One where a column of text has a value, as a model asks for that was fitted on such."""

    name: str
    value: str
    parts: list = field(default_factory=list)
    first: dict = field(default_factory=dict)

    def add(self, source, texts, lines):
        self.first.setdefault("number", (lines[0], texts[0]))
        self.parts.append(np.array([float(text.strip() == self.value) for text in texts]))

    def finish(self, source):
        return {self.name: np.concatenate(self.parts)}, None, []


def finish_features(source, table, required=False):
    """The usable features as one array, their names, and what to tell about the others."""
    found, notes = {}, []
    for feature in table:
        columns, reason, more = feature.finish(source)
        if feature.name.startswith("unnamed ") and _numbers_rows(columns.get(feature.name, [])):
            reason = "it only numbers the rows"
        if required and feature.first:  # asked for by name: a column without values stays, as NaN
            if reason is not None:
                raise source.error(f"column {feature.name!r} cannot be a feature: {reason}")
        elif reason is not None and not required:
            notes.append(f"column {feature.name!r} left out: {reason}")
            continue
        notes += more
        for name, column in columns.items():
            if name in found:
                raise source.error(f"two columns are called {shown(name)}")
            if _numbers_rows(column):
                notes.append(
                    f"column {name!r} only numbers the rows, yet was kept as a feature; "
                    "drop it if it is an id"
                )
            found[name] = column
    if not found:
        raise source.error("no column of numbers is left to be a feature: " + "; ".join(notes))
    return np.column_stack(list(found.values())), list(found), notes


def _on_missing(name, column, read_as="NaN"):
    missing = int(np.count_nonzero(np.isnan(column)))
    return [f"column {name!r}: {missing} missing values read as {read_as}"] if missing else []


def _numbers_rows(column):
    return len(column) > 2 and bool((np.diff(column) == 1).all())


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _place(line):
    return "a row" if line is None else f"line {line}"
