"""The invariants of bag learners, one function each; `check_bag_estimator` runs what applies."""

import functools
import pickle
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import io
from mixedbag.bags import Bags
from mixedbag.testing.configurations import expected_failed_checks
from mixedbag.testing.problems import toy_problem

# Learners stop at a tolerance of their own: outputs may differ by this share of their spread.
TOLERANCE = 1e-3


def check_bag_estimator(estimator, expected_failures=None):
    """Run every invariant that applies to `estimator`.

    Parameters
    ----------
    estimator : bag learner
        An unfitted instance, with settings that fit quickly.
    expected_failures : dict of str to str, optional
        Names of checks to leave out, each with the reason.

    Raises
    ------
    AssertionError
        At the first invariant that does not hold.
    """
    for check in bag_checks(estimator, expected_failures):
        check(clone(estimator))


def bag_checks(estimator, expected_failures=None):
    """The checks that apply to `estimator`, as functions of an estimator."""
    left_out = expected_failed_checks(estimator) | (expected_failures or {})
    checks = list(_EVERY_LEARNER)
    if is_classifier(estimator) and "count" not in estimator._rules:
        checks += _CLASSIFIERS
    checks += _SEQUENCES if estimator._is_sequence else _UNORDERED
    return [check for check in checks if check.__name__ not in left_out]


def parametrize_with_bag_checks(estimators):
    """A pytest decorator: one test for each estimator and check."""
    import pytest

    cases = [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.__name__}")
        for estimator in estimators
        for check in bag_checks(estimator)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)


# Tools ------------------------------------------------------------------------------------------


def _outputs(model, bags):
    """The most telling prediction of a model at both levels, one after the other."""
    level = "decision_function" if hasattr(model, "decision_function") else "predict"
    instances = level + "_instances"
    return [np.asarray(getattr(model, name)(bags), dtype=float) for name in (level, instances)]


def _assert_same(one, other, bags, what):
    for a, b in zip(_outputs(one, bags), _outputs(other, bags)):
        scale = max(np.ptp(a), 1e-12)
        worst = np.abs(a - b).max()
        assert worst <= TOLERANCE * scale, (
            f"{type(one).__name__}: {what} changes the predictions by {worst:.3g}, "
            f"{worst / scale:.2%} of their spread"
        )


def _assert_refused(call, *parts):
    try:
        call()
    except (ValueError, TypeError) as error:
        message = str(error)
        for part in parts:
            assert part in message, f"the error should mention {part!r}: {message!r}"
        return
    raise AssertionError(f"bad input was accepted; expected an error about {parts}")


def _fit(estimator, problem, **kwargs):
    return clone(estimator).fit(problem.bags, problem.y, **kwargs)


def _needs(method):
    """Skip a check on learners without `method`."""

    def decorate(check):
        @functools.wraps(check)
        def checked(estimator):
            if hasattr(estimator, method):
                check(estimator)

        return checked

    return decorate


# Every learner ----------------------------------------------------------------------------------


def check_both_levels(estimator):
    """Bag and instance predictions have the right shapes, and agree on bags of one."""
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    assert len(model.predict(problem.bags)) == len(problem.bags)
    assert len(model.predict_instances(problem.bags)) == problem.bags.n_instances
    if hasattr(model, "decision_function"):
        scores = model.decision_function(problem.bags)
        assert scores.shape == (len(problem.bags),), scores.shape
        scores = model.decision_function_instances(problem.bags)
        assert scores.shape == (problem.bags.n_instances,), scores.shape


def check_fit_is_deterministic(estimator):
    """The same data and random state give the same model."""
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    problem = toy_problem(estimator)
    one, other = _fit(estimator, problem), _fit(estimator, problem)
    for a, b in zip(_outputs(one, problem.bags), _outputs(other, problem.bags)):
        np.testing.assert_array_equal(a, b)


def check_order_of_bags_does_not_matter(estimator):
    problem = toy_problem(estimator)
    order = np.random.default_rng(1).permutation(len(problem.bags))
    shuffled = clone(estimator).fit(problem.bags[order], problem.y[order])
    _assert_same(_fit(estimator, problem), shuffled, problem.bags, "another order of the bags")


