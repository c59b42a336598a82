"""Pooled scores that the engine computes are those of the model, on tables of every kind."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from mixedbag import tables
from mixedbag._linear_scores import linear_answers
from mixedbag.aggregate import AggregateRidgeRegressor, AggregateSVR
from mixedbag.classics import MILogisticRegression
from mixedbag.cli._predict import bag_columns, pooled_columns
from mixedbag.comparison import fit_best_setting
from mixedbag.datasets import DataFormatError, make_any
from mixedbag.disjunctive import SparseBagMarginSVC
from mixedbag.margin import AnnealedBagMarginSVC, BagMarginSVC, InstanceMarginSVC
from mixedbag.tables import _pooled
from mixedbag.tables._pooled import NotPooledError, read_pooled
from mixedbag.wrappers import BagPipeline, InstanceWise

NAMES = ["a", "b", "c"]
MODELS = {
    "MI-SVM": BagMarginSVC(kernel="linear"),
    "mi-SVM": InstanceMarginSVC(kernel="linear"),
    "annealed": AnnealedBagMarginSVC(kernel="linear", random_state=0),
    "sparse": SparseBagMarginSVC(random_state=0),
    "logistic": MILogisticRegression(),
    "logistic of means": MILogisticRegression(pooling="mean"),
    "ridge": AggregateRidgeRegressor(),
    "ridge of means": AggregateRidgeRegressor(aggregate="mean"),
    "SVR": AggregateSVR(kernel="linear"),
    "scaled": make_pipeline(InstanceWise(StandardScaler()), BagMarginSVC(kernel="linear")),
    "scaled twice": BagPipeline(
        [
            ("one", InstanceWise(MaxAbsScaler())),
            ("two", InstanceWise(StandardScaler(with_mean=False))),
            ("three", InstanceWise(StandardScaler(with_std=False))),
            ("learner", MILogisticRegression(pooling="mean")),
        ]
    ),
    "filled": make_pipeline(
        InstanceWise(StandardScaler()),
        InstanceWise(SimpleImputer(strategy="median")),
        BagMarginSVC(kernel="linear"),
    ),
}


def problem(far_from_zero=1e6):
    """Bags with rows in any order, and a feature far from zero beside its spread."""
    data = make_any(n_bags=40, size=6, n_features=3, random_state=0)
    X = data.bags.instances + np.array([far_from_zero, 0.0, -3.0])
    return data.bags.with_instances(X, NAMES), data.y


def table_of(bags, **columns):
    order = np.random.default_rng(0).permutation(bags.n_instances)
    ids = np.array([f"b{i}" for i in bags.bag_of])
    named = {"bag": ids, **dict(zip(NAMES, bags.instances.T)), **columns}
    return pa.table({name: pa.array(np.asarray(v)[order].tolist()) for name, v in named.items()})


def write(path, table):
    if path.suffix == ".csv":
        table.to_pandas().to_csv(path, index=False)
    else:
        parquet.write_table(table, path)


def pooled(model, source, features=NAMES, n_bags=16, **options):
    """Ids and blocks as `predict` answers them, by the engine's pooled scores."""
    linear = linear_answers(model)
    span = model.origin.span() if hasattr(model, "origin") else None
    roles = tables.Roles("bag", features=features)
    blocks = [*read_pooled(source, roles, linear.scores, span, n_bags, **options)]
    columns = [pooled_columns(model, linear.twin, block) for block in blocks]
    return {name: [v for c in columns for v in c[name].to_pylist()] for name in columns[0]}


def looked_at(model, source, features=NAMES, **options):
    """The same by rows."""
    data = tables.read(source, tables.Roles("bag", features=features), **options)
    columns = bag_columns(model, data)
    return {name: column.to_pylist() for name, column in columns.items()}


