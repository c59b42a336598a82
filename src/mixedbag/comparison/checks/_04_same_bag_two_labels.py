"""Whether the same bag is there more than once, with different labels."""

import hashlib

import numpy as np

from mixedbag.comparison.checks._tools import names_of

TITLE = "The same bag has two labels"
LEVEL = "warning"


def find(result):
    bags, labels = result.bags, result.y
    seen: dict = {}
    for i, digest in enumerate(_digests(bags)):
        seen.setdefault(digest, []).append(i)
    torn = [rows for rows in seen.values() if len({str(labels[i]) for i in rows}) > 1]
    if not torn:
        return None
    rows = [i for part in torn for i in part]
    return (
        f"{len(rows)} bags hold exactly the same instances as another bag with another label "
        f"({names_of(bags, torn[0])}).",
        "No model can answer both right: correct the labels, or join the bags.",
    )


def _digests(bags):
    """A name for what a bag holds, whatever the order of its instances."""
    X = bags.instances
    for i in range(len(bags)):
        rows = X[bags.offsets[i] : bags.offsets[i + 1]]
        rows = rows.toarray() if bags.is_sparse else np.asarray(rows)
        lines = sorted(np.ascontiguousarray(row).tobytes() for row in rows + 0.0)  # no −0
        yield hashlib.sha256(b"".join(lines)).digest()
