"""Bags beside data frames and notebooks: what `Bags` hands over, and which notes it passes on."""

import html

import numpy as np

from mixedbag._per_cent import NOTE
from mixedbag._tables import plain

UNKNOWN = "no feature stands for"  # of a value of text


def to_frame(bags, y, bag, label, backend):
    """A data frame with a row an instance: see `Bags.to_frame`."""
    import narwhals.stable.v2 as nw

    X = bags.instances.toarray() if bags.is_sparse else bags.instances
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    taken = {bag, label} if y is not None else {bag}
    if taken & set(names) or len(set(names)) < len(names):
        raise ValueError(f"columns would have one name: {sorted(taken)} and {names[:12]}")
    ids = np.arange(len(bags)) if bags.ids is None else bags.ids
    columns = {bag: bags.spread(np.asarray(ids)).tolist()}
    if y is not None:
        y = np.asarray(y)
        if len(y) != len(bags):
            raise ValueError(f"{len(y)} labels for {len(bags)} bags")
        columns[label] = bags.spread(y).tolist()
    columns.update({name: X[:, j] for j, name in enumerate(names)})
    return nw.from_dict(columns, backend=backend).to_native()


def to_html(bags):
    """What a notebook shows: how many of what, and the first bags."""
    names = bags.feature_names or [str(j) for j in range(bags.n_features)]
    sizes = bags.sizes if len(bags) else np.zeros(1, dtype=int)
    facts = (
        f"{len(bags)} bags of {sizes.min()} to {sizes.max()} instances (median "
        f"{np.median(sizes):g}), {bags.n_features} features: {', '.join(names[:8])}"
        + (", …" if len(names) > 8 else "")
    )
    rows = "".join(
        f"<tr><td>{html.escape(str(i if bags.ids is None else plain(bags.ids[i])))}</td>"
        f"<td>{bags.sizes[i]}</td></tr>"
        for i in range(min(5, len(bags)))
    )
    more = f"<tr><td colspan=2>… {len(bags) - 5} more</td></tr>" if len(bags) > 5 else ""
    return (
        f"<div><p>{html.escape(repr(bags))}</p><p>{html.escape(facts)}</p>"
        f"<table><tr><th>bag</th><th>instances</th></tr>{rows}{more}</table></div>"
    )


def worth_a_warning(notes):
    """What of the notes on a table users should not miss."""
    words = ("left out", "dates", NOTE, "is taken as a feature", UNKNOWN)
    return [note for note in notes if any(word in note for word in words)]
