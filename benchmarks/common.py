"""What benchmarks share: result tables, published figures, timing, repeated cross-validation."""

import csv
import json
import platform
import statistics
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"


@dataclass
class Table:
    """A titled list of rows (dictionaries with the same keys), with notes below it."""

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
    return str(value)


def published(name):
    """Rows of a table of printed figures, ``benchmarks/published/NAME.csv``."""
    with open(FOLDER / "published" / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def timed(call, repeat=1):
    """The result of `call()` and the median seconds of `repeat` runs."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


def machine():
    """What the numbers were measured with."""
    names = ("mixedbag", "numpy", "scipy", "scikit-learn", "numba", "highspy")
    return {
        "python": platform.python_version(),
        "processor": platform.processor() or platform.machine(),
        **{name: version(name) for name in names},
    }


def write_results(name, tables, seconds):
    """Write ``results/NAME.json`` and ``results/NAME.md``."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "benchmark": name,
        "seconds": round(seconds, 1),
        "machine": machine(),
        "tables": [asdict(table) for table in tables],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1, default=float) + "\n")
    text = f"# {name}\n\n" + "\n".join(table.markdown() for table in tables)
    (RESULTS / f"{name}.md").write_text(text)
