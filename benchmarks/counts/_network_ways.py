"""Ways to keep networks of counts from learning bags by heart that were tried and not taken.

`HeldOut` stops each network where bags that it leaves out are likeliest. `Mixing` adds bags that
are thrown together from parts of two, as MixBag does: of a part, the expected count is known, and
how far a part drawn at random lies from it. `Dropout` leaves out hidden units at random, others for
every instance and step; steps are Adam's then, which `Steps` takes without leaving anything out.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils import check_random_state

from mixedbag.aggregate import AggregateMLPClassifier
from mixedbag.aggregate._network import Network
from mixedbag.pooling import bag_sum, spread


class HeldOut(AggregateMLPClassifier):
    """Every network leaves out another part of the bags, and is taken as it fits these best."""

    def _train(self, *args, **settings):
        self._n_solved = 0
        return super()._train(*args, **settings)

    def _lbfgs(self, network, start, bags, target, weight, rng):
        out = (np.arange(len(bags)) + self._n_solved) % self.n_networks == 0
        self._n_solved += 1
        best = [np.inf, start]

        def watch(intermediate_result):
            flat = intermediate_result.x
            z = network.forward(flat, bags[out].instances)[1]
            loss = network.head.loss(z, bags[out].offsets, target[out], weight[out])[0]
            if loss < best[0]:
                best[:] = loss, flat.copy()

        minimize(
            network.objective,
            start,
            args=(bags[~out].instances, bags[~out].offsets, target[~out], weight[~out]),
            jac=True,
            method="L-BFGS-B",
            callback=watch,
            options={"maxiter": self.max_iter, "maxfun": 15 * self.max_iter, "gtol": self.tol},
        )
        return best[1], np.array([best[0]])


class Mixing(AggregateMLPClassifier):
    """As many mixed bags as twice the bags, drawn anew for every network."""

    def _lbfgs(self, network, start, bags, target, weight, rng):
        rng = np.random.default_rng(check_random_state(rng).randint(2**31))
        mixed = _MixedNetwork(network, *mix(bags, target[:, 0], 2 * len(bags), rng))
        return super()._lbfgs(mixed, start, bags, target, weight, rng)


def mix(bags, counts, n, rng):
    """Rows and offsets of `n` bags of two parts, and mean and variance of their counts.

    A part of m instances of a bag of size s with c positives has a hypergeometric count.
    """
    parts, mean, variance = [], np.zeros(n), np.zeros(n)
    for k in range(n):
        share, rows = rng.uniform(), []
        for bag, part in zip(rng.choice(len(bags), 2, replace=False), (share, 1.0 - share)):
            size = bags.sizes[bag]
            m, rate = max(1, round(part * size)), counts[bag] / size
            rows.append(bags.offsets[bag] + rng.choice(size, m, replace=False))
            mean[k] += m * rate
            variance[k] += m * rate * (1.0 - rate) * (size - m) / max(size - 1, 1)
        parts.append(np.concatenate(rows))
    offsets = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts), offsets, mean, variance


class _MixedNetwork(Network):
    """Half the squared error of the counts of mixed bags, over their variance, is added."""

    def __init__(self, network, rows, offsets, mean, variance):
        self.__dict__ |= vars(network)
        self.rows, self.offsets, self.mean = rows, offsets, mean
        chance = np.diff(offsets) / 4.0  # the most that labels of so many instances vary by
        self.certainty = 0.5 / (variance + chance)  # there are two of them a bag

    def objective(self, flat, X, offsets, target, weight):
        loss, gradient = super().objective(flat, X, offsets, target, weight)
        X = X[self.rows]
        active, z = self.forward(flat, X)
        output, p = self.split(flat)[2], expit(z)
        error = bag_sum(p[:, 0], self.offsets) - self.mean
        by_z = spread(self.certainty * error, self.offsets)[:, None] * p * (1.0 - p)
        by_input = by_z * output[:, 0] * active * (1.0 - active)
        by_all = [X.T @ by_input, by_input.sum(axis=0), active.T @ by_z, by_z.sum(axis=0)]
        gradient += np.concatenate([np.ravel(part) for part in by_all]) / weight.sum()
        return loss + 0.5 * self.certainty @ error**2 / weight.sum(), gradient


class Steps(AggregateMLPClassifier):
    """All bags at once by Adam; `left_out` is the share of hidden units that a step leaves out."""

    left_out = 0.0
    n_steps = 300
    rate = 0.02

    def _lbfgs(self, network, start, bags, target, weight, rng):
        rng = np.random.default_rng(check_random_state(rng).randint(2**31))
        noisy = _NoisyNetwork(network, self.left_out, rng)
        flat, mean, square, history = start.copy(), 0.0, 0.0, []
        for step in range(1, self.n_steps + 1):
            loss, slope = noisy.objective(flat, bags.instances, bags.offsets, target, weight)
            history.append(loss)
            mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
            rate = self.rate * (1.0 - (step - 1) / self.n_steps)
            expected = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            flat -= rate * mean / (1 - 0.9**step) / expected
        return flat, np.array(history)


class Dropout(Steps):
    left_out = 0.2


class HalfDropout(Steps):
    left_out = 0.5


class _NoisyNetwork(Network):
    """Hidden units are left out at random, the others are as much stronger."""

    def __init__(self, network, left_out, rng):
        self.__dict__ |= vars(network)
        self.left_out, self.rng = left_out, rng

    def objective(self, flat, X, offsets, target, weight):
        if not self.left_out:
            return super().objective(flat, X, offsets, target, weight)
        hidden, _, output, bias = self.split(flat)
        active, _ = self.forward(flat, X)
        there = (self.rng.random(active.shape) > self.left_out) / (1.0 - self.left_out)
        loss, by_z = self.head.loss((active * there) @ output + bias, offsets, target, weight)
        by_input = by_z @ output.T * there * active * (1.0 - active)
        by_hidden = X.T @ by_input + self.alpha * self.hidden_price * hidden
        by_output = (active * there).T @ by_z + self.alpha * output
        by_all = [by_hidden, by_input.sum(axis=0), by_output, by_z.sum(axis=0)]
        squares = self.hidden_price * (hidden**2).sum() + (output**2).sum()
        gradient = np.concatenate([np.ravel(part) for part in by_all])
        return (loss + 0.5 * self.alpha * squares) / weight.sum(), gradient / weight.sum()
