"""Whether bags seem to belong together, such as those of a patient, and nobody was told."""

import re

import numpy as np

from mixedbag.comparison.checks._tools import feature_names, names_of

TITLE = "Bags look as if they belonged together"
LEVEL = "warning"
_PERSON = re.compile(
    r"(^|[^a-z])(patient|subject|person|donor|participant|animal|mouse|user|site|hospital|batch|"
    r"plate|slide|family|case)s?([^a-z]|$|id|no|nr)",
    re.IGNORECASE,
)
_FEWEST = 2.0  # bags a group, on average


def find(result):
    if result.protocol.groups is not None:
        return None
    return _by_feature(result) or _by_name(result.bags)


def _by_name(bags):
    """Names such as P07-1, P07-2: the same beginning, then a part of their own."""
    if bags.ids is None or bags.ids.dtype.kind not in "OUS":
        return None
    parts = [re.fullmatch(r"(.*[^\W_])[-_ ./:#]+\w{1,6}", str(name)) for name in bags.ids]
    if not all(parts):
        return None
    begins = np.array([part[1] for part in parts if part])
    groups, counts = np.unique(begins, return_counts=True)
    if len(groups) < 4 or len(bags) / len(groups) < _FEWEST or (counts == 1).mean() > 0.5:
        return None
    same = np.flatnonzero(begins == groups[counts.argmax()])
    return (
        f"The names of the {len(bags)} bags have {len(groups)} beginnings "
        f"({names_of(bags, same)}): are these the same patient, place or day?",
        "If so, name a column that says it with --group: otherwise bags of one patient are both "
        "learned from and asked about, and the figures flatter.",
    )


def _by_feature(result):
    """A column that is the same for all instances of a bag, is shared by bags, and names people."""
    bags = result.bags
    if bags.is_sparse:
        return None
    for j, name in enumerate(feature_names(bags)):
        if not _PERSON.search(name):
            continue
        column = np.asarray(bags.instances[:, j], dtype=np.float64)
        first = column[bags.offsets[:-1]]
        if np.isnan(column).any() or (column != bags.spread(first)).any():
            continue
        n_values = len(np.unique(first))
        # One of two values is a column that a coding made: this patient, or another.
        if n_values >= 2 and len(bags) / n_values >= _FEWEST:
            column_name = name.split("=")[0]
            return (
                f"The column {column_name!r} is the same for all instances of a bag, and bags "
                "share its values: it is used as a feature.",
                f"If it says what belongs together, use it as --group {column_name}; the figures "
                "then tell how the model does on new ones.",
            )
    return None
