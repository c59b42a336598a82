"""Made-up visits to web pages: events of known kinds at known times."""

import numpy as np
import pytest

from mixedbag.datasets import make_traffic
from mixedbag.datasets.traffic import A_DAY, EVENTS, LONGEST, SHORTEST


def table(data, n_bags):
    """Visits and hidden labels, a row a page."""
    shape = n_bags, -1
    return data.bags.instances.reshape(shape), data.instance_labels.reshape(shape)


@pytest.mark.parametrize("kind", EVENTS)
def test_an_event_changes_its_own_stretch_alone(kind, monkeypatch):
    data = make_traffic(20, days=3, target=kind, random_state=0)
    for name, event in list(EVENTS.items()):  # the same draws, and nothing comes of them

        def nothing(rng, x, event=event):
            event(rng, x.copy())
            return x

        monkeypatch.setitem(EVENTS, name, nothing)
    plain = make_traffic(20, days=3, target=kind, random_state=0)
    visits, found = table(data, 20)
    usual, _ = table(plain, 20)
    assert data.y.sum() == 10
    for label, x, before, where in zip(data.y, visits, usual, found == 1):
        assert where.any() == label
        if label:
            inside = np.flatnonzero(where)
            np.testing.assert_array_equal(x[~where], before[~where])
            assert np.mean(x[where] != before[where]) > 0.9
            assert inside[-1] - inside[0] < LONGEST
            if kind != "spikes":
                assert len(inside) == inside[-1] - inside[0] + 1 >= SHORTEST


def steps(x):
    return np.abs(np.diff(x)).mean()


@pytest.mark.parametrize(
    ("kind", "measure", "larger"),
    [
        ("noise", steps, True),
        ("average", steps, False),
        ("cutoff", np.mean, False),
        ("cutoff", np.std, False),
    ],
)
def test_events_are_what_their_names_say(kind, measure, larger):
    visits, found = table(make_traffic(20, days=4, target=kind, random_state=1), 20)
    for x, where in zip(visits, found == 1):
        if where.any():
            first, last = np.flatnonzero(where)[[0, -1]]
            outside = max(x[:first], x[last + 1 :], key=len)
            assert (measure(x[where]) > measure(outside)) == larger


def test_single_spikes_stand_out_from_their_neighbours():
    visits, found = table(make_traffic(20, days=3, target="spikes", random_state=2), 20)
    for x, where in zip(visits, found == 1):
        near = np.flatnonzero(where[1:-1] & ~where[:-2] & ~where[2:]) + 1
        assert (x[near] - (x[near - 1] + x[near + 1]) / 2 > 0.4).all()


def test_every_kind_is_as_frequent_without_a_target():
    data = make_traffic(40, target=None, random_state=0)
    names, counts = np.unique(data.y, return_counts=True)
    assert set(names) == {"none", *EVENTS}
    assert (counts == 4).all()
    _, found = table(data, 40)
    assert data.bags.sizes.tolist() == [7 * A_DAY] * 40
    for kind, row in zip(data.y, found):
        assert set(row) == {"none", kind}


def test_a_seed_gives_the_same_series():
    one, two, other = (make_traffic(6, days=3, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.bags.instances, two.bags.instances)
    assert not np.array_equal(one.bags.instances, other.bags.instances)


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"target": "sale"}, "spikes"), ({"days": 2}, "3"), ({"n_bags": 0}, "1")],
)
def test_senseless_requests(options, reason):
    with pytest.raises(ValueError, match=reason):
        make_traffic(**options)
