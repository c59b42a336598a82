"""Weka ARFF: relational files (one line a bag) and flat ones (one line an instance).

A relational line is ``id,"instance\\ninstance\\n…",class`` and may end in a bag weight, ``{6}``.
Instances inside the quotes may end in a comma.
"""

import re
from dataclasses import dataclass

from mixedbag.datasets._formats.columns import read_records
from mixedbag.datasets._formats.rows import Rows
from mixedbag.datasets._formats.source import number, number_table, shown


@dataclass(frozen=True)
class Attribute:
    name: str
    kind: str  # numeric, nominal, relational, or another type of ARFF's
    values: tuple = ()  # of a nominal attribute
    inner: tuple = ()  # attributes of a relational one


def read_arff(source, columns):
    attributes, data_line, lines = _header(source)
    relational = [a for a in attributes if a.kind == "relational"]
    if not relational:
        names = [a.name for a in attributes]
        records = (_record(source, text, line, attributes) for line, text in lines)
        return read_records(source, names, records, columns, data_line)
    if len(relational) > 1:
        raise source.error("more than one relational attribute")
    return _read_bags(source, attributes, lines, columns)


def _record(source, text, line, attributes):
    """Line and values of an instance of a flat file, each as its attribute declares."""
    fields, weight = _fields(source, text, line)
    if weight is not None:
        raise source.error("a flat file has no weights of instances", line)
    for attribute, field in zip(attributes, fields):
        if field.strip() in ("", "?"):
            continue
        if attribute.kind == "nominal":
            _value(source, attribute, field, line)
        elif attribute.kind == "numeric":
            number(source, field, line, f"value of {attribute.name!r}")
    return line, fields


def _read_bags(source, attributes, lines, columns):
    bag, label, inner = _roles(source, attributes, columns)
    features, notes = _features(source, inner.inner, columns)
    position = {a.name: j for j, a in enumerate(attributes)}
    ids, labels, weights, texts, places = [], [], [], [], []
    weighted = False
    seen: dict = {}
    for line, text in lines:
        fields, weight = _fields(source, text, line)
        if len(fields) != len(attributes):
            raise source.error(f"{len(fields)} values for {len(attributes)} attributes", line)
        name = _value(source, bag, fields[position[bag.name]], line) if bag else str(len(seen))
        if name in seen:
            raise source.error(f"bag {name!r} was given before, in line {seen[name]}", line)
        seen[name] = line
        klass = _value(source, label, fields[position[label.name]], line) if label else None
        instances = _instances(source, fields[position[inner.name]], inner.inner, features, line)
        texts.extend(instances)
        ids.extend([name] * len(instances))
        labels.extend([klass] * len(instances))
        places.extend([line] * len(instances))
        weighted |= weight is not None
        weights.extend([1.0 if weight is None else weight] * len(instances))
    table = number_table(source, texts, places, width=len(features))
    return Rows(
        table,
        ids,
        labels if label else None,
        places,
        [feature.name for feature in features],
        weight=weights if weighted else None,
        notes=notes,
    )


def _roles(source, attributes, columns):
    """The attributes of a line that hold its id, its label and its instances."""
    if columns.weight or columns.instance or columns.group:
        raise source.error("relational ARFF has no columns of weights, groups or instance names")
    inner = next(a for a in attributes if a.kind == "relational")
    others = [a for a in attributes if a is not inner]

    def chosen(name, default):
        if name is None:
            return default
        for attribute in others:
            if attribute.name == name:
                return attribute
        raise source.error(
            f"no attribute of the bags is called {name!r}; there are {[a.name for a in others]}"
        )

    bag = chosen(columns.bag, others[0] if len(others) > 1 else None)
    label = chosen(columns.label, others[-1] if others else None)
    if bag is not None and bag is label:
        raise source.error(f"attribute {bag.name!r} cannot be both bag and label")
    return bag, label, inner


@dataclass(frozen=True)
class InnerFeature:
    """An attribute of the instances that is a number, or one value of a nominal one."""

    name: str
    position: int
    value: str | None = None

    def text(self, fields):
        """Its number, as text, in the fields of an instance."""
        field = fields[self.position]
        return field if self.value is None else str(int(field.strip() == self.value))


def _features(source, inner, columns):
    """The features of the instances, and notes on what became of the other attributes."""
    features, notes = [], []
    for j, attribute in enumerate(inner):
        name, kind = attribute.name, attribute.kind
        if name in columns.drop:
            notes.append(f"attribute {name!r} of the instances left out: as asked")
        elif kind == "numeric":
            features.append(InnerFeature(name, j))
        elif kind == "nominal":
            coded = [InnerFeature(f"{name}={value}", j, value) for value in attribute.values]
            notes.append(f"attribute {name!r} is nominal: {', '.join(f.name for f in coded)}")
            features += coded
        else:
            notes.append(f"attribute {name!r} of the instances left out: it is {kind}, no number")
    attributes = {a.name for a in inner}
    for name in (*(columns.features or ()), *columns.drop):
        if name not in attributes | {f.name for f in features}:
            raise source.error(f"no attribute of the instances is called {name!r}")
    if columns.features is not None:
        features = [f for n in columns.features for f in _named(n, features, inner)]
    if not features:
        raise source.error("the instances have no numeric or nominal attribute")
    return features, notes


