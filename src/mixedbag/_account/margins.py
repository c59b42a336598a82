"""Margins: rates of groups, so that what all groups of a precinct answered adds up to its answers.

With X_g people of group g of whom a share p_gc is thought to answer c, and T_c answers, the rates
are q_gc ∝ p_gc exp(b_c) for the shifts b that minimise

    D(b) = Σ_g X_g log Σ_c p_gc exp(b_c) − Σ_c T_c b_c,    ∂D / ∂b_c = Σ_g X_g q_gc − T_c.

Of all tables with these margins, X_g q_gc is the nearest to the given one in relative entropy, as
iterative proportional fitting has it, which takes hundreds of steps where rates are near 0 and 1.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

_CERTAIN = 1e-12  # an answer that nobody gave still has this share, so that shifts stay finite
_NEAR = 1e-10  # of the people of a precinct
_STEPS = 100
_HALVINGS = 30
_LONGEST = 8.0  # where the Hessian is nearly flat, a step of Newton would go anywhere


def scale_to_margins(
    rates: NDArray[np.float64], rows: NDArray[np.float64], columns: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rates that agree with the margins of each precinct; NaN for a group that it does not have.

    Parameters
    ----------
    rates : array of shape (n_precincts, n_rows, n_columns)
    rows : array of shape (n_precincts, n_rows)
    columns : array of shape (n_precincts, n_columns)
        Those of a precinct add up to its rows.
    """
    n_columns = columns.shape[1]
    people = rows / rows.sum(axis=1, keepdims=True)
    wanted = columns / columns.sum(axis=1, keepdims=True) + _CERTAIN
    wanted /= wanted.sum(axis=1, keepdims=True)
    absent = (rows == 0)[:, :, None]
    log_p = np.log(np.clip(np.where(absent, 1.0, rates), 1e-300, None))
    shift = np.zeros_like(wanted)
    for _ in range(_STEPS):
        q = np.exp(log_softmax(log_p + shift[:, None], axis=2))
        missing = wanted - np.einsum("pr,prc->pc", people, q)
        if np.abs(missing).max() < _NEAR:
            break
        # The same shift of all columns changes nothing: 1 / n_columns holds that direction.
        held = 1.0 / n_columns + 1e-13 * np.eye(n_columns)
        squares = np.einsum("pr,prc,prd->pcd", people, q, q)
        hessian = np.einsum("pr,prc,cd->pcd", people, q, np.eye(n_columns)) - squares + held
        step = np.linalg.solve(hessian, missing[:, :, None])[:, :, 0]
        step *= _LONGEST / np.maximum(np.abs(step).max(axis=1, keepdims=True), _LONGEST)
        shift += _downhill(log_p, people, wanted, shift, step, (missing * step).sum(axis=1))
    return np.where(absent, np.nan, q)


def _downhill(log_p, people, wanted, shift, step, slope):
    """As much of each precinct's step as makes D less, by halves."""

    def dual(b):
        return (people * logsumexp(log_p + b[:, None], axis=2)).sum(axis=1) - (wanted * b).sum(1)

    before, part = dual(shift), np.ones((len(shift), 1))
    for _ in range(_HALVINGS):
        uphill = dual(shift + part * step) > before - 1e-4 * part[:, 0] * slope + 1e-15
        if not uphill.any():
            break
        part[uphill] /= 2
    return part * step
