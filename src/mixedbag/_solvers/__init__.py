"""Every hand-written solver, one problem a file.

A file says: the problem in one formula, what certifies the answer, who calls it, and which library
does the same, how fast (``benchmarks/results/product/solvers.md``). A solver stays only if it is
three times faster than that library, or does what it cannot: a free intercept, warm starts, sums
over blocks, certificates.

==================  =====================================================================
`smo`               kernel machines, by pairs of multipliers
`proximal_newton`   linear machines with up to a thousand features, or many dense rows
`dual_descent`      linear machines with more features
`interior_point`    linear machines with the hinge, on blocks of rows
`block_newton`      linear machines with the squared hinge, on blocks of rows
`batch_lbfgs`       smooth functions from many starts at once
`dual_simplex`      the linear programs of a branch and bound over witnesses
`highs`             all other linear programs: HiGHS, warm and on a clock
==================  =====================================================================

`hinge` is the problem that several of them solve, `numbered_rows` the table that they read.
"""

# Of kernels that only other kernels call, no one makes what Python would call them by: for a small
# one that is a good part of what it takes to compile.
INNER = {"cache": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
