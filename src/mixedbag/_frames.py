"""Bags beside data frames and notebooks: what `Bags` hands over, and labels in several columns."""

import html
import warnings

import numpy as np

from mixedbag._per_cent import NOTE, as_shares
from mixedbag._tables import plain


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


def with_notes(data, name):
    """The labels, those in per cent as shares, and what of the table users are told."""
    notes = _worth_a_warning(data.notes)
    shares = None if data.y is None else as_shares(data.y, data.bags.sizes, name)
    return (data.y, notes) if shares is None else (shares, [*notes, NOTE])


def _worth_a_warning(notes):
    return [note for note in notes if "left out" in note or "dates" in note]


def with_shares(read, roles, frame, bag, features, label, size):
    """`Bags.from_frame` for labels in several columns, or beside a column of sizes."""
    labels = list(label) if isinstance(label, (list, tuple)) else [label]
    if None in labels or not labels:
        raise ValueError("size stands beside a label that counts: pass label, too")
    if features is None:
        known = {bag, size, *labels}
        features = [name for name in list(frame.columns) if name not in known]
    data = read(frame, roles(bag, labels[0], features=features))
    bags = data.bags
    for note in _worth_a_warning(data.notes):
        warnings.warn(note, UserWarning, stacklevel=3)

    def also(name):
        return as_numbers(read(frame, roles(bag, name, features=features[:1])).y)

    def as_numbers(y):
        shares = as_shares(y, bags.sizes, by_sizes=False)
        return np.asarray(y if shares is None else shares, dtype=np.float64)

    y = np.column_stack([as_numbers(data.y), *map(also, labels[1:])])
    if size is not None:
        total = also(size)
        if not (total > 0).all():
            raise ValueError(f"{bags.name(int((total > 0).argmin()))} has no size above zero")
        y = y / total[:, None]
    elif len(labels) > 1:
        whole = y.sum(axis=1)
        told = ~np.isnan(whole)
        if not np.allclose(whole[told], bags.sizes[told]) and (whole[told] > 0).all():
            y = y / whole[:, None]  # per cent, or counts of more than the rows
    return bags, y[:, 0] if len(labels) == 1 and label == labels[0] else y