def check_weight_two_is_a_duplicate(estimator):
    problem = toy_problem(estimator)
    copies = np.random.default_rng(2).integers(1, 3, size=len(problem.bags))
    index = np.repeat(np.arange(len(problem.bags)), copies)
    weighted = _fit(estimator, problem, sample_weight=copies.astype(float))
    repeated = clone(estimator).fit(problem.bags[index], problem.y[index])
    _assert_same(weighted, repeated, problem.bags, "a weight of two in place of a duplicate")


def check_weight_zero_is_absence(estimator):
    problem = toy_problem(estimator)
    kept = np.arange(len(problem.bags)) % 5 != 4
    weighted = _fit(estimator, problem, sample_weight=kept.astype(float))
    left_out = clone(estimator).fit(problem.bags[kept], problem.y[kept])
    _assert_same(weighted, left_out, problem.bags, "a weight of zero in place of absence")


def check_input_is_not_touched(estimator):
    """Read-only input works; instances, labels and weights keep their values."""
    problem = toy_problem(estimator)
    rows = problem.bags.instances.copy()
    y, weight = problem.y.copy(), np.ones(len(problem.y))
    for array in (rows, y, weight):
        array.flags.writeable = False
    bags = Bags(rows, problem.bags.offsets)
    model = clone(estimator).fit(bags, y, sample_weight=weight)
    _outputs(model, bags)
    np.testing.assert_array_equal(rows, problem.bags.instances)
    np.testing.assert_array_equal(y, problem.y)


def check_list_and_frame_give_the_same(estimator):
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    listed = clone(estimator).fit([np.array(bag) for bag in problem.bags], problem.y)
    _assert_same(model, listed, problem.bags, "a list of arrays in place of Bags")
    try:
        import pandas as pd
    except ImportError:
        return
    names = [f"f{j}" for j in range(problem.bags.n_features)]
    frame = pd.DataFrame(problem.bags.instances, columns=names)
    frame["bag"] = problem.bags.ids[problem.bags.bag_of]
    framed = Bags.from_frame(frame, bag="bag")
    named = clone(estimator).fit(framed, problem.y)
    assert list(named.feature_names_in_) == names
    for a, b in zip(_outputs(model, problem.bags), _outputs(named, framed)):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    renamed = Bags.from_frame(frame.rename(columns={"f0": "other"}), bag="bag")
    _assert_refused(lambda: named.predict(renamed), "other", "f0")


def check_sparse_is_dense(estimator):
    problem = toy_problem(estimator)
    rows = np.where(np.abs(problem.bags.instances) < 0.3, 0.0, problem.bags.instances)
    dense = Bags(rows, problem.bags.offsets)
    thin = Bags(sparse.csr_array(rows), problem.bags.offsets)
    if not estimator._accepts_sparse:
        _assert_refused(lambda: clone(estimator).fit(thin, problem.y), "parse")
        return
    one = clone(estimator).fit(dense, problem.y)
    other = clone(estimator).fit(thin, problem.y)
    for a, b in zip(_outputs(one, dense), _outputs(other, thin)):
        assert np.abs(a - b).max() <= TOLERANCE * max(np.ptp(a), 1e-12)


