"""A network with one hidden layer whose outputs are matched bag by bag, and its gradient."""

import numpy as np
from scipy.special import expit, logit, softmax, xlogy

from mixedbag._wide import times, transposed_times
from mixedbag.aggregate._poisson_binomial import log_likelihood
from mixedbag.aggregate._smoothing import sharpness
from mixedbag.pooling import bag_sum, spread

_NEVER_SURER = 36.0  # log-odds beyond this are probabilities of exactly 0 or 1
_ROUNDED = 0.05  # so far from whole numbers, the counts of rounded shares are taken for them
_LARGE = 200  # a rarer label with so many instances in a bag is too dear for exact counts


class Totals:
    """Plain outputs; half the squared error of their sum over a bag (eq. 1)."""

    def outputs(self, z):
        return z

    def loss(self, z, offsets, target, weight):
        """The loss summed over bags, and its derivative by each instance's `z`."""
        error = bag_sum(z, offsets) - target
        return _half_squares(error, weight), spread(weight[:, None] * error, offsets)


class MeanTotals(Totals):
    """The squared error over the size of the bag: of so many values, its variance is as large."""

    def loss(self, z, offsets, target, weight):
        return super().loss(z, offsets, target, weight / np.diff(offsets))


class _Probabilities:
    """Class probabilities: a sigmoid when there is one column of `z`, else a softmax."""

    def outputs(self, z):
        return expit(z) if z.shape[1] == 1 else softmax(z, axis=1)

    def _through(self, p, slope):
        """The derivative by `z` of a function with derivative `slope` by the outputs `p`."""
        if p.shape[1] == 1:
            return slope * p * (1.0 - p)
        return p * (slope - (slope * p).sum(axis=1, keepdims=True))

    def information(self, z, output):
        """Shares of the scores, what they are told from, and the way to `z` (for `sharpness`)."""
        p = self.outputs(z)
        if p.shape[1] == 1:
            share = p * (1.0 - p)
            return share, 0.0, lambda squares: squares * share * (1.0 - 2.0 * p)
        return p, p @ output.T, lambda squares: self._through(p, squares)


class Counts(_Probabilities):
    """Half the squared error of the expected count of each class (eq. 1)."""

    def loss(self, z, offsets, target, weight):
        p = self.outputs(z)
        error = bag_sum(p, offsets) - target
        slope = spread(weight[:, None] * error, offsets)
        return _half_squares(error, weight), self._through(p, slope)


class Shares(_Probabilities):
    """Cross-entropy between a bag's proportions and the mean of its probabilities."""

    def loss(self, z, offsets, target, weight):
        sizes = np.diff(offsets)[:, None]
        p = self.outputs(z)
        share, mean = target / sizes, bag_sum(p, offsets) / sizes
        tiny = np.finfo(mean.dtype).tiny
        safe = np.maximum(mean, tiny)
        entropy = -xlogy(share, safe)
        slope = -share / safe
        if z.shape[1] == 1:
            rest = np.maximum(1.0 - mean, tiny)
            entropy = entropy - xlogy(1.0 - share, rest)
            slope = slope + (1.0 - share) / rest
        slope = spread(weight[:, None] * slope / sizes, offsets)
        return float(weight @ entropy.sum(axis=1)), self._through(p, slope)


class MeanShares(Shares):
    """A count as so many draws with the bag's mean probabilities: −Σ_k count_k log(mean p_k)."""

    def loss(self, z, offsets, target, weight):
        return super().loss(z, offsets, target, weight * np.diff(offsets))


class ExactCounts(_Probabilities):
    """−log P(count), every instance being drawn once (Poisson-binomial).

    With more than two classes, the counts of the classes are scored one by one.
    """

    def loss(self, z, offsets, target, weight):
        p = self.outputs(z)
        value, slope = 0.0, np.empty_like(p)
        for k in range(p.shape[1]):
            odds = np.clip(logit(p[:, k]), -_NEVER_SURER, _NEVER_SURER)
            counts = np.round(target[:, k]).astype(np.int64)
            likely, counted = log_likelihood(odds, offsets, counts)
            value -= float(weight @ likely)
            chance = expit(odds)
            slope[:, k] = spread(weight, offsets) * (chance - counted) / (chance * (1.0 - chance))
        return value, self._through(p, slope)


