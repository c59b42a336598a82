"""MILIS: first prototypes by their definition, and its machine on bags of one."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from mixedbag.classics import MILIS
from mixedbag.datasets import make_any

GAMMA = 0.2


def test_bags_of_one_are_a_linear_machine_on_similarities():
    data = make_any(n_bags=40, size=(1, 1), n_features=3, random_state=0)
    rows = data.bags.instances
    model = MILIS(C=2.0, gamma=GAMMA, tol=1e-8).fit(rows, data.y)
    plain = SVC(C=2.0, kernel="linear", tol=1e-8).fit(rbf_kernel(rows, rows, GAMMA), data.y)
    queries = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(
        model.decision_function(queries),
        plain.decision_function(rbf_kernel(queries, rows, GAMMA)),
        atol=1e-5,
    )


def test_first_prototypes_are_least_and_most_like_negative_instances():
    data = make_any(n_bags=20, n_features=3, random_state=1)
    model = MILIS(gamma=GAMMA, max_iter=1).fit(data.bags, data.y)
    negative = np.vstack([bag for bag, label in zip(data.bags, data.y) if label == 0])
    for bag, label, prototype in zip(data.bags, data.y, model.prototypes_):
        density = rbf_kernel(bag, negative, GAMMA).sum(axis=1)
        wanted = bag[density.argmin() if label else density.argmax()]
        np.testing.assert_array_equal(prototype, wanted)


def test_the_objective_falls_and_prototypes_stay_in_their_bags():
    data = make_any(n_bags=60, n_features=5, separation=2.0, random_state=3)
    model = MILIS().fit(data.bags, data.y)
    assert len(model.objective_) > 1
    assert (np.diff(model.objective_) < 0).all()
    for bag, prototype in zip(data.bags, model.prototypes_):
        assert (bag == prototype).all(axis=1).any()
