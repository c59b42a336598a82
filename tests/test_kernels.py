"""Kernels against their formulas; what ``gamma`` means, against scikit-learn and repeated rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from mixedbag import _kernels as kernels
from mixedbag._kernels import Kernel, settled_gamma


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


def exactly(X, Z, gamma):
    """The kernel by its formula, pair by pair."""
    gaps = X[:, None, :].astype(float) - Z[None, :, :].astype(float)
    return np.exp(-gamma * (gaps**2).sum(axis=2))


@pytest.mark.parametrize("middle", [0.0, 3.0, 1e4])
def test_rbf_in_single_precision_has_six_digits_wherever_the_rows_lie(middle):
    rng = np.random.default_rng(0)
    X, Z = ((rng.normal(size=(n, 40)) + middle).astype(np.float32) for n in (30, 20))
    Z[:3] = X[:3]
    kernel = Kernel("rbf", 1 / 40)
    np.testing.assert_allclose(kernel.of(X, Z), exactly(X, Z, 1 / 40), rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_expansion_over_a_large_support_is_the_sum_of_its_kernels(dtype, monkeypatch):
    monkeypatch.setattr(kernels, "_TILE", 64)
    monkeypatch.setattr(kernels, "_WIDTH", 8)
    rng = np.random.default_rng(0)
    X, support = (rng.normal(size=(n, 3)).astype(dtype) for n in (37, 29))
    weights = rng.normal(size=29)
    found = Kernel("rbf", 0.2).expand(X, support, weights)
    np.testing.assert_allclose(found, exactly(X, support, 0.2) @ weights, atol=2e-6)
    few = Kernel("rbf", 0.2).expand(X, support[:5], weights[:5])
    np.testing.assert_allclose(few, exactly(X, support[:5], 0.2) @ weights[:5], atol=2e-6)
    own = Kernel("rbf", 0.2).expand(support, support.copy(), weights)  # one half is the other, too
    np.testing.assert_allclose(own, exactly(support, support, 0.2) @ weights, atol=2e-6)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_expansion_over_no_support_is_zero(kernel, dtype):
    """As of a machine whose labels all agree with its intercept."""
    X = np.ones((3, 2), dtype)
    assert Kernel(kernel, 0.5).expand(X, X[:0], np.zeros(0)).tolist() == [0.0, 0.0, 0.0]
