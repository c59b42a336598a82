"""Neural networks that learn from counts and totals of bags."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from mixedbag._parameters import at_least, one_of, whole
from mixedbag.aggregate._network import (
    Counts,
    ExactCounts,
    MeanShares,
    MeanTotals,
    Network,
    Shares,
    Totals,
    broken_and_work,
    exact_suits,
)
from mixedbag.aggregate._standard import Standard
from mixedbag.base import BagRegressor
from mixedbag.counts import CountClassifier

__all__ = ["AggregateMLPClassifier", "AggregateMLPRegressor"]

_FEATURES = 10  # of so many, weights of both layers cost the same


class _AggregateMLP:
    """Training that both networks share."""

    n_networks = 1  # of models saved before there could be more
    hidden: int
    alpha: float
    solver: str
    max_iter: int
    tol: float
    learning_rate: float
    batch_size: int
    random_state: Any
    n_features_in_: int
    _iterations: Callable

    _needs_scaling = True
    _accepts_sparse = True
    _parameter_constraints = {
        "hidden": [whole(1)],
        "n_networks": [whole(1)],
        "loss": [one_of("likelihood", "cross_entropy", "squared")],
        "alpha": [at_least(0)],
        "smoothing": [at_least(0)],
        "solver": [one_of("lbfgs", "adam", "gradient")],
        "max_iter": [whole(1)],
        "learning_rate": [at_least(0)],
        "batch_size": [whole(1)],
    }

    def _train(self, bags, head, target, weight, hidden_price=1.0, smoothing=0.0):
        """Weights of `n_networks` networks, a row each."""
        rng = check_random_state(self.random_state)
        shape = bags.n_features, self.hidden, target.shape[1]
        network = Network(head, *shape, self.alpha, hidden_price, smoothing)
        solve = {"lbfgs": self._lbfgs, "adam": self._adam, "gradient": self._descend}[self.solver]
        # One network alone reports its passes; of several, each is a step.
        members = self._iterations(self.n_networks) if self.n_networks > 1 else range(1)
        found = [solve(network, network.start(rng), bags, target, weight, rng) for _ in members]
        self.weights_ = np.array([weights for weights, _ in found])
        self.objective_ = found[0][1]
        self.n_iter_ = max(1, *(len(history) for _, history in found))
        return network

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
        return found.x, np.array(history)

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
        return flat, np.array(history)

    def _descend(self, network, flat, bags, target, weight, rng):
        """Passes at a fixed rate, until the error of all bags hardly falls (eqs. 3 and 5)."""
        history: list[float] = []
        total, reached = weight.sum(), flat
        for _ in self._iterations(self.max_iter):
            value, slope = network.objective(flat, bags.instances, bags.offsets, target, weight)
            if history and value > history[-1]:  # the rate is too large for more
                break
            reached = flat
            history.append(value)
            if len(history) > 1 and total * (history[-2] - value) < self.tol:
                break
            flat = flat - self.learning_rate * total * slope
        return reached, np.array(history)

    def _outputs(self, bags, head, n_outputs):
        network = Network(head, self.n_features_in_, self.hidden, n_outputs, self.alpha)
        members = np.atleast_2d(self.weights_)
        outputs = [head.outputs(network.forward(one, bags.instances)[1]) for one in members]
        return np.mean(outputs, axis=0)


class AggregateMLPClassifier(_AggregateMLP, CountClassifier):
    """Neural network that learns class probabilities of instances from counts per bag.

    One hidden layer of sigmoid units. Training makes the known count of every bag likely, whichever
    instances it takes; or, as in the aggregate-outputs paper (eqs. 1–5), it makes the sum of the
    instances' probabilities match the count::

        min Σ_c w_c loss(count_c, {p(x_i), i ∈ c}) + alpha/2 · (penalty of weights)

    Parameters
    ----------
    hidden : int, default=12
        Number of hidden units.
    n_networks : int, default=5
        Networks from different first weights, whose outputs are averaged.
    loss : {"likelihood", "cross_entropy", "squared"}, default="likelihood"
        Minus the log-likelihood of the count, each instance being drawn once (Poisson-binomial;
        with more than two classes, counts that are no whole numbers, or very large bags, as so many
        draws with the bag's mean probabilities); cross-entropy between a bag's proportions and its
        mean probabilities, every bag alike; or the paper's squared error of the counts.
    alpha : float, default=0.3
        Price of large weights, of their squares summed. With "likelihood", weights of the hidden
        layer cost a tenth as many times more as there are features, so that one price suits few
        and many. With the others, all weights cost the same, 0.01 is a good price, and with bags
        of one the objective is that of :class:`sklearn.neural_network.MLPClassifier`.
    smoothing : float, default=0.05
        Answers must bear steps of every feature by so much (in root mean square), in the direction
        that changes them most: virtual adversarial training, in closed form. Features should have a
        spread of about one. Not with the published losses.
    solver : {"lbfgs", "adam", "gradient"}, default="lbfgs"
        L-BFGS on all bags at once; Adam on batches of bags, for large data; or gradient descent
        at a fixed rate on the error of all bags, as in the paper, whose settings (section 5.3) are
        ``solver="gradient", learning_rate=1e-5, tol=1e-3``, the squared error, ``alpha=0``, one
        network, and passes as long as it takes.
    max_iter : int, default=200
        Steps of L-BFGS, or passes of the others, at most.
    tol : float, default=1e-5
        Gradient (L-BFGS), progress of the mean error (Adam) or of its sum (gradient) at which
        training stops.
    learning_rate : float, default=0.001
        Step of Adam and of the descent. A step that would raise the error is the last.
    batch_size : int, default=200
        Instances in a batch of Adam, about: bags are never cut.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    random_state : int, RandomState instance or None, default=None
        First weights, and the order of batches.

    Attributes
    ----------
    weights_ : array of shape (n_networks, n_weights)
        All weights and biases, a row a network.
    objective_ : array
        The objective of the first network after each step of L-BFGS (it never rises) or pass of
        Adam.
    n_iter_ : int
    classes_ : array

    See Also
    --------
    AggregateMLPRegressor : The same for totals.
    AggregateLogisticRegression : Without the hidden layer: quicker, and repeatable.
    AggregateRBFClassifier : Hidden units that are found without the counts; one linear fit.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

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

    smoothing = 0.0  # of models saved before there was one
    _own_proba = True
    _search_space = {"hidden": [12, 32], "alpha": [0.1, 0.3, 1.0]}

    def __init__(
        self,
        hidden=12,
        *,
        n_networks=5,
        loss="likelihood",
        alpha=0.3,
        smoothing=0.05,
        solver="lbfgs",
        max_iter=200,
        tol=1e-5,
        learning_rate=0.001,
        batch_size=200,
        aggregate="sum",
        random_state=None,
    ):
        self.hidden = hidden
        self.n_networks = n_networks
        self.loss = loss
        self.alpha = alpha
        self.smoothing = smoothing
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, counts, weight):
        target = counts[:, 1:] if counts.shape[1] == 2 else counts
        smoothing = self.smoothing if self.loss == "likelihood" else 0.0
        if self.loss == "likelihood":
            exact = target.shape[1] == 1 and exact_suits(*broken_and_work(target, bags.sizes))
            head, price = ExactCounts() if exact else MeanShares(), bags.n_features / _FEATURES
        else:
            head, price = Shares() if self.loss == "cross_entropy" else Counts(), 1.0
        self._train(bags, head, target, weight, price, smoothing)

    def _score_instances(self, bags):
        two = len(self.classes_) == 2
        p = self._outputs(bags, Shares(), 1 if two else len(self.classes_))
        return np.hstack([1.0 - p, p]) if two else p


