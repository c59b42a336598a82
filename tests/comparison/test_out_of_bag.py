"""Out-of-bag answers of the study are those that scikit-learn gives."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline

from benchmarks.product.out_of_bag import out_of_bag
from mixedbag._forests import RandomForest
from mixedbag.datasets import make_any
from mixedbag.wrappers import BagFeatures


def test_they_are_those_of_scikit_learn():
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    ours = Pipeline([("statistics", BagFeatures()), ("model", RandomForest(random_state=0))])
    ours.fit(data.bags, data.y)
    rows = ours[0].transform(data.bags)
    theirs = RandomForestClassifier(random_state=0, oob_score=True).fit(rows, data.y)
    assert np.allclose(out_of_bag(ours, data.bags), theirs.oob_decision_function_)


def test_a_bag_that_every_tree_has_drawn_is_not_known():
    data = make_any(n_bags=6, size=2, n_features=2, random_state=0)
    model = RandomForest(n_estimators=1, random_state=0)
    ours = Pipeline([("statistics", BagFeatures()), ("model", model)]).fit(data.bags, data.y)
    (tree,) = ours[1].estimators_
    drawn = np.unique(np.random.RandomState(tree.random_state).randint(0, 6, 6))
    assert (out_of_bag(ours, data.bags)[drawn] == 0.5).all()
