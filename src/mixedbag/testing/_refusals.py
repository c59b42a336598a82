"""Bad input: refused with an error that names the bag, and nothing is lost."""

import numpy as np
from sklearn.base import clone

from mixedbag.bags import Bags
from mixedbag.testing._comparing import assert_refused, on_toys, outputs
from mixedbag.testing._problems import toy_problem


def check_bad_input_names_the_bag(estimator):
    (bags, y), model = on_toys(estimator)
    ids = np.asarray(bags.ids)

    def spoiled(value):
        rows = bags.instances.copy()
        rows[bags.offsets[3], 1] = value
        return Bags(rows, bags.offsets, ids=bags.ids)

    assert_refused(lambda: clone(estimator).fit(spoiled(np.inf), y), ids[3], "feature 1")
    if not estimator._accepts_nan:
        assert_refused(lambda: clone(estimator).fit(spoiled(np.nan), y), ids[3], "NaN")
        assert_refused(lambda: model.predict(spoiled(np.nan)), ids[3], "NaN")
    assert_refused(lambda: clone(estimator).fit(bags, y[:-1]), str(len(y) - 1), str(len(bags)))
    wrong = np.array(y, dtype=float)
    # A count or total that is not known leaves the bag out; an infinite one is a mistake.
    wrong[4] = np.inf if {"count", "sum"} & set(estimator._rules) else np.nan
    assert_refused(lambda: clone(estimator).fit(bags, wrong), ids[4])
    weight = np.ones(len(y))
    weight[5] = -1.0
    assert_refused(lambda: clone(estimator).fit(bags, y, sample_weight=weight), ids[5])
    assert_refused(lambda: clone(estimator).fit(bags, y, sample_weight=weight[1:]), str(len(bags)))
    assert_refused(lambda: clone(estimator).fit(bags[:0], y[:0]), "0 sample")


def check_failed_fit_leaves_the_model(estimator):
    problem, model = on_toys(estimator)
    before = outputs(model, problem.bags)
    assert_refused(lambda: model.fit(problem.bags, problem.y[:-1]))
    for a, b in zip(before, outputs(model, problem.bags)):
        np.testing.assert_array_equal(a, b)


def check_input_is_not_touched(estimator):
    """Read-only input works; instances, labels and weights keep their values."""
    problem = toy_problem(estimator)
    rows = problem.bags.instances.copy()
    y, weight = problem.y.copy(), np.ones(len(problem.y))
    for array in (rows, y, weight):
        array.flags.writeable = False
    bags = Bags(rows, problem.bags.offsets)
    model = clone(estimator).fit(bags, y, sample_weight=weight)
    outputs(model, bags)
    np.testing.assert_array_equal(rows, problem.bags.instances)
    np.testing.assert_array_equal(y, problem.y)


def check_one_label_is_refused(estimator):
    problem = toy_problem(estimator)
    assert_refused(lambda: clone(estimator).fit(problem.bags, np.zeros(len(problem.y))), "class")


def check_plain_rows_are_refused(estimator):
    problem, model = on_toys(estimator)
    rows = np.array(problem.bags.instances)
    assert_refused(lambda: clone(estimator).fit(rows, np.arange(len(rows)) % 2), "sequences")
    assert_refused(lambda: model.predict(rows), "sequences")