class AggregateMLPRegressor(_AggregateMLP, BagRegressor):
    """Neural network that learns values of instances from totals of bags.

    One hidden layer of sigmoid units and a linear output; the sum of a bag's outputs is matched to
    its total (eqs. 1–5 of the aggregate-outputs paper, with a linear output)::

        min ½ Σ_c w_c (y_c − Σ_{i∈c} f(x_i))² / n_c + alpha/2 · (penalty of weights)

    where totals are first brought to mean zero and unit spread of a value, so that results do not
    depend on the unit of the totals, and an error counts by the size n_c of its bag, with which its
    variance grows (in the paper's descent, ``solver="gradient"``, it does not). Totals of several
    quantities, a column each, share the hidden layer (the paper's index k).

    Parameters
    ----------
    hidden : int, default=12
        Number of hidden units.
    n_networks : int, default=5
        Networks from different first weights, whose outputs are averaged.
    alpha : float, default=1.0
        Price of large weights, of their squares summed. Weights of the hidden layer cost a tenth as
        many times more as there are features, so that one price suits few and many.
    solver : {"lbfgs", "adam", "gradient"}, default="lbfgs"
        L-BFGS on all bags at once; Adam on batches of bags, for large data; or gradient descent
        at a fixed rate on the error of all bags, as in the paper, whose settings (section 5.3) are
        ``solver="gradient", learning_rate=1e-5, tol=1e-3``, the squared error, ``alpha=0``, one
        network, and passes as long as it takes.
    max_iter : int, default=200
        Steps of L-BFGS, or passes of the others, at most.
    tol : float, default=1e-5
        Gradient (L-BFGS), progress of the mean error (Adam) or of its sum (gradient) at which
        training stops.
    learning_rate : float, default=0.001
        Step of Adam and of the descent. A step that would raise the error is the last.
    batch_size : int, default=200
        Instances in a batch of Adam, about: bags are never cut.
    aggregate : {"sum", "mean"}, default="sum"
        What `y` holds and `predict` returns: totals or means of bags.
    random_state : int, RandomState instance or None, default=None
        First weights, and the order of batches.

    Attributes
    ----------
    weights_ : array of shape (n_networks, n_weights)
        All weights and biases, a row a network.
    objective_ : array
        The objective of the first network after each step of L-BFGS (it never rises) or pass of
        Adam.
    n_iter_ : int
    n_outputs_ : int
        Columns of `y`; 0 if it was a plain list of totals.

    See Also
    --------
    AggregateMLPClassifier : The same for counts of classes.
    AggregateRidgeRegressor : Without the hidden layer: quicker, and repeatable.
    AggregateRBFRegressor : Hidden units that are found without the totals; one linear fit.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

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

    _multioutput = True
    _search_space = {"hidden": [12, 32], "alpha": [0.1, 1.0, 10.0]}

    def __init__(
        self,
        hidden=12,
        *,
        n_networks=5,
        alpha=1.0,
        solver="lbfgs",
        max_iter=200,
        tol=1e-5,
        learning_rate=0.001,
        batch_size=200,
        aggregate="sum",
        random_state=None,
    ):
        self.hidden = hidden
        self.n_networks = n_networks
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.aggregate = aggregate
        self.random_state = random_state

    def _fit(self, bags, total, weight):
        blocks = self._cut(bags, total, weight)
        standard = Standard.of(blocks)
        target = standard.inside(blocks.blocks[0]).target
        self.n_outputs_ = total.shape[1] if total.ndim > 1 else 0
        target = target.reshape(len(target), -1)
        head = Totals() if self.solver == "gradient" else MeanTotals()
        network = self._train(bags, head, target, weight, bags.n_features / _FEATURES)
        for weights in self.weights_:  # the output layer turns back to the unit of the totals
            _, _, output, bias = network.split(weights)
            output *= standard.spread
            bias[:] = standard.mean + standard.spread * bias

    def _score_instances(self, bags):
        n_outputs = getattr(self, "n_outputs_", 0)  # models of 0.1.0 know of one only
        values = self._outputs(bags, Totals(), n_outputs or 1)
        return values if n_outputs else values[:, 0]
