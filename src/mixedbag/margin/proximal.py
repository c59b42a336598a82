"""Proximal Newton steps for linear problems with few features."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

_FIRST_PULL, _WARM_PULL, _LAST_PULL = 0.5, 8.0, 1e6
_BLOCK = 4096


def proximal_newton(rows, problem, dual, w, tol, max_steps=1000):
    """Solve `problem` from `dual` and the weights `w` (None: from nothing).

    The hinge has a kink, so the loss is replaced by its smooth envelope around the current dual,
    whose slope is

        -clip((dual + pull·(1 - margin)) / (1 + pull·ridge), 0, upper).

    The optimum is the same for every `pull`: this is the method of multipliers. The envelope is
    piecewise quadratic, so a few Newton steps minimise it; then the dual moves to the
    envelope's slope, and `pull` doubles. Only rows strictly inside the box enter the Newton
    matrix, soon no more than there are features. The last steps converge faster than linearly,
    and nothing depends on the order of the rows.

    Returns the dual, the weights, and whether the relative duality gap is below `tol`. From a given
    `w` the objective does not rise.
    """
    pull = _FIRST_PULL if w is None else _WARM_PULL
    if problem.squared:
        pull = 1e12  # no kink: the envelope may be the loss itself
    w = np.zeros(rows.n_features + 1) if w is None else w
    margin = problem.sign * rows.scores(problem.rows, w)
    ceiling = (0.5 * w @ w + problem.loss(margin)) * (1.0 + 1e-9)
    envelope = _Envelope(problem, dual, pull)
    for _ in range(max_steps):
        dual, inside = envelope.dual(margin)
        gradient = w - rows.total(problem.rows, problem.sign * dual)
        slack = problem.slackness(dual, margin)
        objective = 0.5 * w @ w + problem.loss(margin)
        if slack + 0.5 * gradient @ gradient <= tol * objective and objective <= ceiling:
            return dual, w, True
        hessian = _hessian(rows, problem.rows[inside], envelope.bend[inside])
        factor = cho_factor(hessian, check_finite=False)
        direction = -cho_solve(factor, gradient, check_finite=False)
        decrease = -gradient @ direction
        nearly_done = slack <= 0.5 * tol * objective  # then only the gradient is left
        if decrease <= (1e-15 * objective if nearly_done else 0.01 * slack):
            pull = max(pull, min(2.0 * pull, _LAST_PULL))
            envelope = _Envelope(problem, dual, pull)
            continue
        along = problem.sign * rows.scores(problem.rows, direction)
        size = _step_size(envelope, w, direction, margin, along, decrease)
        w = w + size * direction
        margin = margin + size * along
    return dual, w, False


class _Envelope:
    """The smooth stand-in for the loss, with slope `-dual(margin)`."""

    def __init__(self, problem, dual, pull):
        damping = 1.0 + pull * problem.cost * problem.ridge
        self.bend = pull * problem.cost / damping
        self.offset = dual / damping + self.bend
        self.upper = problem.upper

    def dual(self, margin):
        """The dual at these margins, and which of them lie strictly inside the box."""
        free = self.offset - self.bend * margin
        dual = np.clip(free, 0.0, self.upper)
        return dual, dual == free

    def value(self, margin):
        free = self.offset - self.bend * margin
        dual = np.clip(free, 0.0, self.upper)
        return np.sum((free - 0.5 * dual) * dual / self.bend)


def _hessian(rows, chosen, bend):
    """`I + Σ bend x xᵀ`, a block of rows at a time."""
    hessian = np.eye(rows.n_features + 1)
    for i in range(0, len(chosen), _BLOCK):
        table = rows.dense(chosen[i : i + _BLOCK])
        table *= np.sqrt(bend[i : i + _BLOCK])[:, None]
        hessian += table.T @ table
    hessian[np.diag_indices_from(hessian)] += 1e-13 * np.trace(hessian)  # against rounding
    return hessian


def _step_size(envelope, w, direction, margin, along, decrease):
    """Halve the step until the envelope falls."""
    start = 0.5 * w @ w + envelope.value(margin)
    size = 1.0
    while size > 1e-10:
        moved = w + size * direction
        value = 0.5 * moved @ moved + envelope.value(margin + size * along)
        if value <= start - 1e-4 * size * decrease:
            break
        size *= 0.5
    return size
