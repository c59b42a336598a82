"""What classifiers with one label a bag owe: any labels, witnesses, probabilities."""

import numpy as np
from sklearn.base import clone

from mixedbag.testing._comparing import on_toys, outputs


def check_any_two_labels(estimator):
    """Names of the classes do not matter; the second in order is the positive one."""
    problem, model = on_toys(estimator)
    names = np.array(["inert", "potent"], dtype=object)
    named = clone(estimator).fit(problem.bags, names[problem.y])
    assert named.classes_.tolist() == ["inert", "potent"]
    for a, b in zip(outputs(model, problem.bags), outputs(named, problem.bags)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(names[model.predict(problem.bags)], named.predict(problem.bags))
    assert set(named.predict_instances(problem.bags)) <= set(names)


def check_three_labels(estimator):
    problem, model = on_toys(estimator, n_classes=3)
    assert model.classes_.tolist() == [0, 1, 2]
    scores = model.decision_function(problem.bags)
    assert scores.shape == (len(problem.bags), 3)
    np.testing.assert_array_equal(model.predict(problem.bags), scores.argmax(axis=1))
    assert model.decision_function_instances(problem.bags).shape == (problem.bags.n_instances, 3)


def check_witnesses_are_in_positive_bags(estimator):
    problem, model = on_toys(estimator)
    if not hasattr(model, "witness_"):
        return
    np.testing.assert_array_equal(
        problem.bags.bag_of[model.witness_], np.flatnonzero(problem.y == 1)
    )


def check_probabilities(estimator):
    """Every classifier has probabilities at both levels; the largest is the predicted class's."""
    for n_classes in (2, 3):
        problem, model = on_toys(estimator, n_classes)
        for level in ("predict_proba", "predict_proba_instances"):
            proba = getattr(model, level)(problem.bags)
            assert proba.shape[1] == n_classes
            assert (proba >= 0).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
            told = model.predict if level == "predict_proba" else model.predict_instances
            np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], told(problem.bags))
        if n_classes == 2:
            order = np.argsort(model.decision_function(problem.bags))
            positive = model.predict_proba(problem.bags)[order, 1]
            assert (np.diff(positive) >= -1e-12).all()
