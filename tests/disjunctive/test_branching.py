"""Branch and bound proves the optimum, and is honest when it may not finish."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mixedbag import Bags
from mixedbag.disjunctive import ExactBagMarginSVC
from mixedbag.disjunctive._branching import BranchAndBound
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._local_search import Incumbent
from mixedbag.disjunctive._margin_lp import MarginLP
from mixedbag.disjunctive._master import RestrictedMaster
from mixedbag.disjunctive._solver import Clock
from tests.disjunctive.oracles import big_m, brute_force, random_program


def solve(program, cut_rounds=None):
    """With our own simplex method (None), or by HiGHS after some rounds of cuts."""
    clock = Clock()
    incumbent = Incumbent(program, clock)
    if cut_rounds is None:
        master = MarginLP(program, clock)
    else:
        master = RestrictedMaster(program, clock)
        cutting = Convexification(master, incumbent)
        cutting.solve()
        for _ in range(cut_rounds):
            cutting.round(cutting.violated_bags())
    BranchAndBound(master, incumbent).run()
    return incumbent


@pytest.mark.parametrize("seed", range(50))
def test_equals_brute_force(seed):
    program = random_program(seed, C=0.5 + seed % 3)
    optimum = brute_force(program)
    for cut_rounds in (None, 0, 2):
        incumbent = solve(program, cut_rounds)
        assert incumbent.upper == pytest.approx(optimum, rel=1e-5)
        assert incumbent.lower == pytest.approx(optimum, rel=1e-5)
        assert program.objective(incumbent.w, incumbent.b) == pytest.approx(incumbent.upper)


@pytest.mark.parametrize("seed", range(4))
def test_equals_big_m_milp(seed):
    program = random_program(seed, n_positive=8, n_negative=8, size=4, n_features=6, C=2.0)
    assert solve(program).upper == pytest.approx(big_m(program).fun, rel=1e-4)


def test_generated_columns_do_not_spoil_the_proof(monkeypatch):
    program = random_program(3, n_positive=5, n_features=8, C=2.0)
    optimum = brute_force(program)
    monkeypatch.setattr("mixedbag.disjunctive._master._ALL_COLUMNS", 0)
    assert solve(program, cut_rounds=0).upper == pytest.approx(optimum, rel=1e-5)


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
