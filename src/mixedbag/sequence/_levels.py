"""States that know their level: an autoregression, and beside it a Gaussian of the samples.

An autoregression predicts a sample from the last few, wherever they are: it tells motions apart and
hardly sees levels (postures). Here a state's density is a product,

    P(x_t | past, Z_t = j) · N(x_t; μ_j, V_j)^level,

a composite likelihood: EM maximises it as it does the first factor alone, from the same moments,
because the Gaussian is an autoregression of order 0.
"""

import numpy as np

from mixedbag.sequence._autoregression import Autoregression

# The prior's typical variance about a level, of standardised channels.
LEVEL_NOISE = 0.01


class Levelled:
    """The autoregressions of all states, and their levels to the power `weight`."""

    def __init__(self, motion, level, weight):
        self.motion = motion
        self.level = level
        self.weight = weight

    @property
    def coefficients(self):
        return self.motion.coefficients

    @property
    def covariances(self):
        return self.motion.covariances

    def log_density(self, rows):
        """log of the product above, a column a state."""
        d = self.level.coefficients.shape[2]
        return self.motion.log_density(rows) + self.weight * self.level.log_density(
            rows[:, -d - 1 :]
        )

    def log_prior(self, noise):
        return self.motion.log_prior(noise) + self.level.log_prior(_level_noise(noise))


def most_likely_emission(moments, noise, weight):
    """The mode of the posterior given the states' second moments; without levels for weight 0."""
    motion = Autoregression.most_likely(moments, noise)
    if weight == 0:
        return motion
    last = -len(noise) - 1  # the regressor that is always one, then the sample
    level = Autoregression.most_likely(weight * moments[:, last:, last:], _level_noise(noise))
    return Levelled(motion, level, weight)


def _level_noise(noise):
    return np.full(len(noise), LEVEL_NOISE)
