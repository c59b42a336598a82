"""One thread for small matrices: several wait for each other longer than such products take.

Steps of SciPy's L-BFGS for a few unknowns take several times as long in two threads as in one, and
far longer on a machine that has other work to do. One thread also rounds alike everywhere.
"""

from contextlib import contextmanager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

_SMALL = 2**20  # numbers stored in a table: more are work for several threads


@contextmanager
def one_thread():
    """BLAS computes in one thread inside; to be used as a decorator too."""
    with _blas().limit(limits=1):
        yield


def threads_for(n_numbers):
    """As many threads as suit a table of so many numbers: one, or what BLAS has."""
    return one_thread() if n_numbers <= _SMALL else nullcontext()


@cache
def _blas():
    """The libraries of linear algebra, looked for once: that takes as long as a small fit."""
    return ThreadpoolController().select(user_api="blas")
