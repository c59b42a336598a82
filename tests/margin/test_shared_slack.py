"""The rival of `benchmarks/thesis/threshold`: MI-SVM with one slack a bag."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks.thesis._shared_slack import SharedSlackSVC
from mixedbag.bags import Bags

kernel = partial(rbf_kernel, gamma=0.3)


def test_with_bags_of_one_it_is_a_plain_machine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=40) > 0).astype(int)
    bags = Bags(X, np.arange(41))
    ours = SharedSlackSVC(1.0, kernel, tol=1e-6).fit(bags, y).decision_function(bags)
    theirs = SVC(gamma=0.3, tol=1e-8).fit(X, y).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("C", [0.05, 0.7, 20.0])
def test_a_machine_has_no_duality_gap(C):
    rng = np.random.default_rng(1)
    positive = rng.normal(size=(6, 3)) + 0.5
    negative = Bags(rng.normal(size=(14, 3)), np.array([0, 3, 7, 9, 14]))
    rows = np.vstack([positive, negative.instances])
    gram = kernel(rows, rows)
    beta, intercept = SharedSlackSVC(C, kernel, tol=1e-8)._machine(gram, 6, negative)
    dual = np.abs(beta)
    sums = [dual[6 + a : 6 + b].sum() for a, b in pairwise(negative.offsets)]
    assert beta.sum() == pytest.approx(0.0, abs=1e-9)
    assert max(dual[:6].max(), *sums) <= C * (1 + 1e-9)
    score = gram @ beta + intercept
    worst = [score[6 + a : 6 + b].max() for a, b in pairwise(negative.offsets)]
    losses = np.maximum(0.0, 1.0 - np.concatenate([score[:6], -np.array(worst)]))
    half_norm = 0.5 * beta @ gram @ beta
    assert half_norm + C * losses.sum() == pytest.approx(dual.sum() - half_norm, rel=1e-5)
