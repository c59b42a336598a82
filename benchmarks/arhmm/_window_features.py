"""Random convolutions, which win elsewhere, as features of windows.

Written from the published descriptions, for windows of one recording: several channels, fewer
samples.
"""

import numpy as np

from mixedbag.sequence import SlidingWindows


class RandomConvolutions(SlidingWindows):
    """Random kernels that compete (Hydra, Dempster, Schmidt and Webb, 2023).

    Kernels of nine normal weights without a mean, in groups, at dilations 1, 2, 4, …, on the series
    and its first differences. At every place the kernel of a group with the largest response counts
    that response, the one with the least is counted. Besides, as in the Rocket family, the share of
    places where a kernel responds above 0. Features are square roots, which counts ask for.
    """

    n_groups, n_kernels, length = 8, 8, 9

    def get_feature_names_out(self, input_features=None):
        per_kernel = 2 * len(self._dilations()) * self.n_groups * self.n_kernels
        return np.arange(3 * per_kernel)

    def _dilations(self):
        return [2**k for k in range(10) if 2**k * (self.length - 1) < self.size]

    def _describe(self, windows):
        rng = np.random.default_rng(0)
        found = []
        for x in (windows, np.diff(windows, axis=1)):
            for dilation in self._dilations():
                shape = (self.length, x.shape[2], self.n_groups * self.n_kernels)
                kernels = rng.standard_normal(shape)
                kernels -= kernels.mean(axis=0)
                kernels /= np.abs(kernels).sum(axis=(0, 1))
                found += self._competition(_convolved(x, kernels, dilation))
        return np.sqrt(np.hstack(found))

    def _competition(self, response):
        n, places, _ = response.shape
        grouped = response.reshape(n, places, self.n_groups, self.n_kernels)
        kernel = np.arange(self.n_kernels)
        largest = grouped.argmax(axis=3)[..., None] == kernel
        least = grouped.argmin(axis=3)[..., None] == kernel
        gained = (np.maximum(grouped, 0.0) * largest).mean(axis=1)
        positive = (response > 0).mean(axis=1)
        return [gained.reshape(n, -1), least.mean(axis=1).reshape(n, -1), positive]


def _convolved(x, kernels, dilation):
    """Responses (windows, places, kernels); the ends are padded with their own values."""
    reach = dilation * (len(kernels) // 2)
    padded = np.pad(x, ((0, 0), (reach, reach), (0, 0)), mode="edge")
    return sum(
        padded[:, k * dilation : k * dilation + x.shape[1]] @ kernels[k]
        for k in range(len(kernels))
    )
