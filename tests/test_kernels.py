"""What ``gamma`` means, against scikit-learn and repeated rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from mixedbag._kernels import settled_gamma


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_is_that_of_scikit_learn_on_repeated_rows(gamma, convert):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) + 2.0
    times = rng.integers(1, 4, size=20)
    repeated = np.repeat(X, times, axis=0)
    theirs = SVC(gamma=gamma).fit(convert(repeated), np.arange(len(repeated)) % 2)
    assert settled_gamma(gamma, convert(X), times.astype(float)) == pytest.approx(theirs._gamma)


def test_constant_data_have_gamma_one():
    assert settled_gamma("scale", np.full((4, 2), 3.0), np.ones(4)) == 1.0