def assert_same(found, expected):
    order = [expected["bag"].index(bag) for bag in found["bag"]]
    assert sorted(order) == list(range(len(expected["bag"])))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        values = [values[i] for i in order]
        if isinstance(values[0], float):
            np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12)
        else:
            assert found[name] == values


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_every_linear_learner_answers_as_by_rows(tmp_path, name, kind):
    bags, y = problem({"scaled": 1e6, "scaled twice": 1e3}.get(name, 0.0))
    model = MODELS[name].fit(bags, y)
    path = tmp_path / f"table.{kind}"
    write(path, table_of(bags))
    assert_same(pooled(model, path), looked_at(model, path))


@pytest.mark.parametrize(
    "model",
    [
        BagMarginSVC(kernel="rbf"),
        MILogisticRegression(pooling="mean_probability"),
        make_pipeline(InstanceWise(MinMaxScaler()), BagMarginSVC(kernel="linear")),
        make_pipeline(
            InstanceWise(SimpleImputer(add_indicator=True)), BagMarginSVC(kernel="linear")
        ),
        make_pipeline(
            InstanceWise(SimpleImputer(missing_values=-1.0)), BagMarginSVC(kernel="linear")
        ),
    ],
)
def test_models_of_another_kind_want_rows(model):
    bags, y = problem(0.0)
    assert linear_answers(model.fit(bags, y)) is None


@pytest.mark.parametrize(
    ("learner", "rule"),
    [
        ("MILogisticRegression", "any"),
        ("SparseBagMarginSVC", "any"),
        ("AggregateRidgeRegressor", "sum"),
        ("AggregateRidgeRegressor", "mean"),
    ],
)
def test_a_fitted_model_marks_what_is_far(learner, rule):
    bags, y = problem()
    model = fit_best_setting(bags, y, rule, learner, 0).model
    X = bags.instances.copy()
    X[[3, 50], [0, 2]] = 5e6, -900.0
    X[7] = -77.0
    table = table_of(bags.with_instances(X, NAMES))
    found = pooled(model, table)
    assert_same(found, looked_at(model, table))
    assert {"a", "c", "a, b, c"} <= set(found["outside"])


@pytest.mark.parametrize("shift", [-700.0, -300.0, -30.0, -8.0, 0.0, 40.0, 1e4])
def test_a_noisy_or_is_as_precise_as_by_rows(shift):
    bags, y = problem(0.0)
    model = MILogisticRegression().fit(bags, y)
    model.intercept_ += shift
    found, table = [], table_of(bags)
    linear = linear_answers(model)
    for block in read_pooled(table, tables.Roles("bag", features=NAMES), linear.scores, None, 99):
        found += dict(zip(block.ids, block.scores[:, 0])).items()
    expected = dict(zip([f"b{i}" for i in range(40)], model.decision_function(bags)))
    np.testing.assert_allclose([v for _, v in found], [expected[k] for k, _ in found], rtol=1e-12)


def test_a_noisy_or_of_nothing_but_unlikely_rows_is_looked_at():
    bags, y = problem(0.0)
    model = MILogisticRegression().fit(bags, y)
    model.intercept_ -= 1e4
    assert np.isfinite(model.decision_function(bags)).all()
    with pytest.raises(NotPooledError):
        pooled(model, table_of(bags))


def test_text_in_a_csv_file_is_coded_as_it_was_learned(tmp_path):
    rng = np.random.default_rng(1)
    bags, y = problem(0.0)
    colour = rng.integers(2, size=bags.n_instances)
    coded = bags.with_instances(np.column_stack([bags.instances, colour]), [*NAMES, "d=red"])
    model = BagMarginSVC(kernel="linear").fit(coded, y)
    path = tmp_path / "table.csv"
    table_of(bags, d=np.array(["blue", " red"])[colour]).to_pandas().to_csv(path, index=False)
    assert_same(pooled(model, path, [*NAMES, "d=red"]), looked_at(model, path, [*NAMES, "d=red"]))


