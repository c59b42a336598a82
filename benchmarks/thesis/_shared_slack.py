"""MI-SVM with one slack a bag, as the conference paper on support vector machines for multiple
instances prints it and other libraries solve it.

    ½|f|² + C Σ_bags max(0, 1 − Y_I max_i f(x_i))

The thesis, and so the library, gives every instance of a negative bag a slack of its own.
"""

import numpy as np

from mixedbag.pooling import bag_argmax, bag_max

MOST_STEPS = 20_000


class SharedSlackSVC:
    """Alternates the machine and the witnesses, from the positive bags' centroids."""

    def __init__(self, C, kernel, tol=1e-3):
        self.C, self.kernel, self.tol = C, kernel, tol

    def fit(self, bags, y):
        positive, X = np.flatnonzero(y == 1), bags.instances
        negatives = bags[np.flatnonzero(y == 0)]
        centroids = np.array([bags[i].mean(axis=0) for i in positive])
        witness, before = centroids, set()
        for _ in range(50):
            rows = np.vstack([witness, negatives.instances])
            beta, self.intercept_ = self._machine(self.kernel(rows, rows), len(positive), negatives)
            self.rows_, self.beta_ = rows, beta
            chosen = bag_argmax(self.score(X), bags.offsets)[positive]
            if chosen.tobytes() in before:
                return self
            before.add(chosen.tobytes())
            witness = X[chosen]
        return self

    def score(self, X):
        return self.kernel(X, self.rows_) @ self.beta_ + self.intercept_

    def decision_function(self, bags):
        return bag_max(self.score(bags.instances), bags.offsets)

    def _machine(self, gram, n_positive, negatives):
        """Coefficients with signs, and the intercept: pairs of most violating coefficients.

        A coefficient may fall while its group's duals sum to less than C, or in exchange for
        another of its group.
        """
        starts = n_positive + negatives.offsets[:-1]
        groups = np.concatenate([np.arange(n_positive), n_positive + negatives.bag_of])
        starts = np.concatenate([np.arange(n_positive), starts])
        sign = np.where(np.arange(len(gram)) < n_positive, 1.0, -1.0)
        beta, error = np.zeros(len(gram)), sign.copy()
        for _ in range(MOST_STEPS):
            room = self.C - np.add.reduceat(np.abs(beta), starts)
            full = room[groups] <= 1e-12 * self.C
            grow = np.where((sign > 0) & full | (sign < 0) & (beta == 0), -np.inf, error)
            fall = np.where((sign < 0) & full | (sign > 0) & (beta == 0), np.inf, error)
            i, j = np.argmax(grow), np.argmin(fall)
            # An exchange inside one negative bag leaves its sum as it is.
            inside = np.maximum.reduceat(grow, starts) - np.minimum.reduceat(error, starts)
            inside[:n_positive] = -np.inf
            own = int(np.argmax(inside))
            exchange = inside[own] > grow[i] - fall[j]
            if exchange:
                last = starts[own + 1] if own + 1 < len(starts) else len(beta)
                i = starts[own] + np.argmax(grow[starts[own] : last])
                j = starts[own] + np.argmin(error[starts[own] : last])
            if error[i] - error[j] <= self.tol:
                break
            most = [room[groups[i]] if sign[i] > 0 else -beta[i]]
            if not (exchange or groups[i] == groups[j]):
                most.append(beta[j] if sign[j] > 0 else room[groups[j]])
            curve = max(gram[i, i] + gram[j, j] - 2 * gram[i, j], 1e-12)
            step = min((error[i] - error[j]) / curve, *most)
            beta[i] += step
            beta[j] -= step
            if abs(beta[i]) < 1e-12 * self.C:
                beta[i] = 0.0
            if abs(beta[j]) < 1e-12 * self.C:
                beta[j] = 0.0
            error -= step * (gram[:, i] - gram[:, j])
        top, bottom = grow.max(), fall.min()
        return beta, (top + bottom) / 2 if np.isfinite(top + bottom) else 0.0