def check_bad_input_names_the_bag(estimator):
    problem = toy_problem(estimator)
    bags, y = problem

    def spoiled(value):
        rows = bags.instances.copy()
        rows[bags.offsets[3], 1] = value
        return Bags(rows, bags.offsets, ids=bags.ids)

    _assert_refused(lambda: clone(estimator).fit(spoiled(np.inf), y), bags.ids[3], "feature 1")
    if not estimator._accepts_nan:
        _assert_refused(lambda: clone(estimator).fit(spoiled(np.nan), y), bags.ids[3], "NaN")
        model = _fit(estimator, problem)
        _assert_refused(lambda: model.predict(spoiled(np.nan)), bags.ids[3], "NaN")
    _assert_refused(lambda: clone(estimator).fit(bags, y[:-1]), str(len(y) - 1), str(len(bags)))
    wrong = np.array(y, dtype=float)
    wrong[4] = np.nan
    _assert_refused(lambda: clone(estimator).fit(bags, wrong), bags.ids[4])
    weight = np.ones(len(y))
    weight[5] = -1.0
    _assert_refused(lambda: clone(estimator).fit(bags, y, sample_weight=weight), bags.ids[5])
    _assert_refused(lambda: clone(estimator).fit(bags, y, sample_weight=weight[1:]), str(len(bags)))
    _assert_refused(lambda: clone(estimator).fit(bags[:0], y[:0]), "0 sample")


def check_failed_fit_leaves_the_model(estimator):
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    before = _outputs(model, problem.bags)
    _assert_refused(lambda: model.fit(problem.bags, problem.y[:-1]))
    for a, b in zip(before, _outputs(model, problem.bags)):
        np.testing.assert_array_equal(a, b)


def check_copies_predict_the_same(estimator):
    """Pickle and a safe saved file keep the predictions; a clone is unfitted."""
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        io.save(model, path)
        own = f"{type(model).__module__}.{type(model).__qualname__}"
        copies = [pickle.loads(pickle.dumps(model)), io.load(path, trusted=[own])]
    for copy in copies:
        for a, b in zip(_outputs(model, problem.bags), _outputs(copy, problem.bags)):
            np.testing.assert_array_equal(a, b)
    assert not hasattr(clone(model), "n_features_in_")


def check_pipeline_and_search(estimator):
    from mixedbag.wrappers import InstanceWise

    problem = toy_problem(estimator)
    pipeline = make_pipeline(InstanceWise(StandardScaler()), clone(estimator))
    predicted = cross_val_predict(pipeline, problem.bags, problem.y, cv=2)
    assert len(predicted) == len(problem.bags)
    search = GridSearchCV(clone(estimator), {}, cv=2).fit(problem.bags, problem.y)
    assert np.isfinite(search.best_score_)


def check_callbacks_see_the_fit(estimator):
    class Witness:
        def __init__(self):
            self.seen = []

        def setup(self, estimator, context):
            self.seen.append("setup")

        def on_fit_task_begin(self, estimator, context):
            self.seen.append("begin")

        def on_fit_task_end(self, estimator, context):
            self.seen.append("end")

        def teardown(self, estimator, context):
            self.seen.append("teardown")

    problem = toy_problem(estimator)
    witness = Witness()
    clone(estimator).set_callbacks(witness).fit(problem.bags, problem.y)
    assert witness.seen[0] == "setup"
    assert witness.seen[-1] == "teardown"
    assert 0 < witness.seen.count("begin") == witness.seen.count("end")


def check_learns_something(estimator):
    """Well above chance on the bags it was trained on."""
    problem = toy_problem(estimator)
    score = _fit(estimator, problem).score(problem.bags, problem.y)
    floor = 0.7 if is_classifier(estimator) else 0.5
    assert score >= floor, f"{type(estimator).__name__} scores {score:.2f} on its training bags"


# Bags without order -----------------------------------------------------------------------------


def check_order_of_instances_does_not_matter(estimator):
    problem = toy_problem(estimator)
    rng = np.random.default_rng(3)
    shuffled = Bags.from_list([rng.permutation(np.array(bag)) for bag in problem.bags])
    _assert_same(
        _fit(estimator, problem),
        clone(estimator).fit(shuffled, problem.y),
        problem.bags,
        "another order of the instances",
    )


def check_plain_rows_are_bags_of_one(estimator):
    """Predicting on rows is predicting instances, and fitting on rows is fitting bags of one."""
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    rows = np.array(problem.bags.instances)
    alone = problem.bags.singletons()
    _assert_close(model.predict(rows), model.predict(alone))
    as_bags, as_instances = _outputs(model, rows)[0], _outputs(model, problem.bags)[1]
    if "majority" in estimator._rules:  # a bag of one has one vote, whatever its score
        as_bags, as_instances = as_bags > 0, as_instances > 0
    _assert_close(as_bags, as_instances)
    if not ({"count", "sum"} & set(estimator._rules)):
        labels = problem.y[problem.bags.bag_of]
        one, other = clone(estimator).fit(rows, labels), clone(estimator).fit(alone, labels)
        _assert_close(_outputs(one, rows)[0], _outputs(other, rows)[0])


