"""Whether members of the model chose settings at the edge of what was tried."""

from collections import Counter

TITLE = "Settings at the edge of the grid"
LEVEL = "note"
_MOSTLY = 2 / 3


def find(result):
    found = []
    for candidate in result.finalists():
        chosen = [trial.setting for trial in result.trials(candidate).values()]
        for name, values in candidate.grid.items():
            if len(values) < 3 or not all(_is_number(value) for value in values):
                continue
            value, times = Counter(s[name] for s in chosen).most_common(1)[0]
            if value in (min(values), max(values)) and times >= _MOSTLY * len(chosen):
                which = "largest" if value == max(values) else "smallest"
                own = name.split("__")[-1]
                found.append(f"{candidate.name} took the {which} {own} tried, {value:g}")
    if not found:
        return None
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return (
        "; ".join(found[:3]) + more + ".",
        "Still better settings may lie beyond: search there with GridSearchCV, if it matters.",
    )


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)
