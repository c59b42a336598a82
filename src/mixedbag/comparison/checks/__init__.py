"""Checks: what may be wrong with the data or the answer, and what to do about it.

One file a check, ``_NN_name.py``, found by its name and run in the order of the numbers, which stay
for good: people search for them. Each has

- ``TITLE``: what it is about, in a few words;
- ``LEVEL``: "warning" if figures or answers may mislead, "note" if they can be improved;
- ``find(result)``: what it found in a `Comparison`, as a sentence, and what to do, as another; or
  None.
"""

import importlib
import pkgutil
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from mixedbag.comparison import Comparison


class Check(Protocol):
    """What the module of a check has."""

    TITLE: str
    LEVEL: str

    def find(self, result: "Comparison") -> tuple[str, str] | None: ...


class Finding(NamedTuple):
    """What a check found."""

    number: int
    title: str
    level: str
    says: str
    advice: str


def all_checks() -> dict[int, Any]:
    """The checks by their numbers."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    numbered = [(int(m[1]), name) for name in sorted(names) if (m := re.match(r"_(\d\d)_", name))]
    return {n: importlib.import_module(f"{__name__}.{name}") for n, name in numbered}


def run_checks(result: "Comparison") -> list[Finding]:
    """All findings, warnings first.

    A check that breaks must not take the answer away: it becomes a note that says so.
    """
    findings = []
    for number, check in all_checks().items():
        try:
            found, level = check.find(result), check.LEVEL
        except Exception as error:
            found = (
                f"The check itself failed: {type(error).__name__}: {error}.",
                "Please report it.",
            )
            level = "note"
        if found is not None:
            findings.append(Finding(number, check.TITLE, level, *found))
    return sorted(findings, key=lambda finding: (finding.level != "warning", finding.number))
