"""`Bags`: builders, slicing, errors that name the bag, and fuzzing of both."""

import pickle
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mixedbag import Bags, as_bags
from mixedbag.bags import bag_labels
from mixedbag.embeddings import VocabularyClassifier

SIZES = [3, 1, 4, 2]


@pytest.fixture(params=["dense", "sparse"])
def bags(request):
    rows = np.arange(20.0).reshape(10, 2)
    rows = sparse.csr_array(rows) if request.param == "sparse" else rows
    return Bags(rows, np.cumsum([0, *SIZES]), ids=list("abcd"), feature_names=["pH", "mass"])


def dense(x):
    return x.toarray() if sparse.issparse(x) else np.asarray(x)


# Shape and slicing -------------------------------------------------------------------------------


def test_what_it_says_of_itself(bags):
    assert len(bags) == 4
    assert bags.shape == (4, 2)
    assert bags.n_instances == 10
    assert bags.sizes.tolist() == SIZES
    assert bags.bag_of.tolist() == [0, 0, 0, 1, 2, 2, 2, 2, 3, 3]
    assert "4 bags, 10 instances × 2 features" in repr(bags)
    assert [len(dense(bag)) for bag in bags] == SIZES
    assert bags.name(2) == "bag 2 (id 'c')"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (slice(3, 1), []),
        ([2, 0, 2], [2, 0, 2]),
        ([-1], [3]),
        (np.array([True, False, False, True]), [0, 3]),
        ([True, False, True, False], [0, 2]),
        ([], []),
        (np.array([], dtype=int), []),
        ((np.array([1, 3]), Ellipsis), [1, 3]),
        ((slice(0, 2), slice(None)), [0, 1]),
        (range(2), [0, 1]),
    ],
)
def test_slices_are_the_bags_they_name(bags, key, expected):
    part = bags[key]
    assert isinstance(part, Bags)
    assert len(part) == len(expected)
    assert part.ids.tolist() == [bags.ids[i] for i in expected]
    assert part.feature_names == ["pH", "mass"]
    for got, i in zip(part, expected):
        np.testing.assert_array_equal(dense(got), dense(bags[i]))


def test_a_number_gives_the_bag(bags):
    np.testing.assert_array_equal(dense(bags[1]), [[6, 7]])
    np.testing.assert_array_equal(dense(bags[-1]), [[16, 17], [18, 19]])
    np.testing.assert_array_equal(dense(bags[np.int64(1), ...]), [[6, 7]])


@pytest.mark.parametrize("key", [4, -5, [9], [True], "a", [0.5], ([0], [1]), np.zeros((2, 2), int)])
def test_bad_keys_are_refused(bags, key):
    with pytest.raises((IndexError, TypeError)):
        bags[key]


def test_it_cannot_be_changed(bags):
    values = bags.instances.data if bags.is_sparse else bags.instances
    for array in (values, bags.offsets, bags.ids):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(AttributeError):
        bags.offsets = None


def test_it_is_not_an_array(bags):
    with pytest.raises(TypeError, match=r"bags\.instances"):
        np.asarray(bags)


def test_adjacent_bags_share_memory():
    bags = Bags(np.zeros((6, 2)), [0, 2, 4, 6])
    assert np.shares_memory(bags[1:3].instances, bags.instances)


def test_pickle_keeps_everything(bags):
    copy = pickle.loads(pickle.dumps(bags))
    np.testing.assert_array_equal(dense(copy.instances), dense(bags.instances))
    assert copy.ids.tolist() == bags.ids.tolist()
    assert copy.feature_names == bags.feature_names


# Builders ----------------------------------------------------------------------------------------


def test_groups_need_not_be_adjacent():
    bags = Bags.from_groups(np.arange(5.0)[:, None], ["x", "y", "x", "z", "y"])
    assert bags.ids.tolist() == ["x", "y", "z"]
    assert [bag.ravel().tolist() for bag in bags] == [[0, 2], [1, 4], [3]]


def test_order_is_that_of_first_appearance_for_numbers_too():
    bags = Bags.from_groups(np.arange(4.0)[:, None], np.array([9, 2, 9, 5]))
    assert bags.ids.tolist() == [9, 2, 5]
    assert [bag.ravel().tolist() for bag in bags] == [[0, 2], [1], [3]]


def frames():
    pd, pl, pa = (pytest.importorskip(n) for n in ("pandas", "polars", "pyarrow"))
    data = {"mol": ["b", "a", "b"], "pH": [1, 2, 3], "mass": [0.5, None, 2.5], "active": [1, 0, 1]}
    return {
        "pandas": pd.DataFrame(data),
        "pandas-categorical": pd.DataFrame(data).astype({"mol": "category"}),
        "polars": pl.DataFrame(data),
        "pyarrow": pa.table(data),
    }


