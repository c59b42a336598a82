"""Bags on disk: objects come back as they were, and learners learn what they learn in memory."""

import gc
import itertools
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from mixedbag import Bags
from mixedbag._validation import note_unlabelled
from mixedbag.aggregate import AggregateRBFRegressor, AggregateSVR
from mixedbag.boosting import ExpRegBoost
from mixedbag.classics import CitationKNN, MILogisticRegression
from mixedbag.datasets import make_any, read
from mixedbag.engines import Labelled, SpooledBags, _spool
from mixedbag.engines._sampling import sample_bags
from mixedbag.engines._spool import Spool, Workbench
from mixedbag.engines.local import LocalBlocks
from mixedbag.engines.spooled import SpooledBlocks
from mixedbag.margin import BagMarginSVC
from mixedbag.sequence import ARHMMClassifier


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(_spool, "_SMALL", 0)


def parts_of(bags, y, weight=None, cuts=(0, 23, 24, 41)):
    ends = [*cuts[1:], len(bags)]
    return [
        Labelled(bags[a:b], y[a:b], None if weight is None else weight[a:b])
        for a, b in zip(cuts, ends)
    ]


def spooled(bags, y, weight=None, **options):
    return SpooledBags(parts_of(bags, y, weight), **options)


def test_an_object_comes_back_as_it_was():
    table = np.arange(60.0).reshape(6, 10)
    bags = Bags(table.astype(np.float32), [0, 2, 6], ids=["a", "b"], feature_names=range(10))
    odd = {"gap": table[:, ::3], "turned": table.T, "empty": np.empty((0, 3)), "n": 3, "bags": bags}
    odd["objects"] = np.array([None, "x"], dtype=object)
    found = Workbench().take(Workbench().put(odd, Spool()))
    for name in ("gap", "turned", "empty", "objects"):
        np.testing.assert_array_equal(found[name], odd[name])
    assert found["n"] == 3
    assert found["bags"].ids.tolist() == ["a", "b"]
    np.testing.assert_array_equal(found["bags"].instances, bags.instances)
    assert found["bags"].instances.dtype == np.float32
    # Kernels are compiled for arrays that may be written to, or may not.
    assert found["turned"].flags.writeable
    assert not found["bags"].instances.flags.writeable
    found["turned"][:] = 0.0
    np.testing.assert_array_equal(
        Workbench().take(Workbench().put(odd, Spool()))["turned"], table.T
    )


def shifted(block):
    return block._replace(target=block.target + 1.0)


def first_rows(block):
    return block.bags.instances[:2]