def test_bags_come_as_they_appear_and_scattered_ones_of_long_tables_by_their_ids(monkeypatch):
    bags, y = problem(0.0)
    model = BagMarginSVC(kernel="linear").fit(bags, y)
    names = [f"z{99 - i}" for i in range(40)]
    X = dict(zip(NAMES, map(pa.array, bags.instances.T)))
    adjacent = pa.table({"bag": [names[i] for i in bags.bag_of], **X})
    scattered = table_of(bags)
    assert pooled(model, adjacent)["bag"] == names
    assert pooled(model, scattered)["bag"] == scattered["bag"].unique().to_pylist()
    monkeypatch.setattr(_pooled, "_LONG", 0)
    assert pooled(model, adjacent)["bag"] == names
    assert pooled(model, scattered)["bag"] == sorted(f"b{i}" for i in range(40))
    monkeypatch.setattr(_pooled, "_LONGEST", 0)
    with pytest.raises(NotPooledError):
        pooled(model, adjacent)


def test_single_precision_is_answered_as_by_rows():
    bags, y = problem(0.0)
    bags = bags.with_instances(bags.instances.astype(np.float32), NAMES)
    table = table_of(bags).cast(
        pa.schema([("bag", pa.string()), *((name, pa.float32()) for name in NAMES)])
    )
    plain = BagMarginSVC(kernel="linear").fit(bags, y)
    assert_same(pooled(plain, table), looked_at(plain, table))
    scaled = make_pipeline(InstanceWise(StandardScaler()), plain).fit(bags, y)
    with pytest.raises(NotPooledError):  # the scaler rounds
        pooled(scaled, table)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e16])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_values_that_learners_may_refuse_are_for_them_to_judge(tmp_path, value, kind):
    bags, y = problem(0.0)
    model = BagMarginSVC(kernel="linear").fit(bags, y)
    X = bags.instances.copy()
    X[100, 1] = value
    table = table_of(bags.with_instances(X, NAMES))
    path = tmp_path / f"table.{kind}"
    write(path, table)
    with pytest.raises((NotPooledError, DataFormatError)):
        pooled(model, path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_gaps_are_filled_as_the_model_has_learned_to(tmp_path, kind):
    bags, y = problem(1e3)
    X = bags.instances.copy()
    X[np.random.default_rng(2).random(X.shape) < 0.1] = np.nan
    bags = bags.with_instances(X, NAMES)
    model = make_pipeline(
        InstanceWise(SimpleImputer()), InstanceWise(StandardScaler()), BagMarginSVC(kernel="linear")
    ).fit(bags, y)
    path = tmp_path / f"table.{kind}"
    write(path, table_of(bags))
    assert_same(pooled(model, path), looked_at(model, path))


def test_labels_are_not_looked_at():
    bags, y = problem(0.0)
    model = BagMarginSVC(kernel="linear").fit(bags, y)
    labels = bags.spread(y)
    labels[17] = 1 - labels[17]
    assert_same(pooled(model, table_of(bags, label=labels)), looked_at(model, table_of(bags)))


def test_files_dialects_and_queries(tmp_path):
    bags, y = problem(0.0)
    model = BagMarginSVC(kernel="linear").fit(bags, y)
    frame = table_of(bags).to_pandas()
    frame.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    frame[:100].to_csv(tmp_path / "part-1.csv", index=False)
    frame[100:].to_csv(tmp_path / "part-2.csv", index=False)
    whole = looked_at(model, frame)
    assert_same(pooled(model, tmp_path / "comma.csv"), whole)
    assert_same(pooled(model, tmp_path / "part-*.csv"), whole)
    asked = {"query": "select bag, a, b, c from data where a > -1e9"}
    assert_same(pooled(model, tmp_path / "comma.csv", **asked), whole)


def test_a_bag_without_a_name_is_refused_by_line(tmp_path):
    bags, y = problem(0.0)
    model = BagMarginSVC(kernel="linear").fit(bags, y)
    (tmp_path / "t.csv").write_text("bag,a,b,c\nx,1,2,3\n,1,2,3\n")
    with pytest.raises(ValueError, match="line 3: no bag in column 'bag'"):
        pooled(model, tmp_path / "t.csv")
