"""What both maximum-margin learners share: machines, costs, and the alternating search."""

import numbers
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mixedbag._kernels import KERNEL_PARAMETERS, Kernel, settled_gamma
from mixedbag._parameters import above, at_least, one_of, whole
from mixedbag._solvers.numbered_rows import NumberedRows
from mixedbag._validation import refuse_unusable
from mixedbag._wide import averaged, times
from mixedbag.base import BagClassifier
from mixedbag.base._class_weights import ClassWeights
from mixedbag.engines import ClusterLostError
from mixedbag.exceptions import InputError
from mixedbag.margin._ambiguity import Labels
from mixedbag.margin._blocks import BlockAmbiguity, BlockMachine
from mixedbag.margin._kernel_machine import GivenColumns, GramColumns, KernelMachine
from mixedbag.margin._linear import LinearMachine, landmark_machine
from mixedbag.pooling import Max, bag_argmax

_LARGEST = 1e12  # beyond, rounding leaves nothing of a margin of one in a sum of features


class _MarginSVC(ClassWeights, BagClassifier):
    """Base of the two learners; subclasses say what is ambiguous about a positive bag."""

    _rules = ("any",)
    _search_space = {"C": [0.1, 1.0, 10.0, 100.0]}
    _needs_scaling = True
    _accepts_sparse = True
    _pooling = Max()
    _parameter_constraints = {
        "C": [above(0), "array-like"],
        "kernel": [one_of("linear", "rbf", "poly", "sigmoid", "precomputed"), callable],
        **KERNEL_PARAMETERS,
        "loss": [one_of("hinge", "squared_hinge")],
        "update": [one_of("synchronous", "asynchronous")],
        "n_init": [whole(1)],
        "max_iter": [whole(1)],
        "tol": [above(0)],
        "cache_size": [at_least(0)],
        "n_components": [whole(1)],
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        degree=2,
        gamma="scale",
        coef0=1.0,
        loss="hinge",
        class_weight=None,
        update="synchronous",
        n_init=1,
        max_iter=100,
        tol=1e-6,
        cache_size=1000,
        n_components=500,
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.loss = loss
        self.class_weight = class_weight
        self.update = update
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.cache_size = cache_size
        self.n_components = n_components
        self.random_state = random_state

    # Fitting -------------------------------------------------------------------------------------

    def _fit(self, bags, sign, weight):
        self._check_parameters()
        ambiguity = self._ambiguity(bags, sign, weight)
        machine = self._machine(bags, ambiguity.averages(), weight)
        solution = self._best_search(machine, ambiguity)
        self.witness_ = bag_argmax(solution.scores, bags.offsets)[ambiguity.positive]

    def _fit_blocks(self, blocks):
        """Learn from blocks of labelled bags, wherever they are."""
        self._check_parameters()
        self._check_blocks()
        n = self.n_features_in_
        machine = BlockMachine(n, self.loss == "squared_hinge")
        self._best_search(machine, BlockAmbiguity(self._ambiguity, blocks, n))

    def _best_search(self, machine, ambiguity):
        """The solution of the best start, which the learner keeps."""
        rng = check_random_state(self.random_state)  # starts are the same whatever the machine
        cost = self._costs(ambiguity)
        best: Any = None
        for i in self._iterations(self.n_init) if self.n_init > 1 else range(1):
            if i == 0:
                choice, start = self._first_choice(machine, ambiguity, cost)
            else:
                choice, start = ambiguity.random_choice(rng), None
            search = self._search(machine, ambiguity, choice, cost, start)
            if best is None or search[0].objective < best[0].objective:
                best = search
        self._keep(machine, *best)
        return best[0]

    def _costs(self, ambiguity):
        cost = ambiguity.costs([self.C] * 2 if isinstance(self.C, numbers.Real) else self.C)
        return ambiguity.balanced(cost) if self.class_weight == "balanced" else cost

    def _keep(self, machine, solution, objective):
        self.objective_ = np.array(objective)
        self.n_iter_ = len(objective)
        self.dual_gap_ = float(solution.gap)
        self.intercept_ = float(solution.intercept)
        for name, value in machine.fitted(solution).items():
            setattr(self, name, value)

    def _search(self, machine, ambiguity, choice, cost, solution=None):
        """Alternate machine and choice until the choice repeats or the objective rises.

        The first machine starts from `solution`, of any problem with as many slots. Machines may be
        imprecise until then. Returns the last solution and all objectives.
        """
        objective: list[float] = []
        loose = True
        seen = {ambiguity.fingerprint(choice)}
        for _ in self._iterations(self.max_iter):
            problem = ambiguity.problem(choice, cost, self.loss == "squared_hinge")
            try:
                found = machine.solve(problem, solution, loose)
            except ClusterLostError:
                if objective:  # what was learned until then
                    self._keep(machine, solution, objective)
                raise
            if objective and found.objective > objective[-1] * (1.0 + self.tol):
                break
            solution = found
            objective.append(found.objective)
            after = ambiguity.choose(found.scores)
            if self.update == "asynchronous":
                after = ambiguity.change_one(choice, after, found.scores)
            mark = ambiguity.fingerprint(after)
            if mark not in seen:
                choice = after
                seen.add(mark)
            elif loose and found.gap > self.tol * found.objective:
                loose = False
            else:
                break
        else:  # out of iterations: the last machine, to full precision
            solution = machine.solve(solution.problem, solution)
            objective[-1] = solution.objective
        return solution, objective

    def _learn(self, bags, y, weight):
        super()._learn(bags, y, weight)
        if len(self.classes_) > 2:
            self.n_iter_ = np.array([learner.n_iter_ for learner in self.estimators_])

    @property
    def _refuse_values(self):  # type: ignore[override]
        return partial(refuse_unusable, largest=_LARGEST if self._linear else np.inf)

    # Machines ------------------------------------------------------------------------------------

    def _machine(self, bags, average, weight):
        instances = bags.instances
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1)
        if self.kernel == "linear":
            return LinearMachine(
                NumberedRows(instances, averaged(average, instances)), self.tol, seed
            )
        if self.kernel == "precomputed":
            _check_square(instances)
            return KernelMachine(GivenColumns(instances, average), self.tol)
        self.gamma_ = settled_gamma(self.gamma, instances, bags.spread(weight))
        kernel = self._settled_kernel()
        megabytes = instances.shape[0] ** 2 * 4 / 1e6
        if megabytes <= self.cache_size:
            dtype = np.float64 if 2 * megabytes <= self.cache_size else np.float32
            return KernelMachine(
                GramColumns(instances, averaged(average, instances), kernel, dtype), self.tol
            )
        return landmark_machine(kernel, instances, average, self.n_components, self.tol, rng, seed)

    def _settled_kernel(self):
        return Kernel(self.kernel, self.gamma_, self.degree, self.coef0)

    # Scores --------------------------------------------------------------------------------------

    @property
    def _linear(self):  # type: ignore[override]
        return self.kernel == "linear"

    def _score_instances(self, bags):
        X = bags.instances
        if self.kernel == "linear":
            return times(X, self.coef_) + self.intercept_
        if self.kernel == "precomputed":
            return X[:, self.support_] @ self.dual_coef_ + self.intercept_
        expansion = self._settled_kernel().expand(X, self.support_vectors_, self.dual_coef_)
        return expansion + self.intercept_

    # Parameters ----------------------------------------------------------------------------------

    def _check_parameters(self):
        if not isinstance(self.C, numbers.Real):
            sides = list(self.C)
            if len(sides) != 2 or not all(0 < c < np.inf for c in sides):
                raise InputError(
                    f"C must be positive, or a pair of positive numbers; got {self.C!r}"
                )
        if self.loss == "squared_hinge" and self.kernel != "linear":
            raise InputError("loss='squared_hinge' needs kernel='linear'")

    def _check_blocks(self):
        needs: dict[str, Any] = {"kernel": "linear", "update": "synchronous"}
        if self._ambiguity is Labels:
            needs["n_init"] = 1
        for name, value in needs.items():
            if getattr(self, name) != value:
                raise InputError(
                    f"{name}={getattr(self, name)!r} needs all bags in one place: on a cluster, "
                    f"{type(self).__name__} learns with {name}={value!r}"
                )


def _check_square(gram):
    if gram.shape[0] != gram.shape[1]:
        raise InputError(
            "kernel='precomputed' needs one feature a training instance: "
            f"{gram.shape[0]} instances have {gram.shape[1]} features"
        )