def test_what_a_function_leaves_alone_is_not_written_again(monkeypatch):
    written = []
    append = Spool.append
    monkeypatch.setattr(
        Spool,
        "append",
        lambda spool, views: written.append(sum(v.nbytes for v in views)) or append(spool, views),
    )
    blocks = SpooledBlocks.spool([Labelled(Bags(np.ones((1000, 9)), [0, 400, 1000]), np.zeros(2),
                                           np.ones(2))])  # fmt: skip
    assert written.pop() > 72_000
    after = blocks.map(shifted)
    assert written == [16]
    del blocks
    gc.collect()
    (block,) = after.collect(lambda block: block)
    assert block.target.tolist() == [1.0, 1.0]
    assert block.bags.instances.sum() == 9000


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads Linux' list of maps")
def test_what_is_collected_holds_no_file():
    bags = make_any(n_bags=50, random_state=0)
    data = spooled(bags.bags, bags.y)
    rows = data.blocks.collect(first_rows)
    np.testing.assert_array_equal(rows[1], bags.bags[23][:2])
    del data
    gc.collect()
    assert "mixedbag-" not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize(
    ("learner", "tol"),
    [
        (ExpRegBoost(n_rounds=8), 1e-10),
        (ExpRegBoost(n_rounds=20, early_stopping=True, random_state=0), 1e-10),
        (MILogisticRegression(), 1e-6),
        (BagMarginSVC(kernel="linear", loss="squared_hinge", tol=1e-10, class_weight={1: 2}), 1e-9),
        (ARHMMClassifier(n_states=2, order=1, max_iter=3, n_init=1, random_state=0), 1e-6),
    ],
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_model_is_that_of_a_fit_in_memory(learner, tol, n_jobs):
    data = make_any(n_bags=60, n_features=3, random_state=0)
    weight = np.random.default_rng(0).integers(0, 3, 60)
    here = clone(learner).fit(data.bags, data.y, sample_weight=weight).decision_function(data.bags)
    there = clone(learner).fit(spooled(data.bags, data.y, weight, n_jobs=n_jobs))
    np.testing.assert_allclose(there.decision_function(data.bags), here, rtol=tol, atol=tol)


@pytest.mark.parametrize("learner", [AggregateSVR(), AggregateRBFRegressor(random_state=0)])
def test_totals(learner):
    data = make_any(n_bags=60, n_features=3, random_state=0)
    total = np.add.reduceat(data.bags.instances[:, 0], data.bags.offsets[:-1])
    here = clone(learner).fit(data.bags, total).predict(data.bags)
    there = clone(learner).fit(spooled(data.bags, total)).predict(data.bags)
    np.testing.assert_allclose(there, here, rtol=1e-7, atol=1e-7)


def test_more_than_two_classes_and_labels_of_text():
    data = make_any(n_bags=60, n_features=3, random_state=0)
    y = np.array(["none", "few", "many"], dtype=object)[np.arange(60) % 3]
    bags = data.bags.with_instances(
        data.bags.instances + data.bags.spread(np.arange(60) % 3)[:, None]
    )
    here = ExpRegBoost(n_rounds=5).fit(bags, y)
    there = ExpRegBoost(n_rounds=5).fit(spooled(bags, y))
    assert there.classes_.tolist() == ["few", "many", "none"]
    np.testing.assert_allclose(there.decision_function(bags), here.decision_function(bags))


@pytest.fixture
def table(tmp_path):
    """Shuffled rows with a column of text, missing values, and columns that say nothing."""
    rng = np.random.default_rng(0)
    lines = ["mol,active,w,x,kind,nothing,,y"]
    for i in rng.permutation(np.repeat(np.arange(200), 5)).tolist():
        x, y = rng.normal(size=2).round(3) + i % 2
        kind = ["br", "cl", ""][rng.integers(3)]
        shown = "" if rng.random() < 0.1 else y
        lines.append(f"m{i},{'yes' if i % 2 else 'no'},{i % 3},{x},{kind},,{len(lines)},{shown}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_is_read_as_in_memory(table, monkeypatch):
    monkeypatch.setattr("mixedbag.engines.spooled._BLOCK_CELLS", 500)
    whole = read(table, "mol", "active", weight="w")
    bags = SpooledBags.from_table(table, "mol", "active", weight="w")
    used = whole.weight > 0
    assert len(bags.blocks) > 5
    assert bags.feature_names == whole.bags.feature_names == ["x", "kind=br", "kind=cl", "y"]
    assert (len(bags), bags.n_instances) == (used.sum(), whole.bags[used].n_instances)
    assert bags.labels.tolist() == ["no", "yes"]
    assert bags.notes == whole.notes[2:]
    blocks = bags.blocks.collect(lambda block: block)
    assert [name for block in blocks for name in block.bags.ids] == whole.bags.ids[used].tolist()
    rows = np.concatenate([block.bags.instances for block in blocks])
    np.testing.assert_array_equal(rows, whole.bags[used].instances)
    np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), whole.weight[used])
    model = ExpRegBoost(n_rounds=5).fit(bags)
    here = ExpRegBoost(n_rounds=5).fit(whole.bags, whole.y, sample_weight=whole.weight)
    np.testing.assert_allclose(
        model.decision_function(whole.bags), here.decision_function(whole.bags)
    )


def test_what_cannot_be_learned_from_is_refused(table):
    bags = SpooledBags.from_table(table, "mol", "active", drop=["y"])
    with pytest.raises(TypeError, match=r"CitationKNN .* cannot learn on a cluster or from disk"):
        CitationKNN().fit(bags)
    with pytest.raises(ValueError, match="carry their own labels"):
        ExpRegBoost().fit(bags, [0, 1])
    with pytest.raises(ValueError, match="no labels"):
        SpooledBags.from_table(table, "mol")
    data = make_any(n_bags=20, random_state=0)
    with pytest.raises(ValueError, match="no bags to learn from"):
        spooled(data.bags, data.y, np.zeros(20))
    narrow = data.bags.with_instances(data.bags.instances[:, :2])
    with pytest.raises(ValueError, match="a block has the features 2, the first has 10"):
        SpooledBags([Labelled(data.bags, data.y, None), Labelled(narrow, data.y, None)])
    with pytest.raises(ValueError, match="continuous"):
        MILogisticRegression().fit(spooled(data.bags, np.linspace(0, 1, 20)))


