"""Support vector classification from counts per bag."""

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._kernels import KERNEL_PARAMETERS, Kernel, settled_gamma
from mixedbag._parameters import above, at_least, between, one_of, whole
from mixedbag._wide import times
from mixedbag.aggregate._alternation import alternate
from mixedbag.aggregate._bag_totals import ridge_scores
from mixedbag.aggregate._branch_and_bound import prove
from mixedbag.aggregate._count_program import Program, assign_labels
from mixedbag.aggregate._exchanges import BETTER, BatchedSearch
from mixedbag.aggregate._label_search import search_labels
from mixedbag.aggregate._machines import RelabelledKernelMachine, RelabelledLinearMachine
from mixedbag.aggregate._mixed_integer import solve_highs, solve_scip
from mixedbag.aggregate.logistic import AggregateLogisticRegression
from mixedbag.counts import CountClassifier
from mixedbag.exceptions import InputError

__all__ = ["AggregateSVC"]

_SEARCHED = 1000  # instances at most whose labels are exchanged one pair at a time
_PROVABLE = 5000  # instances at most for branch and bound, which compares all pairs


class AggregateSVC(CountClassifier):
    """Support vector machine that learns classes of instances from counts per bag.

    A bag says how many of its instances are positive, not which. The machine looks for the labels
    that agree with the counts and leave the widest margin (eq. 9 of the aggregate-outputs paper)::

        min ½‖w‖² + Σ_c w_c (C Σ_{i∈c} max(0, 1 − s_i f(x_i)) + D |y_c − #{i ∈ c: s_i = +1}|)

    over labels ``s_i = ±1`` and ``f(x) = w·x + b``. More than two classes are learned one against
    the rest. With bags of one and an infinite D it is :class:`sklearn.svm.SVC`.

    In large bags of mixed classes many labels agree with the counts, and those of the widest margin
    need not be the true ones: a smaller C, chosen by cross-validation, is worth trying there.

    The linear machine also learns from `mixedbag.engines.DistributedBags`, by alternation from
    least squares alone: exchanges need the labels of all bags in one place. And here a machine is
    solved for the rows near its margin alone, which saves half of the work on 20,000
    rows (``python -m benchmarks product/one_place``).

    Parameters
    ----------
    C : float, default=1.0
        Price of an instance inside the margin or on the wrong side.
    D : float, default=inf
        Price of every instance by which the labels miss a bag's count. Infinite: counts are facts.
        Finite: they may be wrong.
    method : {"alternating", "exact", "scip", "milp"}, default="alternating"
        "alternating" solves in turn for the machine and, exactly, for the labels, exchanges labels
        within bags where that helps, and starts again many times; each step lowers the objective.
        "exact" goes on to prove the optimum by branch and bound, for up to a few hundred instances.
        "scip" proves it with the mixed-integer program of the paper on SCIP, for a few dozen
        (needs ``mixedbag[scip]``), and "milp" with HiGHS for ``‖w‖₁`` in place of ``½‖w‖²``,
        which also selects features.
    kernel : {"linear", "rbf", "poly"} or callable, default="linear"
        Similarity of two instances; linear only with "scip" and "milp".
    gamma : "scale", "auto" or float, default="scale"
        Width of the rbf and poly kernels, as in :class:`sklearn.svm.SVC`.
    degree : int, default=3
        Degree of the poly kernel.
    coef0 : float, default=0.0
        Constant of the poly kernel.
    n_init : int, default=100
        Starts at most; the lowest objective is kept. The first is least squares on bag totals,
        later ones are random exchanges in the best labels so far and random labels. The total work
        is limited in proportion: hundreds of instances are given fewer starts. More than a
        thousand start from least squares and from the chances of `AggregateLogisticRegression`
        (with a finite D, from one class alone, too), and exchange a pair of labels in many bags at
        once, as long as that helps and no more than `n_init` machines were solved.
    max_iter : int, default=1000
        Alternations and exchanges at most, from each start.
    time_limit : float, default=60.0
        Seconds for the proof; then the best solution so far is kept, with its gap.
    aggregate : {"sum", "mean"}, default="sum"
        Whether a one-dimensional `y` holds counts of positives or shares.
    random_state : int, RandomState instance or None, default=None
        Draws the random starts.

    Attributes
    ----------
    coef_ : array (n_features,)
        Weights of the features; linear kernel and two classes only.
    intercept_ : float
    objective_ : array
        The objective of each solution better than those before, the last that of the model. With
        "milp", which has another norm, the last alone.
    lower_bound_, gap_ : float
        Of a proof: no labels do better than `lower_bound_`; `gap_` is the share of the objective
        above it, 0 (to a part in a thousand) when the optimum is proven.
    labels_ : array of bool (n_instances,)
        Which training instances were taken for positive; two classes only.
    estimators_ : list
        One machine a class, when there are more than two.
    classes_ : array

    See Also
    --------
    AggregateLogisticRegression : Leaves the labels open: probabilities in place of one
        way to label.
    AggregateTreeClassifier : Labels by a few cuts of features.
    mixedbag.margin.InstanceMarginSVC : Where a bag only says that it has some positive instance.
    AggregateSVR : For totals of a value.

    References
    ----------
    D. R. Musicant, R. Atlas, J. M. Christensen, J. F. Olson, J. M. Rzeszotarski, E. R. D. Turetsky,
    "Supervised learning by training on aggregate outputs".

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.aggregate import AggregateSVC
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> yes = X[:, 0] > 0
    >>> bags = Bags(X, np.arange(0, 61, 5))
    >>> model = AggregateSVC().fit(bags, np.add.reduceat(yes.astype(int), bags.offsets[:-1]))
    >>> float(np.mean(model.predict_instances(bags) == yes)) > 0.9
    True
    """

    _needs_scaling = True
    _accepts_sparse = True
    _search_space = {"C": [0.001, 0.01, 0.1, 1.0]}

    _parameter_constraints = {
        "C": [above(0)],
        "D": [between(0, np.inf)],
        "method": [one_of("alternating", "exact", "scip", "milp")],
        "kernel": [one_of("linear", "rbf", "poly"), callable],
        **KERNEL_PARAMETERS,
        "n_init": [whole(1)],
        "max_iter": [whole(1)],
        "time_limit": [at_least(0)],
    }

    def __init__(
        self,
        C=1.0,
        *,
        D=np.inf,
        method="alternating",
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        n_init=100,
        max_iter=1000,
        time_limit=60.0,
        aggregate="sum",
        random_state=None,
    ):
        self.C = C
        self.D = D
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_init = n_init
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.aggregate = aggregate
        self.random_state = random_state

    def _check_parameters(self):
        if self.method in ("scip", "milp") and self.kernel != "linear":
            raise InputError(f"method={self.method!r} needs kernel='linear'; got {self.kernel!r}")

    def _fit(self, bags, counts, weight):
        self._check_parameters()
        if counts.shape[1] > 2:
            self._fit_one_vs_rest(
                lambda one, k: one.fit(bags, _against_rest(bags, counts, k), sample_weight=weight)
            )
            return
        if self.method == "exact" and bags.n_instances > _PROVABLE:
            raise InputError(
                f"method='exact' compares all pairs of instances, at most {_PROVABLE}; got "
                f"{bags.n_instances}"
            )
        positives = counts[:, 1]
        machine = self._machine(bags, weight)
        labels, history = self._alternate(machine, bags, positives, weight)
        if self.method != "alternating":
            labels, history = self._prove(machine, bags, positives, weight, labels, history)
        self.labels_, self.objective_ = labels, np.array(history)
        self.intercept_ = machine.intercept
        self.n_iter_ = len(history)
        if self.kernel == "linear":
            self.coef_ = machine.w
        else:
            self.support_instances_ = bags.instances[machine.dual != 0]
            self.dual_coef_ = machine.dual[machine.dual != 0]

    def _fit_blocks(self, blocks):
        """Learn from blocks of labelled bags, wherever they are: as from many bags in one place."""
        self._check_parameters()
        if len(self.classes_) > 2:
            raise InputError(
                f"AggregateSVC tells {len(self.classes_)} classes with all bags in one place: "
                "from blocks, take AggregateLogisticRegression"
            )
        if (self.method, self.kernel) != ("alternating", "linear"):
            raise InputError(
                f"method={self.method!r} with kernel={self.kernel!r} needs all bags in one place: "
                "on a cluster, AggregateSVC learns with method='alternating' and kernel='linear'"
            )
        self.coef_, self.intercept_, history = alternate(
            blocks, self.C, self.D, self._iterations(self.max_iter), BETTER
        )
        self.objective_, self.n_iter_ = np.minimum.accumulate(history), len(history)

    def _one_against_rest(self):
        return super()._one_against_rest().set_params(aggregate="sum")

    def _machine(self, bags, weight):
        if self.kernel == "linear":
            return RelabelledLinearMachine(bags.instances)
        self.gamma_ = settled_gamma(self.gamma, bags.instances, bags.spread(weight))
        gram = self._settled_kernel().of(bags.instances, bags.instances)
        return RelabelledKernelMachine(gram, bags)

    def _settled_kernel(self):
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    def _alternate(self, machine, bags, positives, weight):
        """Labels and the objectives on the way to them. Leaves `machine` solved."""
        labels, history = self._search(machine, bags, positives, weight)
        last = np.inf
        for _ in self._iterations(self.max_iter):
            before = labels
            labels, objective = self._solve(machine, bags, positives, weight, before)
            if not history or objective < history[-1]:
                history.append(objective)
            if (labels == before).all() or objective > last * (1.0 - BETTER):
                break
            last = objective
        return labels, history

    def _solve(self, machine, bags, positives, weight, labels):
        """Solve the machine for labels; the labels that suit it best, and the objective."""
        scores, half_norm = machine.solve(labels, self.C * bags.spread(weight))
        labels, penalty = assign_labels(scores, bags.offsets, positives, self.C, self.D)
        return labels, half_norm + weight @ penalty

    def _search(self, machine, bags, positives, weight):
        """Labels to start from and, if they were searched for, the objectives on the way."""
        if np.isinf(self.D) and ((positives == 0) | (positives == bags.sizes)).all():
            return bags.spread(positives > 0), []  # nothing to search for
        first = bags.with_instances(machine.features)
        scores = ridge_scores(first, positives, weight, self.C)
        if bags.n_instances > _SEARCHED:
            search = BatchedSearch(
                machine,
                bags.offsets,
                lambda labels: self._solve(machine, bags, positives, weight, labels),
                self.n_init,
            )
            return search.best_of(self._starts(first, positives, weight, scores))
        return search_labels(
            machine.similarities(), bags, positives, self.C * bags.spread(weight), self.D / self.C,
            scores, self.n_init, self.max_iter, check_random_state(self.random_state),
        )  # fmt: skip

    def _starts(self, bags, positives, weight, ridge):
        """Labels by ranks: of least squares, and of chances; where misses have a price, one class.

        Only ranks mean something before a machine is solved: counts are met, at any price.
        """
        ranks = [ridge]
        if np.ptp(positives / bags.sizes) > 0:  # else all instances have the same chance
            counts = np.column_stack([bags.sizes - positives, positives])
            chances = AggregateLogisticRegression().fit(bags, counts, sample_weight=weight)
            ranks.append(chances.predict_proba_instances(bags)[:, 1])
        for scores in ranks:
            yield assign_labels(scores, bags.offsets, positives, 1.0, np.inf)[0]
        if not np.isinf(self.D):
            yield from (np.full(bags.n_instances, positive) for positive in (False, True))

    def _prove(self, machine, bags, positives, weight, labels, history):
        """The best labels found within the time limit, and the objectives on the way to them."""
        cost, price = self.C * bags.spread(weight), self.D * weight
        X = bags.instances.toarray() if bags.is_sparse else bags.instances
        program = Program(X, bags.offsets, positives, cost, price)
        if self.method == "milp":
            machine.w, machine.intercept, labels, objective, bound = solve_highs(
                program, labels, self.time_limit
            )
            history = [objective]
        else:
            if self.method == "exact":
                labels, bound = prove(
                    machine.similarities(), bags, positives, cost, self.D / self.C, labels,
                    history[-1], self.time_limit,
                )  # fmt: skip
            else:
                seed = check_random_state(self.random_state).randint(2**30)
                labels, bound = solve_scip(
                    program, labels, machine.w, machine.intercept, history[-1], self.time_limit,
                    seed,
                )  # fmt: skip
            labels, objective = self._solve(machine, bags, positives, weight, labels)
            if objective < history[-1]:
                history.append(objective)
        self.lower_bound_ = float(min(bound, history[-1]))
        self.gap_ = float(1.0 - self.lower_bound_ / history[-1]) if history[-1] > 0 else 0.0
        return labels, history

    def _score_instances(self, bags):
        if len(self.classes_) > 2:
            return self._class_scores(bags, "decision_function_instances")
        if self.kernel == "linear":
            score = times(bags.instances, self.coef_) + self.intercept_
        else:
            score = self._settled_kernel().expand(
                bags.instances, self.support_instances_, self.dual_coef_
            )
            score += self.intercept_
        return 0.5 * np.column_stack([-score, score])


def _against_rest(bags, counts, k):
    """Counts of all other classes together, and of class `k`."""
    return np.column_stack([bags.sizes - counts[:, k], counts[:, k]])
