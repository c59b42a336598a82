"""The plain-text formats without a header, told apart by many lines.

One line is not enough: without its full stop a line of UCI C4.5 reads as one of
``instance,bag,label,values…``, whose bags and labels are in other columns.
"""

import re

_VALUE = r"\s*(?:[-+.\d][-+.\deE]*|\?|[nN][aA][nN]?|)\s*"
_LAYOUTS = {
    "colons": re.compile(r"[^\s:,]+:[^\s:,]+:[^\s:,]+( |$)"),
    "sparse-commas": re.compile(r"[^,:]+,[^,:]+,[^,:]+,\d+:"),
    "c45": re.compile(rf"[^,]+,[^,]+(,{_VALUE})+\.$"),
    # The instance has a name, not just a number, and no full stop ends the line.
    "commas": re.compile(rf"(?=[^,]*[^\d,.\s-])[^,]+,[^,]+,[^,]+(,{_VALUE})+(?<!\.)$"),
}
_SIZES = re.compile(r"\d+\s+\d+$")
_NUMBER = re.compile(r"[-+]?[\d.]+$")


def has_layout(name):
    """A recogniser of files whose lines have the named layout.

    Lines of two layouts, or a first line that may be a header, are an error.
    """

    def recognises(source, texts):
        below_sizes = len(texts) > 1 and _SIZES.match(texts[0]) is not None
        first = texts[below_sizes] if texts else ""
        if _is_header(first) or _layout(first) != name:
            return False
        lines = source.sample[below_sizes:]
        _check_lines(source, lines, name)
        if name == "commas":
            _check_columns(source, lines)
        return True

    return recognises


def _check_lines(source, lines, name):
    """Refuse lines of another layout than that of the first; the reader judges those of none."""
    for line, text in lines[1:]:
        other = _layout(text)
        if other not in (None, name):
            raise source.error(
                f"line {lines[0][0]} reads as format {name!r}, line {line} as {other!r}: repair "
                "the one that is wrong, or say which it is with format=",
                line,
            )


def _layout(text):
    return next((name for name, pattern in _LAYOUTS.items() if pattern.match(text)), None)


def _is_header(text):
    """A line with a field "bag" names columns, even when the others are called 1, 2, 3."""
    return any(field.strip().strip("'\"").lower() == "bag" for field in text.split(","))


def _check_columns(source, lines):
    """Refuse lines whose columns may mean something else than instance, bag, label, values."""
    rows = [text.split(",") for _, text in lines if _layout(text) == "commas"]
    if len(rows) < 2:
        return
    instances, bags, labels = ([row[j].strip() for row in rows] for j in range(3))
    if len(set(bags)) == len(rows) > len(set(instances)):
        raise source.error(
            "the first column repeats and the second does not: 'commas' (instance,bag,label,…) or "
            "'c45' (bag,instance,…,class) without full stops? Say which it is with format="
        )
    others = set(labels[1:])
    values = [value.strip() for value in rows[0][3:]]
    counting = values in ([str(k + start) for k in range(len(values))] for start in (0, 1))
    wordy = not _NUMBER.match(labels[0]) and all(map(_NUMBER.match, others))
    if labels[0] not in others and (wordy or (counting and len(values) > 1)):
        raise source.error(
            f"the first line may name the columns: no other line has the label {labels[0]!r}. Say "
            "which column holds the bag with bag=, or that there is no header with format='commas'",
            lines[0][0],
        )