@pytest.mark.parametrize(
    ("learner", "value", "refused"),
    [
        (BagMarginSVC(kernel="linear"), 1e13, True),
        (MILogisticRegression(), 1e13, False),
        (MILogisticRegression(), 1e31, True),
        (ExpRegBoost(n_rounds=2), 1e31, False),
    ],
)
def test_values_are_too_large_on_disk_where_they_are_in_memory(learner, value, refused):
    data = make_any(n_bags=60, random_state=0)
    X = data.bags.instances.copy()
    X[3, 1] = value
    bags = data.bags.with_instances(X)
    for labelled in ((bags, data.y), (spooled(bags, data.y), None)):
        if not refused:
            learner.fit(*labelled)
            continue
        with pytest.raises(ValueError, match="too large to compute with"):
            learner.fit(*labelled)


@pytest.mark.parametrize("n_blocks", [1, 5, 40])
def test_a_few_bags_of_all_blocks_are_looked_at_after_a_fit(n_blocks, monkeypatch):
    """Of each block, those of a large disk would not fit in one place."""
    data, looked_at = make_any(n_bags=120, random_state=0), []
    look = MILogisticRegression._check_scores
    monkeypatch.setattr(
        MILogisticRegression,
        "_check_scores",
        lambda model, block: (looked_at.append(len(block.bags)), look(model, block)),
    )
    edges = np.linspace(0, 120, n_blocks + 1).astype(int)
    parts = [Labelled(data.bags[a:b], data.y[a:b], None) for a, b in itertools.pairwise(edges)]
    MILogisticRegression(max_iter=2).fit(SpooledBags(parts))
    assert 15 <= sum(looked_at) <= 20
    assert len(looked_at) == min(n_blocks, 16)


def test_bags_without_a_label_are_left_out(tmp_path):
    lines = [f"m{i},{['', 'yes', 'no'][i % 3]},{i}.5" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["mol,active,x", *lines]))
    bags = SpooledBags.from_table(tmp_path / "t.csv", "mol", "active")
    assert (len(bags), bags.labels.tolist()) == (40, ["no", "yes"])
    assert "20 bags have no label: they are not learned from" in bags.notes
    assert note_unlabelled(1) == ("1 bag has no label: it is not learned from",)


def test_no_thread_is_left_behind():
    data = make_any(n_bags=60, random_state=0)
    before = threading.active_count()
    ExpRegBoost(n_rounds=2).fit(spooled(data.bags, data.y, n_jobs=2))
    assert threading.active_count() == before


LEARNER = """
from pathlib import Path

import numpy as np

from mixedbag import Bags
from mixedbag.boosting import ExpRegBoost
from mixedbag.classics import MILogisticRegression
from mixedbag.engines import Labelled, SpooledBags, _sampling

_sampling.LIMIT = 2000  # rows that fix the grid of thresholds; the data are small here


def blocks(n):
    for seed in range(n):
        rows = np.random.default_rng(seed).normal(size=(20_000, 20))
        yield Labelled(Bags(rows, np.arange(0, 20_001, 10)), np.arange(2000) % 2, None)


for n_blocks in (5, 40):
    bags = SpooledBags(blocks(n_blocks))
    ExpRegBoost(n_rounds=2).fit(bags)
    MILogisticRegression(max_iter=3).fit(bags)
    print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux' process status")
def test_more_instances_need_no_more_memory():
    """The peak of one process: after few blocks, and after eight times as many."""
    command = [sys.executable, "-c", LEARNER]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    peaks = [int(peak) * 1024 / 1e6 for peak in told.split()]
    assert peaks[1] - peaks[0] < 0.2 * 35 * 3.2


@pytest.mark.parametrize("period", [2, 3, 4, 10])
@pytest.mark.parametrize("share", [2, 4, 7, 10])
def test_a_sample_of_bags_is_fair_to_labels_that_take_turns(period, share):
    bags, numbers = Bags(np.ones((4000, 1)), np.arange(4001)), np.arange(4000)
    parts = parts_of(bags, numbers, np.ones(4000), (0, 7, 1900, 1901))
    found = sample_bags(LocalBlocks(parts), 4000 // share).target
    assert abs(len(found) - 4000 // share) <= 4
    turns = np.bincount(found % period, minlength=period)
    assert np.ptp(turns) <= 5 + 0.1 * turns.mean()
    once = sample_bags(LocalBlocks(parts_of(bags, numbers, np.ones(4000), (0,))), 4000 // share)
    np.testing.assert_array_equal(found, once.target)
