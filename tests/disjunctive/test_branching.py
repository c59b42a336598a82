"""Branch and bound proves the optimum, and is honest when it may not finish."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mixedbag import Bags
from mixedbag._solvers.highs import Clock, SolverStopped
from mixedbag.disjunctive import ExactBagMarginSVC
from mixedbag.disjunctive._branching import BranchAndBound
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._envelope import EnvelopeLP
from mixedbag.disjunctive._incumbent import Incumbent
from mixedbag.disjunctive._master import RestrictedMaster
from tests.disjunctive.oracles import big_m, brute_force, random_program


def solve(program, rounds=0):
    """Branch and bound, after some rounds of cuts at its root."""
    clock = Clock()
    incumbent = Incumbent(program, clock)
    cutting = Convexification(RestrictedMaster(program, clock), incumbent)
    if rounds:
        cutting.solve()
    for _ in range(rounds):
        cutting.round(cutting.violated_bags())
    incumbent.lower = 0.0  # the tree must prove the bound by itself
    lp = EnvelopeLP(program, clock, cutting.cuts)
    BranchAndBound(lp, RestrictedMaster(program, clock), incumbent).run()
    return incumbent


@pytest.mark.parametrize("seed", range(50))
def test_equals_brute_force(seed):
    program = random_program(seed, C=0.5 + seed % 3)
    optimum = brute_force(program)
    for rounds in (0, 3):
        incumbent = solve(program, rounds)
        assert_solved(program, incumbent, optimum)


def assert_solved(program, incumbent, optimum):
    assert incumbent.upper == pytest.approx(optimum, rel=1e-5)
    assert incumbent.lower == pytest.approx(optimum, rel=1e-5)
    assert program.objective(incumbent.w, incumbent.b) == pytest.approx(incumbent.upper)


@pytest.mark.parametrize("seed", range(4))
def test_equals_big_m_milp(seed):
    program = random_program(seed, n_positive=8, n_negative=8, size=4, n_features=6, C=2.0)
    assert solve(program).upper == pytest.approx(big_m(program).fun, rel=1e-4)


def test_cuts_tighten_the_root():
    """The root LP with cuts lies above the one without, and below the optimum."""
    gains = []
    for seed in range(6):
        program = random_program(seed, n_positive=4, size=4, n_features=4, C=2.0)
        clock = Clock()
        cutting = Convexification(RestrictedMaster(program, clock), Incumbent(program, clock))
        cutting.solve()
        for _ in range(3):
            cutting.round(cutting.violated_bags())
        plain, cut = EnvelopeLP(program, clock), EnvelopeLP(program, clock, cutting.cuts)
        assert plain.solve({})
        assert cut.solve({})
        assert plain.value - 1e-7 <= cut.value <= brute_force(program) + 1e-6
        assert cut.value >= cutting.master.value - 1e-6
        gains.append(cut.value - plain.value)
    assert np.median(gains) > 0.1


def test_cuts_change_the_way_but_not_the_end():
    rng = np.random.default_rng(3)
    y = np.arange(16) % 2
    bags = Bags.from_list([rng.normal(size=(3, 2)) + 0.8 * label for label in y])
    with_cuts = ExactBagMarginSVC(C=2.0, features="rbf", gamma=0.5, random_state=0).fit(bags, y)
    without = ExactBagMarginSVC(C=2.0, features="rbf", gamma=0.5, n_rounds=0, random_state=0).fit(
        bags, y
    )
    assert with_cuts.n_cuts_ > 0 == without.n_cuts_
    assert max(with_cuts.gap_, without.gap_) <= 1e-5
    assert with_cuts.upper_bound_ == pytest.approx(without.upper_bound_, rel=1e-5)


def test_a_first_bound_comes_before_the_long_searches(monkeypatch):
    """Time that runs out among the starting searches still leaves a bound."""

    def out_of_time(*_):
        raise SolverStopped("time limit")

    monkeypatch.setattr("mixedbag.disjunctive.exact.kicked_searches", out_of_time)
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(3, 4)) + i % 2 for i in range(20)])
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        model = ExactBagMarginSVC(fit_intercept=False).fit(bags, np.arange(20) % 2)
    assert 0 < model.lower_bound_ <= model.upper_bound_
    assert model.n_nodes_ == 0


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
