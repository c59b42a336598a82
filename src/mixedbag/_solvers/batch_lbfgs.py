"""L-BFGS for many starts at once: one call of the function moves all of them.

The problem: min f(x), smooth, from each of several x.

Certificate: no start ever rises; a start has converged when a step gains less than `tol`.
Callers: `DiverseDensity` and `EMDD`, whose f for a batch of concepts is a few matrix products.
Library: SciPy's L-BFGS from one start after the other, which cannot give up on those that fall
behind. Ours is 1.5 to 2.2 times faster when none is given up.
"""

from collections import deque

import numpy as np

_SUFFICIENT_DECREASE = 1e-4
_MAX_BACKTRACKS = 12


class BatchLBFGS:
    """Minimise a function from several starts, all in step.

    The function maps points, a row a start, to their values and gradients, so that the work of a
    whole batch is a few matrix products. Starts that have converged leave the batch.

    Parameters
    ----------
    function : callable
        ``function(points) -> (values, gradients)``, each row independent of the others.
    starts : array of shape (n_starts, n_parameters)
    tol : float
        A start has converged when a step lowers its value by less than this share.
    memory : int
        Number of past steps from which curvature is estimated.

    Attributes
    ----------
    points, values : the best point of every start so far, and its value
    history : list of arrays, the values after each step; no start ever rises
    """

    def __init__(self, function, starts, tol=1e-6, memory=8):
        self.function, self.tol = function, tol
        self.points = np.array(starts, dtype=float)
        self.values, self._gradients = function(self.points)
        self.history = [self.values.copy()]
        self._live = np.arange(len(self.points))
        self._pairs: deque = deque(maxlen=memory)  # (step, change of gradient, 1 / their product)
        self._curvature = np.ones(len(self.points))

    @property
    def converged(self):
        return len(self._live) == 0

    def step(self):
        """Move every start that has not converged."""
        live, gradients = self._live, self._gradients
        directions = self._directions(gradients)
        slopes = _dot(directions, gradients)
        uphill = slopes >= 0
        directions[uphill] = -gradients[uphill]
        slopes[uphill] = -_dot(gradients[uphill], gradients[uphill])
        length = np.ones(len(live))
        if not self._pairs:  # nothing is known of the scale yet: a step of length one at most
            length /= np.maximum(1.0, np.sqrt(-slopes))
        moved, points, values, gradients = self._line_search(directions, slopes, length)

        gain = self.values[live] - values
        steps = points - self.points[live]
        self._remember(steps, gradients - self._gradients)
        self.points[live], self.values[live] = points, values
        self._gradients = gradients
        self.history.append(self.values.copy())
        self._keep(moved & (gain > self.tol * np.maximum(np.abs(values), 1e-3)))

    def drop_worse_half(self):
        """Let go of the starts that are behind, but never of all."""
        values = self.values[self._live]
        self._keep(values <= np.median(values))

    def _directions(self, gradients):
        """The two-loop recursion, for all starts together."""
        q = gradients.copy()
        shares = []
        for step, change, inverse in reversed(self._pairs):
            share = inverse * _dot(step, q)
            q -= share[:, None] * change
            shares.append(share)
        q *= self._curvature[:, None]
        for (step, change, inverse), share in zip(self._pairs, reversed(shares)):
            q += (share - inverse * _dot(change, q))[:, None] * step
        return -q

    def _line_search(self, directions, slopes, length):
        """Shorten steps until each lowers its value enough; starts that never do stay put."""
        start, low = self.points[self._live], self.values[self._live]
        points, values, gradients = start.copy(), low.copy(), self._gradients.copy()
        trying = np.arange(len(start))
        for _ in range(_MAX_BACKTRACKS):
            trial = start[trying] + length[trying, None] * directions[trying]
            value, gradient = self.function(trial)
            bound = low[trying] + _SUFFICIENT_DECREASE * length[trying] * slopes[trying]
            good = value <= bound
            done = trying[good]
            points[done], values[done], gradients[done] = trial[good], value[good], gradient[good]
            trying, value = trying[~good], value[~good]
            if len(trying) == 0:
                break
            # The minimum of the parabola through what is known, kept within sane limits.
            tried, slope = length[trying], slopes[trying]
            rise = value - low[trying] - tried * slope
            length[trying] = np.clip(-slope * tried**2 / (2 * rise), 0.1 * tried, 0.5 * tried)
        moved = np.ones(len(start), dtype=bool)
        moved[trying] = False
        return moved, points, values, gradients

    def _remember(self, steps, changes):
        product, norm = _dot(steps, changes), _dot(changes, changes)
        # A step along which the slope did not grow says nothing of curvature: factor zero.
        useful = product > 1e-10 * norm
        inverse = np.divide(1.0, product, out=np.zeros(len(steps)), where=useful)
        self._pairs.append((steps, changes, inverse))
        self._curvature = np.divide(product, norm, out=self._curvature, where=useful)

    def _keep(self, keep):
        if keep.all():
            return
        self._live, self._gradients = self._live[keep], self._gradients[keep]
        self._curvature = self._curvature[keep]
        self._pairs = deque(
            [tuple(part[keep] for part in pair) for pair in self._pairs], self._pairs.maxlen
        )


def _dot(a, b):
    return np.vecdot(a, b)
