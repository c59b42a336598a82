"""Scikit-learn's conventions: both levels, copies, pipelines, searches and callbacks."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import io
from mixedbag.testing._comparing import on_toys, outputs
from mixedbag.testing._problems import toy_problem
from mixedbag.wrappers import InstanceWise


def check_both_levels(estimator):
    """Bag and instance predictions have the right shapes."""
    problem, model = on_toys(estimator)
    assert len(model.predict(problem.bags)) == len(problem.bags)
    assert len(model.predict_instances(problem.bags)) == problem.bags.n_instances
    if hasattr(model, "decision_function"):
        scores = model.decision_function(problem.bags)
        assert scores.shape == (len(problem.bags),), scores.shape
        scores = model.decision_function_instances(problem.bags)
        assert scores.shape == (problem.bags.n_instances,), scores.shape


def check_copies_predict_the_same(estimator):
    """Pickle and a safe saved file keep the predictions; a clone is unfitted."""
    problem, model = on_toys(estimator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        io.save(model, path)
        own = f"{type(model).__module__}.{type(model).__qualname__}"
        copies = [pickle.loads(pickle.dumps(model)), io.load(path, trusted=[own])]
    for copy in copies:
        for a, b in zip(outputs(model, problem.bags), outputs(copy, problem.bags)):
            np.testing.assert_array_equal(a, b)
    assert not hasattr(clone(model), "n_features_in_")


def check_pipeline_and_search(estimator):
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
    problem, model = on_toys(estimator)
    score = model.score(problem.bags, problem.y)
    floor = 0.7 if is_classifier(estimator) else 0.5
    assert score >= floor, f"{type(estimator).__name__} scores {score:.2f} on its training bags"
