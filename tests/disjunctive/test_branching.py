"""Branch and bound proves the optimum, and is honest when it may not finish."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mixedbag import Bags
from mixedbag.disjunctive import ExactBagMarginSVC
from mixedbag.disjunctive._branching import BranchAndBound
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._local_search import Incumbent
from mixedbag.disjunctive._master import RestrictedMaster
from mixedbag.disjunctive._solver import Clock
from tests.disjunctive.oracles import big_m, brute_force, random_program


def solve(program):
    clock = Clock()
    incumbent = Incumbent(program, clock)
    master = RestrictedMaster(program, clock)
    BranchAndBound(EnvelopeLP(program, clock), master, incumbent).run()
    return incumbent


@pytest.mark.parametrize("seed", range(50))
def test_equals_brute_force(seed):
    program = random_program(seed, C=0.5 + seed % 3)
    optimum = brute_force(program)
    incumbent = solve(program)
    assert incumbent.upper == pytest.approx(optimum, rel=1e-5)
    assert incumbent.lower == pytest.approx(optimum, rel=1e-5)
    assert program.objective(incumbent.w, incumbent.b) == pytest.approx(incumbent.upper)


@pytest.mark.parametrize("seed", range(4))
def test_equals_big_m_milp(seed):
    program = random_program(seed, n_positive=8, n_negative=8, size=4, n_features=6, C=2.0)
    assert solve(program).upper == pytest.approx(big_m(program).fun, rel=1e-4)


def test_stopping_early_leaves_an_incumbent_and_an_honest_gap():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    arrays = [rng.normal(size=(6, 20)) for _ in y]
    for array, label in zip(arrays, y, strict=True):
        array[0, 0] += 2.0 * label
    bags = Bags.from_list(arrays)
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = ExactBagMarginSVC(C=5.0, time_limit=1.0, random_state=0).fit(bags, y)
    assert 0 <= model.lower_bound_ < model.upper_bound_
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.upper_bound_)
    assert model.score(bags, y) > 0.6
    assert np.all(np.diff(model.history_[:, 1]) >= 0)
    assert np.all(np.diff(model.history_[:, 2]) <= 0)
