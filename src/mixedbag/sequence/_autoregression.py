"""A vector autoregression for every state (eq. 4 of the ARHMM-MIL paper):
``x_t = A_j (x_{t−1}, …, x_{t−p}, 1) + noise of covariance Σ_j``.
"""

import numpy as np

RIDGE = 1.0  # prior precision of the coefficients, in units of the noise; channels are standardised
FLOOR = (
    1e-6  # least noise variance of a standardised channel, so that constant channels are harmless
)


class Autoregression:
    """Coefficients (n_states, n_regressors, n_channels) and noise covariances of all states."""

    def __init__(self, coefficients, covariances):
        self.coefficients = coefficients
        self.covariances = covariances

    def log_density(self, rows):
        """log P(x_t | past, Z_t = j), a column a state: one product with whitened coefficients."""
        n_states, m, d = self.coefficients.shape
        factor = np.linalg.cholesky(self.covariances)
        residual = np.concatenate(
            [-self.coefficients, np.tile(np.eye(d), (n_states, 1, 1))], axis=1
        )
        white_states = residual @ np.linalg.inv(factor).transpose(0, 2, 1)
        # channels first, so that squares of one channel lie together for all states
        whitening = white_states.transpose(1, 2, 0).reshape(m + d, d * n_states)
        constant = np.log(np.einsum("jcc->jc", factor)).sum(axis=1) + 0.5 * d * np.log(2 * np.pi)
        white = rows @ whitening
        np.square(white, out=white)
        distance = white[:, :n_states].copy()
        for channel in range(1, d):
            distance += white[:, channel * n_states : (channel + 1) * n_states]
        distance *= -0.5
        distance -= constant
        return distance

    @classmethod
    def most_likely(cls, moments, noise):
        """The mode of the matrix-normal inverse-Wishart posterior, from the states' second moments.

        ``noise`` is the prior's typical noise variance of each channel.
        """
        d = len(noise)
        m = moments.shape[1] - d
        xx = moments[:, :m, :m] + RIDGE * np.eye(m)
        xy, yy = moments[:, :m, m:], moments[:, m:, m:]
        coefficients = np.linalg.solve(xx, xy)
        scatter = yy - np.transpose(coefficients, (0, 2, 1)) @ xy
        scatter = 0.5 * (scatter + np.transpose(scatter, (0, 2, 1)))
        visits = moments[:, m - 1, m - 1]  # the regressor that is always one
        degrees, scale = cls._noise_prior(m, noise)
        covariances = (scale + scatter) / (visits + degrees)[:, None, None]
        return cls(coefficients, covariances)

    def log_prior(self, noise):
        _, m, _ = self.coefficients.shape
        degrees, scale = self._noise_prior(m, noise)
        total = 0.0
        for coefficients, covariance in zip(self.coefficients, self.covariances, strict=True):
            spread = scale + RIDGE * coefficients.T @ coefficients
            total -= 0.5 * degrees * np.linalg.slogdet(covariance)[1]
            total -= 0.5 * np.trace(np.linalg.solve(covariance, spread))
        return float(total)

    @staticmethod
    def _noise_prior(m, noise):
        """ν₀ + d + 1 + m and S₀: the density of Σ falls as |Σ|^(−degrees/2) exp(−tr(Σ⁻¹S₀)/2)."""
        d = len(noise)
        return 2 * d + 3 + m, (d + 2) * np.diag(noise)


def typical_noise(moments, n_channels):
    """A hundredth of the residual variance of one autoregression for all steps, floored."""
    m = len(moments) - n_channels
    xx = moments[:m, :m] + RIDGE * np.eye(m)
    explained = moments[:m, m:] * np.linalg.solve(xx, moments[:m, m:])
    residual = np.maximum(np.diag(moments[m:, m:]) - explained.sum(axis=0), 0.0)
    return 0.01 * residual / moments[m - 1, m - 1] + FLOOR