@pytest.mark.parametrize("kind", ["pandas", "pandas-categorical", "polars", "pyarrow"])
def test_every_frame_gives_the_same_bags(kind):
    bags, y = Bags.from_frame(frames()[kind], bag="mol", label="active")
    assert bags.ids.tolist() == ["b", "a"]
    assert bags.feature_names == ["pH", "mass"]
    np.testing.assert_array_equal(bags.instances, [[1, 0.5], [3, 2.5], [2, np.nan]])
    assert y.tolist() == [1, 0]
    alone = Bags.from_frame(frames()[kind], bag="mol", features=["mass"])
    assert alone.feature_names == ["mass"]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frame_errors_name_the_column(kind):
    frame = frames()[kind]
    with pytest.raises(ValueError, match="no column is called 'molecule'"):
        Bags.from_frame(frame, bag="molecule")
    with pytest.raises(ValueError, match="column 'mol' cannot be a feature"):
        Bags.from_frame(frame, bag="active", features=["mol"])


def test_labels_of_bags_must_agree():
    assert bag_labels([1, 0, 1], ["a", "b", "a"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="bag 'a' has two labels: 1 and 0"):
        bag_labels([1, 0, 0], ["a", "b", "a"])


def test_as_bags_reads_every_form():
    rows = np.arange(12.0).reshape(6, 2)
    bags = Bags(rows, [0, 3, 6])
    assert as_bags(bags) is bags
    for form in (
        [rows[:3], rows[3:]],
        rows.reshape(2, 3, 2),
        [rows[:3].tolist(), rows[3:].tolist()],
    ):
        np.testing.assert_array_equal(as_bags(form).offsets, [0, 3, 6])
        np.testing.assert_array_equal(as_bags(form).instances, rows)
    for form in (rows, rows.tolist(), sparse.coo_array(rows), rows.astype(np.int8)):
        np.testing.assert_array_equal(as_bags(form).offsets, np.arange(7))
        np.testing.assert_array_equal(dense(as_bags(form).instances), rows)
    assert as_bags(rows.astype(np.float32)).instances.dtype == np.float32


# Errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Bags(np.ones((3, 1)), [0, 1, 1, 3], ids=list("xyz")),
            r"bag 1 \(id 'y'\) is empty",
        ),
        (lambda: Bags(np.ones((3, 1)), [0, 2]), "end at the number of instances, 3"),
        (lambda: Bags(np.ones((3, 1)), [1, 3]), "start at 0"),
        (lambda: Bags(np.ones((3, 1)), [0, 2, 1, 3]), "must not decrease"),
        (lambda: Bags(np.ones((3, 1)), [0.0, 3.0]), "whole numbers"),
        (lambda: Bags(np.ones((3, 1)), []), "whole numbers"),
        (lambda: Bags(np.ones(3), [0, 3]), "2-D table"),
        (lambda: Bags(np.ones((3, 0)), [0, 3]), "no features"),
        (lambda: Bags(np.ones((3, 1)) * 1j, [0, 3]), "Complex"),
        (lambda: Bags([["a"]], [0, 1]), "must be numbers"),
        (lambda: Bags(np.ones((3, 1)), [0, 3], ids=[1, 2]), "2 ids for 1 bags"),
        (lambda: Bags(np.ones((3, 1)), [0, 3], feature_names=["a", "b"]), "2 feature names for 1"),
        (lambda: Bags.from_list([]), "the list is empty"),
        (lambda: Bags.from_list([np.ones((1, 2)), np.ones((0, 2))]), "bag 1 is empty"),
        (lambda: Bags.from_list([np.ones((1, 2)), np.ones((1, 3))]), "bag 1 has 3 features"),
        (lambda: Bags.from_list([[[1.0]], [["x"]]]), "bag 1: instances must be numbers"),
        (lambda: Bags.from_groups(np.ones((3, 1)), [1, 2]), "2 group ids for 3 instances"),
        (lambda: Bags.from_groups(np.ones((2, 1)), ["a", None]), "row 1 has no bag id"),
        (lambda: Bags.from_groups(np.ones((2, 1)), [1.0, np.nan]), "row 1 has no bag id"),
        (lambda: Bags.from_groups(np.ones((2, 1)), ["a", pd.NA]), "row 1 has no bag id"),
    ],
)
def test_errors_name_the_place(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_missing_values_are_named(bags):
    rows = bags.instances.copy()
    rows[5, 1] = np.nan
    spoiled = Bags(rows, bags.offsets, bags.ids, bags.feature_names)
    with pytest.raises(
        ValueError, match=r"instance 1 of bag 2 \(id 'c'\) has NaN in feature 'mass'"
    ):
        spoiled.check_finite()
    spoiled.check_finite(allow_nan=True)
    rows[5, 1] = np.inf
    with pytest.raises(ValueError, match="has infinity in feature 'mass'"):
        Bags(rows, bags.offsets, bags.ids, bags.feature_names).check_finite(allow_nan=True)


def test_huge_finite_values_are_finite():
    Bags(np.full((4, 2), 1e308), [0, 4]).check_finite()


# Fuzzing -----------------------------------------------------------------------------------------

ANYTHING = st.one_of(
    hnp.arrays(
        dtype=st.sampled_from([np.float64, np.int32, bool, object, np.complex128]),
        shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
    ),
    st.lists(
        hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)),
        max_size=3,
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=2),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=8,
    ),
)


