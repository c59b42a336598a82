"""Neural networks that learn from counts and totals of bags."""

import itertools

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, one_of, whole
from mixedbag.aggregate._network import Counts, Network, Shares, Totals
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier

__all__ = ["AggregateMLPClassifier", "AggregateMLPRegressor"]


class _AggregateMLP:
    """Training that both networks share."""

    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"hidden": [6, 12, 24], "alpha": [1e-4, 1e-2, 1.0]}
    _parameter_constraints = {
        "hidden": [whole(1)],
        "loss": [one_of("cross_entropy", "squared")],
        "alpha": [at_least(0)],
        "solver": [one_of("lbfgs", "adam")],
        "max_iter": [whole(1)],
        "learning_rate": [at_least(0)],
        "batch_size": [whole(1)],
    }

    def _train(self, bags, head, target, weight, output_bias=0.0):
        rng = check_random_state(self.random_state)
        network = Network(head, bags.n_features, self.hidden, target.shape[1], self.alpha)
        start = network.start(rng, output_bias)
        solve = self._lbfgs if self.solver == "lbfgs" else self._adam
        self.weights_ = solve(network, start, bags, target, weight, rng)
        self.n_iter_ = max(1, len(self.objective_))

    def _lbfgs(self, network, start, bags, target, weight, rng):
        history = []
        found = minimize(
            network.objective,
            start,
            args=(bags.instances, bags.offsets, target, weight),
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: history.append(intermediate_result.fun),
            options={"maxiter": self.max_iter, "maxfun": 15 * self.max_iter, "gtol": self.tol},
        )
        self.objective_ = np.array(history)
        return found.x

    def _adam(self, network, flat, bags, target, weight, rng):
        """Steps on batches of whole bags; the objective is the running mean over a pass."""
        first, second = np.zeros_like(flat), np.zeros_like(flat)
        n_batches = max(1, round(bags.n_instances / self.batch_size))
        share = weight.sum() / n_batches
        history, step = [], 0
        for _ in self._iterations(self.max_iter):
            order = rng.permutation(len(bags))
            shuffled, y, w = bags[order], target[order], weight[order]
            edges = np.linspace(0, len(bags), n_batches + 1).astype(int)
            passed = 0.0
            for low, high in itertools.pairwise(edges):
                if low == high:
                    continue
                batch = shuffled[low:high]
                value, slope = network.objective(
                    flat, batch.instances, batch.offsets, y[low:high], w[low:high]
                )
                scale = w[low:high].sum() / share
                passed += value * scale / n_batches
                step += 1
                first += 0.1 * (slope - first)
                second += 0.001 * (slope * slope - second)
                rate = self.learning_rate * np.sqrt(1.0 - 0.999**step) / (1.0 - 0.9**step)
                flat = flat - rate * first / (np.sqrt(second) + 1e-8)
            history.append(passed)
            if len(history) > 10 and min(history[-10:]) > min(history[:-10]) - self.tol:
                break
        self.objective_ = np.array(history)
        return flat

    def _outputs(self, bags, head, n_outputs):
        network = Network(head, self.n_features_in_, self.hidden, n_outputs, self.alpha)
        return head.outputs(network.forward(self.weights_, bags.instances)[1])


