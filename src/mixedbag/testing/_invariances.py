"""What must not change a model: the order, the form and the repetition of the same bags."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mixedbag.bags import Bags
from mixedbag.testing._comparing import (
    TOLERANCE,
    assert_close,
    assert_refused,
    assert_same,
    fitted,
    on_toys,
    outputs,
)
from mixedbag.testing._problems import toy_problem


def check_fit_is_deterministic(estimator):
    """The same data and random state give the same model."""
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    problem = toy_problem(estimator)
    one, other = fitted(estimator, problem), fitted(estimator, problem)
    for a, b in zip(outputs(one, problem.bags), outputs(other, problem.bags)):
        np.testing.assert_array_equal(a, b)


def check_order_of_bags_does_not_matter(estimator):
    problem, model = on_toys(estimator)
    order = np.random.default_rng(1).permutation(len(problem.bags))
    shuffled = clone(estimator).fit(problem.bags[order], problem.y[order])
    assert_same(model, shuffled, problem.bags, "another order of the bags")


def check_order_of_instances_does_not_matter(estimator):
    problem, model = on_toys(estimator)
    rng = np.random.default_rng(3)
    shuffled = Bags.from_list([rng.permutation(np.array(bag)) for bag in problem.bags])
    assert_same(
        model,
        clone(estimator).fit(shuffled, problem.y),
        problem.bags,
        "another order of the instances",
    )


def check_weight_two_is_a_duplicate(estimator):
    problem = toy_problem(estimator)
    copies = np.random.default_rng(2).integers(1, 3, size=len(problem.bags))
    index = np.repeat(np.arange(len(problem.bags)), copies)
    weighted = fitted(estimator, problem, sample_weight=copies.astype(float))
    repeated = clone(estimator).fit(problem.bags[index], problem.y[index])
    assert_same(weighted, repeated, problem.bags, "a weight of two in place of a duplicate")


def check_weight_zero_is_absence(estimator):
    problem = toy_problem(estimator)
    kept = np.arange(len(problem.bags)) % 5 != 4
    weighted = fitted(estimator, problem, sample_weight=kept.astype(float))
    left_out = clone(estimator).fit(problem.bags[kept], problem.y[kept])
    assert_same(weighted, left_out, problem.bags, "a weight of zero in place of absence")


def check_list_and_frame_give_the_same(estimator):
    problem, model = on_toys(estimator)
    listed = clone(estimator).fit([np.array(bag) for bag in problem.bags], problem.y)
    assert_same(model, listed, problem.bags, "a list of arrays in place of Bags")
    try:
        import pandas as pd
    except ImportError:
        return
    names = [f"f{j}" for j in range(problem.bags.n_features)]
    frame = pd.DataFrame(problem.bags.instances, columns=names)
    frame["bag"] = problem.bags.spread(np.asarray(problem.bags.ids))
    framed: Any = Bags.from_frame(frame, bag="bag")
    named = clone(estimator).fit(framed, problem.y)
    assert list(named.feature_names_in_) == names
    for a, b in zip(outputs(model, problem.bags), outputs(named, framed)):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    renamed = framed.with_instances(framed.instances, ["other", *names[1:]])
    assert_refused(lambda: named.predict(renamed), "other", "f0")


def check_sparse_is_dense(estimator):
    problem = toy_problem(estimator)
    rows = np.where(np.abs(problem.bags.instances) < 0.3, 0.0, problem.bags.instances)
    dense = Bags(rows, problem.bags.offsets)
    thin = Bags(sparse.csr_array(rows), problem.bags.offsets)
    if not estimator._accepts_sparse:
        assert_refused(lambda: clone(estimator).fit(thin, problem.y), "parse")
        return
    one = clone(estimator).fit(dense, problem.y)
    other = clone(estimator).fit(thin, problem.y)
    for a, b in zip(outputs(one, dense), outputs(other, thin)):
        assert np.abs(a - b).max() <= TOLERANCE * max(np.ptp(a), 1e-12)


def check_plain_rows_are_bags_of_one(estimator):
    """Predicting on rows is predicting instances, and fitting on rows is fitting bags of one."""
    problem, model = on_toys(estimator)
    rows = np.array(problem.bags.instances)
    alone = problem.bags.singletons()
    assert_close(model.predict(rows), model.predict(alone))
    as_bags, as_instances = outputs(model, rows)[0], outputs(model, problem.bags)[1]
    if "majority" in estimator._rules:  # a bag of one has one vote, whatever its score
        as_bags, as_instances = as_bags > 0, as_instances > 0
    assert_close(as_bags, as_instances)
    if not ({"count", "sum"} & set(estimator._rules)):
        labels = problem.y[problem.bags.bag_of]
        one, other = clone(estimator).fit(rows, labels), clone(estimator).fit(alone, labels)
        assert_close(outputs(one, rows)[0], outputs(other, rows)[0])