def _assert_close(a, b):
    np.testing.assert_allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-7)


# Sequences --------------------------------------------------------------------------------------


def check_plain_rows_are_refused(estimator):
    problem = toy_problem(estimator)
    rows = np.array(problem.bags.instances)
    _assert_refused(lambda: clone(estimator).fit(rows, np.arange(len(rows)) % 2), "sequences")
    model = _fit(estimator, problem)
    _assert_refused(lambda: model.predict(rows), "sequences")


# Classifiers with one label a bag ---------------------------------------------------------------


def check_any_two_labels(estimator):
    """Names of the classes do not matter; the second in order is the positive one."""
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    names = np.array(["inert", "potent"], dtype=object)
    named = clone(estimator).fit(problem.bags, names[problem.y])
    assert named.classes_.tolist() == ["inert", "potent"]
    for a, b in zip(_outputs(model, problem.bags), _outputs(named, problem.bags)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(names[model.predict(problem.bags)], named.predict(problem.bags))
    assert set(named.predict_instances(problem.bags)) <= set(names)


def check_three_labels(estimator):
    problem = toy_problem(estimator, n_classes=3)
    model = _fit(estimator, problem)
    assert model.classes_.tolist() == [0, 1, 2]
    scores = model.decision_function(problem.bags)
    assert scores.shape == (len(problem.bags), 3)
    np.testing.assert_array_equal(model.predict(problem.bags), scores.argmax(axis=1))
    assert model.decision_function_instances(problem.bags).shape == (problem.bags.n_instances, 3)


def check_one_label_is_refused(estimator):
    problem = toy_problem(estimator)
    _assert_refused(lambda: clone(estimator).fit(problem.bags, np.zeros(len(problem.y))), "class")


def check_witnesses_are_in_positive_bags(estimator):
    problem = toy_problem(estimator)
    model = _fit(estimator, problem)
    if not hasattr(model, "witness_"):
        return
    np.testing.assert_array_equal(
        problem.bags.bag_of[model.witness_], np.flatnonzero(problem.y == 1)
    )


@_needs("predict_proba")
def check_probabilities(estimator):
    for n_classes in (2, 3):
        problem = toy_problem(estimator, n_classes=n_classes)
        model = _fit(estimator, problem)
        for level in ("predict_proba", "predict_proba_instances"):
            proba = getattr(model, level)(problem.bags)
            assert proba.shape[1] == n_classes
            assert (proba >= 0).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        if n_classes == 2 and hasattr(model, "decision_function"):
            order = np.argsort(model.decision_function(problem.bags))
            positive = model.predict_proba(problem.bags)[order, 1]
            assert (np.diff(positive) >= -1e-12).all()


_EVERY_LEARNER = [
    check_both_levels,
    check_fit_is_deterministic,
    check_order_of_bags_does_not_matter,
    check_weight_two_is_a_duplicate,
    check_weight_zero_is_absence,
    check_input_is_not_touched,
    check_list_and_frame_give_the_same,
    check_sparse_is_dense,
    check_bad_input_names_the_bag,
    check_failed_fit_leaves_the_model,
    check_copies_predict_the_same,
    check_pipeline_and_search,
    check_callbacks_see_the_fit,
    check_learns_something,
]
_UNORDERED = [check_order_of_instances_does_not_matter, check_plain_rows_are_bags_of_one]
_SEQUENCES = [check_plain_rows_are_refused]
_CLASSIFIERS = [
    check_any_two_labels,
    check_three_labels,
    check_one_label_is_refused,
    check_witnesses_are_in_positive_bags,
    check_probabilities,
]