@settings(max_examples=300, deadline=None)
@given(ANYTHING)
def test_as_bags_reads_or_refuses(x):
    try:
        bags = as_bags(x)
    except (ValueError, TypeError, OverflowError):
        return
    assert bags.offsets[0] == 0
    assert bags.offsets[-1] == bags.n_instances == bags.instances.shape[0]
    assert (bags.sizes > 0).all()
    assert len(bags) == (len(x) if not isinstance(x, np.ndarray) else x.shape[0])
    assert bags.instances.dtype.kind == "f"
    rows = x if isinstance(x, np.ndarray) else [row for part in x for row in np.atleast_2d(part)]
    assert np.size(np.asarray(rows, dtype=object)) == bags.instances.size  # nothing lost


KEYS = st.one_of(
    st.slices(6),
    st.integers(-8, 8),
    st.lists(st.integers(-8, 8), max_size=5),
    st.lists(st.booleans(), max_size=8),
    hnp.arrays(bool, st.integers(0, 8)),
    hnp.arrays(
        np.int64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=4), elements=st.integers(-7, 7)
    ),
    st.text(max_size=2),
    st.floats(),
    st.none(),
)


@settings(max_examples=300, deadline=None)
@given(KEYS, st.booleans())
def test_keys_mean_what_they_mean_to_numpy(key, with_columns):
    sizes = [1, 3, 2, 1, 4, 2]
    bags = Bags(np.arange(13.0)[:, None], np.cumsum([0, *sizes]), ids=range(6))
    try:
        if isinstance(key, list) and not key:
            expected = np.arange(0)
        else:
            expected = np.arange(6)[key]
            assert expected.ndim <= 1
    except (IndexError, AssertionError, TypeError):
        with pytest.raises((IndexError, TypeError)):
            bags[(key, Ellipsis) if with_columns else key]
        return
    part = bags[(key, Ellipsis) if with_columns else key]
    if np.ndim(expected) == 0:
        np.testing.assert_array_equal(part, bags.instances[bags.bag_of == expected])
    else:
        assert part.ids.tolist() == expected.tolist()
        assert part.sizes.tolist() == [sizes[i] for i in expected]


# Cost --------------------------------------------------------------------------------------------


def test_a_million_shuffled_rows_in_seconds():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1_000_000, 10))
    groups = rng.permutation(np.repeat(np.arange(100_000), 10))
    start = time.perf_counter()
    bags = Bags.from_groups(rows, groups)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    rows[np.argsort(groups, kind="stable")]  # the least that any grouping must do
    floor = time.perf_counter() - start
    assert len(bags) == 100_000
    assert seconds < max(1.5, 8 * floor)