def broken_and_work(counts, sizes):
    """How many counts of bags are no whole numbers (nor rounded shares of some); what exact
    likelihoods of all of them would cost, and how many instances there are. Adds up over blocks."""
    broken = np.abs(counts - np.round(counts)) > _ROUNDED
    rarer = np.minimum(counts, sizes[:, None] - counts).max(axis=1, initial=0.0)
    return np.array([np.count_nonzero(broken), sizes @ rarer, sizes.sum()])


def exact_suits(broken, work, n_instances):
    """Whether the likelihood of the counts can be exact, by what `broken_and_work` found."""
    return bool(broken == 0 and work <= _LARGE * n_instances)


def _half_squares(error, weight):
    return float(0.5 * weight @ (error * error).sum(axis=1))


class Network:
    """Sigmoid hidden units and an output layer; parameters live in one flat vector.

    The objective is the weighted mean over bags of the head's loss plus ``alpha / 2`` times the
    squared weights (without biases) over the total weight, as in scikit-learn's networks. Weights
    of the hidden layer cost `hidden_price` times as much as those of the output. Answers must bear
    steps of every feature by `smoothing` in root mean square, in the worst direction.
    """

    def __init__(self, head, n_features, hidden, n_outputs, alpha, hidden_price=1.0, smoothing=0.0):
        self.head = head
        self.shapes = ((n_features, hidden), (hidden,), (hidden, n_outputs), (n_outputs,))
        self.alpha = alpha
        self.hidden_price = hidden_price
        self.step = 0.5 * smoothing**2 * n_features  # ½ ε²

    def split(self, flat):
        """Hidden weights, hidden biases, output weights, output biases: views of `flat`."""
        parts, start = [], 0
        for shape in self.shapes:
            stop = start + int(np.prod(shape))
            parts.append(flat[start:stop].reshape(shape))
            start = stop
        return parts

    def start(self, rng):
        """Random weights of a size that keeps sigmoids out of saturation (Glorot)."""
        flat = np.empty(sum(int(np.prod(shape)) for shape in self.shapes))
        hidden, hidden_bias, output, bias = self.split(flat)
        for weights in (hidden, output):
            bound = np.sqrt(2.0 / sum(weights.shape))
            weights[:] = rng.uniform(-bound, bound, weights.shape)
        hidden_bias[:] = bias[:] = 0.0
        return flat

    def forward(self, flat, X):
        """Hidden activations and the output layer's input."""
        hidden, hidden_bias, output, bias = self.split(flat)
        active = times(X, hidden)
        active += hidden_bias
        expit(active, out=active)
        return active, active @ output + bias

    def objective(self, flat, X, offsets, target, weight):
        """The objective and its gradient (eqs. 2 and 4, summed over bags)."""
        active, z = self.forward(flat, X)
        loss, by_z = self.head.loss(z, offsets, target, weight)
        hidden, _, output, _ = self.split(flat)
        gradient = np.empty_like(flat)
        g_hidden, g_hidden_bias, g_output, g_bias = self.split(gradient)
        g_hidden[:] = self.alpha * self.hidden_price * hidden
        g_output[:] = self.alpha * output
        by_input: np.ndarray | float = 0.0
        if self.step:
            sharp = sharpness(self.head, active, z, hidden, output, spread(weight, offsets))
            value, by_sharp, by_input, *by_weights = (self.step * part for part in sharp)
            loss, by_z = loss + value, by_z + by_sharp
            g_hidden += by_weights[0]
            g_output += by_weights[1]
        g_output += active.T @ by_z
        g_bias[:] = by_z.sum(axis=0)
        by_active = by_z @ output.T
        by_active *= active
        active -= 1.0
        by_active *= active  # minus the derivative of the sigmoid
        by_active -= by_input
        g_hidden -= transposed_times(X, by_active)
        g_hidden_bias[:] = -by_active.sum(axis=0)
        squares = self.hidden_price * (hidden**2).sum() + (output**2).sum()
        loss += 0.5 * self.alpha * squares
        total = weight.sum()
        gradient /= total
        return loss / total, gradient
