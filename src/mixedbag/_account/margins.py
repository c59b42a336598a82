"""Margins: answers of several classes that add up, row by row and over the rows of a bag.

With X_i people in row i of a bag (one, where rows are instances) of whom a share p_ic is thought to
be of class c, and T_c people of that class in all, the shares are q_ic ∝ p_ic exp(b_c) for the
shifts b that minimise

    D(b) = Σ_i X_i log Σ_c p_ic exp(b_c) − Σ_c T_c b_c,    ∂D / ∂b_c = Σ_i X_i q_ic − T_c.

Of all tables with these margins, X_i q_ic is the nearest to the given one in relative entropy, as
iterative proportional fitting has it, which takes thousands of steps where p is near 0 and 1, and
then misses counts by whole instances. Newton's steps do not; where p is surer still, D has corners,
and is first minimised for p to the power of 1/2, 1/4, …
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp

from mixedbag._account.counts import shift_to_counts
from mixedbag.pooling import bag_sum, spread

_NEAR, _ROUGH = 1e-10, 1e-3  # of the people of a bag; on the way to a higher power
_EASY = 10.0  # how far apart logarithms of shares may lie without corners
_STEPS = 60
_HALVINGS = 30
_LONGEST = 8.0  # where the Hessian is nearly flat, a step of Newton would go anywhere


def scale_to_counts(
    shares: NDArray[np.float64],
    offsets: NDArray[np.int64],
    counts: NDArray[np.float64],
    people: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Shares of classes in rows of bags whose columns add up to the counts of each bag.

    Parameters
    ----------
    shares : array of shape (n_rows, n_classes)
        Probabilities of instances, or rates of groups.
    offsets : array of shape (n_bags + 1,)
    counts : array of shape (n_bags, n_classes)
        Those of a bag add up to its people.
    people : array of shape (n_rows,), optional
        How many a row stands for, above zero; one each where it is not given.
    """
    if counts.shape[1] == 2 and people is None:  # one shift a bag, found at once
        p = np.clip(shares, 1e-300, None)
        z = np.log(p[:, 1]) - np.log(p[:, 0])
        wanted = counts[:, 1] * np.diff(offsets) / counts.sum(axis=1)
        z = z + spread(shift_to_counts(z, offsets, wanted), offsets)
        return np.column_stack([expit(-z), expit(z)])
    weight = np.ones(len(shares)) if people is None else people
    weight = weight / spread(bag_sum(weight, offsets), offsets)
    wanted = counts / counts.sum(axis=1, keepdims=True)
    never = spread(wanted, offsets) == 0
    log_p = np.log(np.clip(shares, 1e-300, None))
    log_p -= np.where(never, -np.inf, log_p).max(axis=1, keepdims=True)
    reach = -log_p.min(initial=0.0, where=~never)
    power = 0.5 ** np.ceil(np.log2(max(reach / _EASY, 1.0)))
    log_p = np.where(never, -np.inf, power * log_p)
    shift = np.zeros_like(wanted)
    while power < 1.0:
        shift = 2.0 * _shifts(_Margins(log_p, weight, offsets, wanted), shift, _ROUGH)
        log_p, power = 2.0 * log_p, 2.0 * power
    margins = _Margins(log_p, weight, offsets, wanted)
    return margins.shares(_shifts(margins, shift, _NEAR))


class _Margins(NamedTuple):
    log_p: np.ndarray
    weight: np.ndarray
    offsets: np.ndarray
    wanted: np.ndarray

    def shares(self, shift):
        return np.exp(log_softmax(self.log_p + spread(shift, self.offsets), axis=1))

    def dual(self, shift):
        """D of every bag, by its people."""
        of_rows = logsumexp(self.log_p + spread(shift, self.offsets), axis=1)
        return bag_sum(self.weight * of_rows, self.offsets) - (self.wanted * shift).sum(axis=1)

    def some(self, bags):
        """The margins of some bags, a mask."""
        rows, sizes = spread(bags, self.offsets), np.diff(self.offsets)[bags]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        return _Margins(self.log_p[rows], self.weight[rows], offsets, self.wanted[bags])


def _shifts(margins, shift, near):
    """The shifts that minimise D, by Newton's steps on the bags that are not near enough."""
    found, open_ = shift.copy(), np.arange(len(shift))
    for _ in range(_STEPS):
        q = margins.shares(found[open_])
        cells = margins.weight[:, None] * q
        told = bag_sum(cells, margins.offsets)
        missing = margins.wanted - told
        off = np.abs(missing).max(axis=1) >= near
        if not off.any():
            break
        step = _newton(q, cells, told, missing, margins.offsets)[off]
        open_, margins, missing = open_[off], margins.some(off), missing[off]
        found[open_] += _downhill(margins, found[open_], step, (missing * step).sum(axis=1))
    return found


def _newton(q, cells, told, missing, offsets):
    n_classes = q.shape[1]
    products = [bag_sum(cells * q[:, [c]], offsets) for c in range(n_classes)]
    # The same shift of all classes changes nothing: 1 / n_classes holds that direction.
    held = 1.0 / n_classes + 1e-13 * np.eye(n_classes)
    hessian = told[:, :, None] * np.eye(n_classes) - np.stack(products, axis=2) + held
    step = np.linalg.solve(hessian, missing[:, :, None])[:, :, 0]
    return step * (_LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), _LONGEST))


def _downhill(margins, shift, step, slope):
    """As much of each bag's step as makes D less, by halves."""
    before, part = margins.dual(shift), np.ones((len(shift), 1))
    for _ in range(_HALVINGS):
        after = margins.dual(shift + part * step)
        uphill = after > before - 1e-4 * part[:, 0] * slope + 1e-15
        if not uphill.any():
            break
        part[uphill] /= 2
    return part * step
