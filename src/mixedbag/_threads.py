"""One thread for small matrices: several wait for each other longer than such products take.

Steps of SciPy's L-BFGS for a few unknowns take several times as long in two threads as in one, and
far longer on a machine that has other work to do. One thread also rounds alike everywhere: so do
products by BLAS, and scikit-learn's means of clusters, which it adds up by OpenMP.
"""

from contextlib import contextmanager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

_SMALL = 2**20  # numbers stored in a table: more are work for several threads


@contextmanager
def one_thread():
    """BLAS and OpenMP compute in one thread inside; to be used as a decorator too."""
    with _libraries().limit(limits=1):
        yield


def threads_for(n_numbers):
    """As many threads as suit a table of so many numbers: one, or what BLAS has."""
    return one_thread() if n_numbers <= _SMALL else nullcontext()


@cache
def _libraries():
    """The libraries that have threads, looked for once: that takes as long as a small fit."""
    return ThreadpoolController()
