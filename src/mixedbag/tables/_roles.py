"""Which columns of a table hold what."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields

from mixedbag.datasets._formats.columns import column_and_value, listed
from mixedbag.datasets._formats.source import shown

_NAMED = ("bag", "label", "weight", "instance", "group", "time")
_SEVERAL = ("label", "features", "drop")  # may be more columns than one


@dataclass(frozen=True)
class Roles:
    """Which columns of a table hold what; every other column is a feature.

    `bag` and `label` default to the columns of these names, however capitalised. `features` asks
    for some columns only (``"type=br"`` for one value of a column of text), `drop` leaves some out.
    `instance` names the instances, `weight` holds bag weights, `group` what a bag belongs to, and
    `time` orders the rows of a bag.

    Parameters
    ----------
    bag : str, optional
        Column with the bag of each row.
    label : str, optional
        Column with the label of each row's bag; ``()`` for none, whatever columns are called.
    weight : str, optional
        Column with the bags' weights.
    instance : str, optional
        Column with the names of the instances.
    group : str, optional
        Column with what a bag belongs to, such as its patient.
    time : str, optional
        Column that orders the rows of a bag.
    features : sequence of str, optional
        The columns to use as features, if not all others.
    drop : sequence of str
        Columns to leave out.

    See Also
    --------
    read : Reads a table with these roles.
    mixedbag.datasets.read : Takes them as arguments of their own.

    Examples
    --------
    >>> from mixedbag.tables import Roles
    >>> Roles(bag="molecule", drop=["comment"]).drop
    ('comment',)
    """

    bag: str | None = None
    label: str | tuple[str, ...] | None = None
    weight: str | None = None
    instance: str | None = None
    group: str | None = None
    time: str | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()

    def __post_init__(self):
        for field in fields(self):  # data frames may name columns by numbers, or by tuples
            value = getattr(self, field.name)
            if field.name in _SEVERAL and isinstance(value, (list, tuple)):
                object.__setattr__(self, field.name, tuple(map(str, value)))
            elif value is not None:
                object.__setattr__(self, field.name, str(value))

    def names(self, known: Sequence[str]) -> set[str]:
        """Names of the columns that are asked for, given those of the table for the defaults."""
        asked = {*(self.features or ())}
        for role in _NAMED:
            told = getattr(self, role)
            if isinstance(told, tuple):
                asked.update(told)
            elif told is not None:
                asked.add(told)
            elif role in ("bag", "label") and default_column(role, known) is None:
                asked.add(role)
        return asked

    def positions(self, names: Sequence[str], error: Callable[[str], Exception]) -> dict[str, int]:
        """Position of the column of each role; `error(reason)` makes what is raised."""
        counts = Counter(names)
        repeated = sorted(name for name, count in counts.items() if count > 1)
        if repeated:
            raise error(f"two columns are called {shown(repeated[0])}")
        places = {name: j for j, name in enumerate(names)}
        found = {}
        for role in _NAMED:
            asked = getattr(self, role)
            if asked == ():
                continue
            if asked is not None:
                found[role] = self._place(asked, places, error)
            elif role in ("bag", "label"):
                default = default_column(role, names)
                if default is not None:
                    found[role] = places[default]
        if "bag" not in found:
            raise error(f"say which column holds the bag; the columns are {listed(names)}")
        if len(set(found.values())) < len(found):
            raise error(f"one column cannot be two of {', '.join(found)}")
        return found

    def feature_positions(
        self, names: Sequence[str], taken: Iterable[int], error: Callable[[str], Exception]
    ) -> dict[str, tuple[int, str | None]]:
        """Pairs of a column's position and the value of it that is asked for, or None, by name."""
        places = {name: j for j, name in enumerate(names)}
        taken = {*taken, *(self._place(name, places, error) for name in self.drop)}
        features: dict[str, tuple[int, str | None]]
        if self.features is None:
            features = {name: (j, None) for j, name in enumerate(names) if j not in taken}
        else:
            features, known = {}, {*names, *map(str.strip, names)}
            for name in self.features:
                column, value = column_and_value(name if name in places else name.strip(), known)
                j = self._place(column, places, error)
                if j in taken:
                    raise error(
                        f"column {column!r} is asked for as a feature and as something else"
                    )
                features[name] = (j, value)
        if not features:
            raise error("no column is left to be a feature")
        return features

    @staticmethod
    def _place(name, places, error):
        """The position of a column: blanks around a name, which text files lose, do not count."""
        if name in places:
            return places[name]
        alike = [j for other, j in places.items() if other.strip() == name.strip()]
        if len(alike) != 1:
            absent = error(f"no column is called {name!r}; the columns are {listed(list(places))}")
            absent.column = name
            raise absent
        return alike[0]


def default_column(role, names):
    """The column called like a role: exactly, or else the only one that differs in capitals."""
    if role in names:
        return role
    alike = [name for name in names if name.strip().lower() == role]
    return alike[0] if len(alike) == 1 else None