def _named(name, features, inner):
    """The features of an attribute, or the one that has the name itself."""
    return [f for f in features if name in (f.name, inner[f.position].name)]


def _instances(source, text, inner, features, line):
    """The instances of a bag, each as the text of its numbers."""
    instances = [row.strip() for row in text.split("\n")]
    while instances and not instances[-1]:
        instances.pop()
    if not instances:
        raise source.error("the bag is empty", line)
    if not all(instances):
        raise source.error("an instance of the bag is empty", line)
    instances = [row[:-1] if row.endswith(",") else row for row in instances]
    if all(a.kind == "numeric" for a in inner) and len(features) == len(inner):
        return instances
    kept = []
    for row in instances:
        fields, _ = _fields(source, row, line)
        if len(fields) != len(inner):
            raise source.error(f"{len(fields)} values for {len(inner)} attributes", line)
        for attribute, field in zip(inner, fields):
            if attribute.kind == "nominal" and field.strip() not in ("", "?"):
                _value(source, attribute, field, line)
        kept.append(",".join(feature.text(fields) for feature in features))
    return kept


def _value(source, attribute, text, line):
    text = text.strip()
    if text in ("", "?"):
        raise source.error(f"no value of {attribute.name!r}", line)
    if attribute.kind == "nominal" and text not in attribute.values:
        raise source.error(f"{shown(text)} is not a declared value of {attribute.name!r}", line)
    return text


# The header ---------------------------------------------------------------------------------------


def _header(source):
    """The attributes, the line of ``@data``, and the numbered lines below it."""
    lines = ((line, text) for line, text in source.lines() if not text.startswith("%"))
    top: list[Attribute] = []
    open_bag: list[Attribute] | None = None
    bag_name = ""
    for line, text in lines:
        word = text.split(None, 1)[0].lower()
        if word == "@relation":
            continue
        if word == "@data":
            if open_bag is not None:
                raise source.error(f"relational attribute {bag_name!r} is not ended", line)
            if not top:
                raise source.error("no attributes are declared", line)
            return top, line, lines
        if word == "@end":
            if open_bag is None:
                raise source.error("@end without a relational attribute", line)
            top.append(Attribute(bag_name, "relational", inner=tuple(open_bag)))
            open_bag = None
        elif word == "@attribute":
            attribute = _attribute(source, text, line)
            into = top if open_bag is None else open_bag
            if attribute.name in {a.name for a in into}:
                raise source.error(f"attribute {attribute.name!r} is declared twice", line)
            if attribute.kind != "relational":
                into.append(attribute)
            elif open_bag is not None:
                raise source.error("a relational attribute inside another is not supported", line)
            else:
                open_bag, bag_name = [], attribute.name
        else:
            raise source.error(f"expected @attribute or @data, found {shown(text)}", line)
    raise source.error("no @data line: is the file cut?")


def _attribute(source, text, line):
    match = _ATTRIBUTE.fullmatch(text)
    if not match:
        raise source.error(f"cannot read the attribute {shown(text)}", line)
    name = _unquoted(match[1])
    kind = match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        values, _ = _fields(source, kind[1:-1], line)
        return Attribute(name, "nominal", tuple(values))
    word = kind.split(None, 1)[0].lower()
    if word in ("numeric", "real", "integer"):
        return Attribute(name, "numeric")
    if word in ("relational", "string", "date"):
        return Attribute(name, word)
    raise source.error(f"unknown type {shown(kind)} of attribute {name!r}", line)


# One line -----------------------------------------------------------------------------------------


def _fields(source, text, line):
    """The values of a line, unquoted, and its weight (or None)."""
    weight = None
    tail = _WEIGHT.search(text)
    if tail:
        weight = number(source, tail[1], line, "weight")
        if not weight >= 0:
            raise source.error(f"weight {shown(tail[1])} is not a number from 0 upwards", line)
        text = text[: tail.start()]
    fields, position = [], 0
    while True:
        match = _FIELD.match(text, position)
        if not match:
            rest = text[position:].lstrip()
            reason = "a quote is not closed" if rest[:1] in ("'", '"') else "cannot read"
            raise source.error(f"{reason}: {shown(rest)}", line)
        fields.append(_unquoted(match[1].strip()))
        position = match.end()
        if not match[2]:
            return fields, weight


def _unquoted(text):
    if len(text) < 2 or text[0] not in "'\"":
        return text
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])


_QUOTED = r"""'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"]\S*)\s+(\S.*)", re.IGNORECASE)
# Possessive: a long run of blanks is tried once, not in every way to cut it.
_FIELD = re.compile(rf"\s*+({_QUOTED}|[^,'\"{{}}]*+)\s*+(,|$)")
_WEIGHT = re.compile(r",\s*\{([^{},]*)\}\s*$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