def test_grouping_takes_at_most_three_times_the_data():
    code = """
import resource, numpy as np
from mixedbag import Bags
rng = np.random.default_rng(0)
groups = rng.permutation(np.repeat(np.arange(100_000), 10))
rows = rng.normal(size=(1_000_000, 20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Bags.from_groups(rows, groups)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after - before) * 1024 / rows.nbytes)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(out.stdout) < 2.0  # besides the rows themselves


def test_import_is_light():
    code = "import sys, mixedbag; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(out.stdout.split())
    heavy = {
        "numba",
        "highspy",
        "matplotlib",
        "sklearn",
        "narwhals",
        "pandas",
        "skops",
        "rich",
        "typer",
    }
    assert not heavy & loaded


# What is no number, or missing -------------------------------------------------------------------


def test_masked_values_are_missing():
    masked = np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 3.0)
    for bags in (
        as_bags(masked),
        as_bags([masked]),
        as_bags(masked[None]),
        Bags.from_list([masked]),
        Bags.from_groups(masked, ["a", "a"]),
        Bags(masked, [0, 2]),
        as_bags(np.ma.masked_equal([[1, 2], [3, 4]], 3)),
    ):
        np.testing.assert_array_equal(bags.instances, [[1, 2], [np.nan, 4]])
        with pytest.raises(ValueError, match="has NaN in feature 0"):
            bags.check_finite()
    assert as_bags(masked.astype(np.float32)).instances.dtype == np.float32
    whole = np.ma.MaskedArray([[1, 2]], mask=False)
    np.testing.assert_array_equal(as_bags(whole).instances, [[1, 2]])
    with pytest.raises(ValueError, match="value 1 is masked"):
        Bags.from_groups(np.ones((2, 1)), np.ma.masked_equal([1, 2], 2))


@pytest.mark.parametrize("kind", ["M8[D]", "m8[s]"])
def test_times_are_no_numbers(kind):
    times = np.array([[1, 2], [3, 4]]).astype(kind)
    mixed = np.array([[1.0, times[0, 0]]], dtype=object)
    for x in (times, [times], times[None], mixed):
        with pytest.raises(ValueError, match="not dates or times"):
            as_bags(x)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1.0, 2.0], "when": times[0].astype(kind[:2] + "[ns]")})
    with pytest.raises(ValueError, match="column 'when' is not numeric"):
        as_bags(frame)
    with pytest.raises(ValueError, match="row 1 has no bag id"):
        Bags.from_groups(np.ones((2, 1)), np.array([5, "NaT"], dtype=kind))


def test_ids_that_numpy_would_make_equal_stay_apart():
    rows = np.ones((2, 1))
    for ids in ([1, "1"], [2**53, 2**53 + 1.0 - 0.5, 2**53 + 1][::2], ["a", "a\0"], [2**63, -1]):
        assert Bags.from_groups(rows, ids).ids.tolist() == ids


# Back to tables, together, on the screen ----------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("ids", [None, ["b", "a"]])
def test_a_frame_reads_back_as_the_same_bags(backend, ids):
    pytest.importorskip(backend)
    bags = Bags.from_list([np.eye(2) + 0.5, np.zeros((1, 2))], ids, ["x", "pH"])
    again, y = Bags.from_frame(bags.to_frame(["yes", "no"], backend=backend), "bag", label="label")
    assert np.array_equal(again.instances, bags.instances)
    assert again.offsets.tolist() == bags.offsets.tolist()
    assert again.feature_names == bags.feature_names
    assert again.ids.tolist() == (ids or [0, 1])
    assert y.tolist() == ["yes", "no"]


def test_frames_of_sparse_bags_and_clashing_names():
    bags = Bags.from_list([sparse.csr_array(np.eye(2))])
    assert bags.to_frame()["feature 1"].tolist() == [0.0, 1.0]
    named = Bags.from_list([np.eye(2)], feature_names=["bag", "x"])
    with pytest.raises(ValueError, match="one name"):
        named.to_frame()
    assert list(named.to_frame(bag="molecule").columns) == ["molecule", "bag", "x"]
    with pytest.raises(ValueError, match="2 labels for 1 bags"):
        named.to_frame([0, 1], bag="molecule")


def test_parts_are_put_together():
    first = Bags.from_list([np.ones((2, 2))], ["a"], ["x", "y"])
    second = Bags.from_list([np.zeros((1, 2)), np.ones((3, 2))], ["b", "c"], ["x", "y"])
    whole = Bags.concat([first, second])
    assert whole.sizes.tolist() == [2, 1, 3]
    assert whole.ids.tolist() == ["a", "b", "c"]
    assert np.array_equal(whole.instances, np.vstack([first.instances, second.instances]))
    assert Bags.concat([first[:], Bags.from_list([np.eye(2)], None, ["x", "y"])]).ids is None
    thin = Bags.from_list([sparse.csr_array(np.eye(2))], ["d"], ["x", "y"])
    assert Bags.concat([first, thin]).is_sparse
    with pytest.raises(ValueError, match="part 1 has 3 features, part 0 has 2"):
        Bags.concat([first, Bags.from_list([np.eye(3)])])
    with pytest.raises(ValueError, match="other feature names"):
        Bags.concat([first, Bags.from_list([np.eye(2)], feature_names=["y", "x"])])
    with pytest.raises(ValueError, match="no bags"):
        Bags.concat([])


def test_a_notebook_shows_what_it_holds_and_runs_nothing():
    bags = Bags.from_list([np.eye(2)] * 7, ["<script>", *"abcdef"], ["<b>x", "y"])
    shown = bags._repr_html_()
    assert "7 bags of 2 to 2 instances" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "2 more" in shown


def test_sparse_tables_have_narrow_indices_where_these_suffice():
    rows = sparse.csr_array(np.eye(4))
    wide = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    bags = Bags(sparse.csr_array((rows.data, *wide), shape=(4, 4)), [0, 1, 4])
    assert {bags.instances.indices.dtype, bags.instances.indptr.dtype} == {np.dtype(np.int32)}
    np.testing.assert_array_equal(bags.instances.toarray(), np.eye(4))
    model = VocabularyClassifier(2, random_state=0).fit(bags, [0, 1])  # k-means takes no others
    assert model.predict(bags).shape == (2,)
