"""Writes the table of rules and learners in the README: ``python -m docs._tools.readme``.

The learners are those of the packages' own lists, so none can be missing; a test compares.
"""

from itertools import groupby
from pathlib import Path

from mixedbag.learners import all_learners

README = Path(__file__).parents[2] / "README.md"
START, END = "<!-- learners -->\n", "<!-- end -->"
RULES = {
    "any": ("any", "positive if at least one instance is"),
    "unknown": ("unknown", "some examples are unlabelled"),
    "majority": ("majority", "the class of most instances"),
    "count": ("count, share", "how many instances of each class"),
    "sum": ("sum, mean", "a total (or mean) over the instances"),
    "sequence": ("in time", "a label somewhere in a sequence"),
}


def learners_of(rule):
    """The learners of a rule as code, a package a line."""
    found = []
    for kind in all_learners(installed=False):
        rules = ("unknown",) if kind.__name__ == "TransductiveClassifier" else kind._rules
        if rule in rules:
            found.append((kind.__module__.split(".")[1], kind.__name__))
    clauses = []
    for package, members in groupby(sorted(found), key=lambda pair: pair[0]):
        names = ", ".join(f"`{name}`" for _, name in members)
        clauses.append(f"**{package}**: {names}")
    return "<br>".join(clauses)


def table():
    """The lines between the marks."""
    lines = ["| what a bag's label says of its instances | learners |", "|---|---|"]
    for rule, (name, meaning) in RULES.items():
        lines.append(f"| **{name}**: {meaning} | {learners_of(rule)} |")
    return "\n".join(lines) + "\n"


def page():
    """The README with its table made anew."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    return before + START + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    README.write_text(page(), encoding="utf-8")