class AggregateMLPClassifier(_AggregateMLP, CountClassifier):
    """Neural network that learns class probabilities of instances from counts per bag.

    One hidden layer of sigmoid units. A bag's expected count of a class is the sum of its
    instances' probabilities; training makes it match the known count (eqs. 1–5 of the
    aggregate-outputs paper), whichever instances it takes::

        min Σ_c w_c loss(count_c, Σ_{i∈c} p(x_i)) + alpha/2 · ‖weights‖²

    Parameters
    ----------
    hidden : int, default=12
        Number of hidden units.
    loss : {"cross_entropy", "squared"}, default="cross_entropy"
        Cross-entropy between a bag's proportions and its mean probabilities, or the paper's
        squared error of the counts.
    alpha : float, default=1e-4
        Price of large weights. With bags of one, the objective is that of
        :class:`sklearn.neural_network.MLPClassifier`.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        L-BFGS on all bags at once, or Adam on batches of bags, for large data.
    max_iter : int, default=200
        Steps of L-BFGS, or passes of Adam, at most.
    tol : float, default=1e-5
        Gradient (L-BFGS) or progress (Adam) at which training stops.
    learning_rate : float, default=0.001
        Step of Adam.
    batch_size : int, default=200
        Instances in a batch of Adam, about: bags are never cut.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or proportions.
    random_state : int, RandomState instance or None, default=None
        First weights, and the order of batches.

    Attributes
    ----------
    weights_ : array
        All weights and biases in one vector.
    objective_ : array
        The objective after each step of L-BFGS (it never rises) or pass of Adam.
    n_iter_ : int
    classes_ : array

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateMLPClassifier
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> inside = (X**2).sum(axis=1) < 1
    >>> bags = Bags(X, np.arange(0, 401, 4))
    >>> model = AggregateMLPClassifier(random_state=0)
    >>> model = model.fit(bags, np.add.reduceat(inside.astype(int), bags.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(bags) == inside)) > 0.9
    True
    """

    _has_proba = True

    def __init__(
        self,
        hidden=12,
        *,
        loss="cross_entropy",
        alpha=1e-4,
        solver="lbfgs",
        max_iter=200,
        tol=1e-5,
        learning_rate=0.001,
        batch_size=200,
        aggregate="sum",
        random_state=None,
    ):
        self.hidden = hidden
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, counts, weight):
        head = Shares() if self.loss == "cross_entropy" else Counts()
        target = counts[:, 1:] if counts.shape[1] == 2 else counts
        self._train(bags, head, target, weight)

    def _score_instances(self, bags):
        two = len(self.classes_) == 2
        p = self._outputs(bags, Shares(), 1 if two else len(self.classes_))
        return np.hstack([1.0 - p, p]) if two else p


class AggregateMLPRegressor(_AggregateMLP, BagRegressor):
    """Neural network that learns values of instances from totals of bags.

    One hidden layer of sigmoid units and a linear output; the sum of a bag's outputs is matched to
    its total (eqs. 1–5 of the aggregate-outputs paper, with a linear output)::

        min ½ Σ_c w_c (y_c − Σ_{i∈c} f(x_i))² + alpha/2 · ‖weights‖²

    Parameters
    ----------
    hidden : int, default=12
        Number of hidden units.
    alpha : float, default=1e-4
        Price of large weights. With bags of one, the objective is that of
        :class:`sklearn.neural_network.MLPRegressor`.
    solver : {"lbfgs", "adam"}, default="lbfgs"
        L-BFGS on all bags at once, or Adam on batches of bags, for large data.
    max_iter : int, default=200
        Steps of L-BFGS, or passes of Adam, at most.
    tol : float, default=1e-5
        Gradient (L-BFGS) or progress (Adam) at which training stops.
    learning_rate : float, default=0.001
        Step of Adam.
    batch_size : int, default=200
        Instances in a batch of Adam, about: bags are never cut.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    random_state : int, RandomState instance or None, default=None
        First weights, and the order of batches.

    Attributes
    ----------
    weights_ : array
        All weights and biases in one vector.
    objective_ : array
        The objective after each step of L-BFGS (it never rises) or pass of Adam.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateMLPRegressor
    >>> X = np.linspace(-2, 2, 300).reshape(-1, 1)
    >>> bags = Bags(X, np.arange(0, 301, 3))
    >>> totals = np.add.reduceat(np.sin(2 * X[:, 0]), bags.offsets[:-1])
    >>> model = AggregateMLPRegressor(random_state=0, max_iter=500).fit(bags, totals)
    >>> float(model.score(bags, totals)) > 0.99
    True
    """

    def __init__(
        self,
        hidden=12,
        *,
        alpha=1e-4,
        solver="lbfgs",
        max_iter=200,
        tol=1e-5,
        learning_rate=0.001,
        batch_size=200,
        aggregate="sum",
        random_state=None,
    ):
        self.hidden = hidden
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, total, weight):
        mean = (weight @ total) / (weight @ bags.sizes)
        self._train(bags, Totals(), total[:, None], weight, output_bias=mean)

    def _score_instances(self, bags):
        return self._outputs(bags, Totals(), 1)[:, 0]
