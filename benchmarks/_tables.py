"""Tables as Markdown, the papers' printed figures, and the line that says where rows come from."""

import csv
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"


@dataclass
class Table:
    """A titled list of rows (dictionaries), with notes below it."""

    title: str
    rows: list[dict] = field(default_factory=list)
    notes: str = ""

    def markdown(self):
        if not self.rows:
            return f"## {self.title}\n\n(no rows)\n"
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        lines = [f"## {self.title}", "", "| " + " | ".join(columns) + " |"]
        lines.append("|" + "|".join(" --- " for _ in columns) + "|")
        for row in self.rows:
            lines.append("| " + " | ".join(_cell(row.get(c, "")) for c in columns) + " |")
        if self.notes:
            lines += ["", self.notes]
        return "\n".join(lines) + "\n"


def _cell(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def published(name):
    """Rows of a table of printed figures, ``benchmarks/published/NAME.csv``."""
    with open(FOLDER / "published" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def only(rows, without=(), **wanted):
    """The rows with these figures, without the columns that all have alike or that are named."""
    drop = {*wanted, *([without] if isinstance(without, str) else without)}
    return [
        {key: value for key, value in row.items() if key not in drop}
        for row in rows
        if all(row.get(key) == value for key, value in wanted.items())
    ]


def grouped(rows, *keys):
    """``{values of keys: rows}``, in the order of their first rows."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def plus_minus(mean, spread):
    return f"{mean:.1f} ± {spread:.1f}"


def provenance(rows, n_cases, code, versions):
    """Where the rows of a page come from, for its last lines."""
    lines = [f"{len(rows)} of {n_cases} cases."]
    for carried, n in Counter(row.carried for row in rows if row.carried).items():
        lines.append(f"{n} carried over, not computed again: {carried}.")
    stamped = [row for row in rows if not row.carried]
    for (ran, stood), some in _by_origin(stamped).items():
        days = sorted({row.when[:10] for row in some})
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        state = "fresh" if (ran, stood) == (code, _text(versions)) else "stale"
        seconds = sum(row.seconds for row in some)
        lines.append(
            f"{len(some)} computed {span} in {seconds:.3g} s together by code {ran} on {stood}"
            f" ({state} when this page was written)."
        )
    return "---\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"


def _by_origin(rows):
    found = {}
    for row in rows:
        found.setdefault((row.code, _text(row.versions)), []).append(row)
    return found


def _text(versions):
    return ", ".join(f"{name} {number}" for name, number in versions.items())
