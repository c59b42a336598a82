"""Small tables are learned from in one thread, and the number is set back afterwards."""

import numpy as np
import pytest
import sklearn.cluster  # noqa: F401 (which brings OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

from mixedbag import Bags, _threads
from mixedbag._threads import one_thread, threads_for
from mixedbag.margin import BagMarginSVC


def n_threads(kinds=("blas", "openmp")):
    found = [library for library in threadpool_info() if library["user_api"] in kinds]
    return {library["num_threads"] for library in found}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(limits=2):
        if n_threads(["blas"]) != {2} or n_threads(["openmp"]) != {2}:
            pytest.skip("this machine has one thread")
        yield
        assert n_threads() == {2}


def test_one_thread_inside_and_as_many_as_before_outside():
    with one_thread():
        assert n_threads() == {1}
        with one_thread():
            assert n_threads() == {1}
        assert n_threads() == {1}
    with pytest.raises(ValueError, match="within"), one_thread():
        raise ValueError("within")


def test_large_tables_keep_their_threads():
    with threads_for(_threads._SMALL):
        assert n_threads() == {1}
    with threads_for(_threads._SMALL + 1):
        assert n_threads() == {2}


def test_a_small_fit_is_in_one_thread():
    seen = []

    class Watched(BagMarginSVC):
        def _learn(self, bags, y, weight):
            seen.append(n_threads())
            super()._learn(bags, y, weight)

    rng = np.random.default_rng(0)
    Watched().fit(Bags.from_list(rng.normal(size=(6, 3, 2))), [0, 1] * 3)
    assert seen == [{1}]
