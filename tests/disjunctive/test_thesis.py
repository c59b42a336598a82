"""The thesis's own algorithms: projection alone, cuts until they close, one witness at a time."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mixedbag._solvers.highs import Clock
from mixedbag.disjunctive import LNPBoost, SparseBagMarginSVC, _convexification
from mixedbag.disjunctive._incumbent import Incumbent
from mixedbag.disjunctive._local_search import Starts, local_search, project
from mixedbag.disjunctive._master import RestrictedMaster
from mixedbag.disjunctive._selection import FeatureSelection
from tests.disjunctive.oracles import brute_force, margin_lp, random_program
from tests.disjunctive.test_learners import toy

AS_PRINTED = {"fs_init": 5, "fs_min_iter": 5, "fs_add_tol": -0.5, "feature_selection": True}


def lp_of(program, witness):
    """The optimum for given witnesses, by another solver."""
    A, b, c, bounds = margin_lp(program, np.concatenate([witness, program.negatives]))
    return linprog(c, A, b, bounds=bounds).fun


def searched(program):
    incumbent = Incumbent(program, Clock())
    return RestrictedMaster(program, incumbent.clock), incumbent


def run(model, program, seed=0):
    """A learner's search over a program; returns what it knows in the end."""
    incumbent = Incumbent(program, Clock())
    starts = Starts(program.values, program, np.random.RandomState(seed))
    model._search(program, incumbent, starts)
    return incumbent


def test_cuts_until_none_is_left_close_tiny_problems():
    closed = []
    for seed in range(16):
        program = random_program(seed, n_positive=3, n_negative=3, C=2.0, intercept=False)
        model = LNPBoost(tol=0.0, n_rounds=60, gap_tol=1e-5, local_search=False)
        incumbent = run(model, program)
        optimum = brute_force(program)
        assert incumbent.lower <= optimum * (1 + 1e-6) <= incumbent.upper * (1 + 2e-6)
        closed.append(incumbent.lower >= optimum * (1 - 1e-4))
    assert all(closed)


@pytest.mark.parametrize("seed", range(4))
def test_a_projection_is_the_program_of_its_witnesses(seed):
    program = random_program(seed, size=4, C=2.0)
    master, incumbent = searched(program)
    for witness in ([rows[0] for rows in program.bags], [rows[-1] for rows in program.bags]):
        witness = np.array(witness)
        np.testing.assert_array_equal(project(master, incumbent, witness), witness)
        assert master.value == pytest.approx(lp_of(program, witness), rel=1e-6)


def test_the_pure_method_never_searches(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a search in the pure method")

    bags, y = toy(1)
    full = LNPBoost(n_rounds=3, random_state=0).fit(bags, y)
    monkeypatch.setattr("mixedbag.disjunctive.lnpboost.local_search", refuse)
    monkeypatch.setattr("mixedbag.disjunctive.lnpboost.iterated_search", refuse)
    pure = LNPBoost(n_rounds=3, local_search=False, random_state=0).fit(bags, y)
    assert full.lower_bound_ <= pure.upper_bound_ * (1 + 1e-9)
    assert pure.lower_bound_ <= full.upper_bound_ * (1 + 1e-9)
    with_selection = LNPBoost(n_rounds=2, local_search=False, random_state=0, **AS_PRINTED)
    assert with_selection.fit(bags, y).score(bags, y) > 0.85


@pytest.mark.parametrize("seed", range(4))
def test_one_witness_at_a_time_ends_where_no_single_best_change_helps(seed):
    program = random_program(seed, n_positive=5, size=4, n_features=4, C=2.0)
    master, incumbent = searched(program)
    starts = Starts(program.values, program, np.random.RandomState(seed))
    first = starts.random()
    assert all(x in rows for x, rows in zip(first, program.bags, strict=True))
    last = local_search(master, incumbent, first, one_at_a_time=True)
    assert master.value <= lp_of(program, first) + 1e-7
    assert master.value == pytest.approx(lp_of(program, last), rel=1e-6)
    best = program.best_instances(master.scores)
    gain = master.scores[best] - master.scores[last]
    if gain.max() > 1e-7:
        changed = np.where(np.arange(len(last)) == gain.argmax(), best, last)
        assert lp_of(program, changed) >= master.value - 1e-6


@pytest.mark.parametrize("n_init", [1, 5])
def test_a_search_from_the_selected_solution_is_never_worse(n_init):
    for seed in range(5):
        bags, y = toy(seed, n=40, size=8, d=8)
        options = {"C": 10.0, "n_init": n_init, "random_state": 0}
        selected = SparseBagMarginSVC(feature_selection=True, **options)
        best = SparseBagMarginSVC(init="selected", **options).fit(bags, y)
        assert best.upper_bound_ <= selected.fit(bags, y).upper_bound_ * (1 + 1e-9)


def test_constants_of_feature_selection():
    program = random_program(5, n_positive=6, n_negative=6, n_features=12)
    starts = Starts(program.values, program, np.random.RandomState(0))
    drawn = starts.features(5)
    assert len(set(drawn % 12)) == 5
    assert sorted(drawn[:5] + 12) == sorted(drawn[5:])

    def rounds(**options):
        master = RestrictedMaster(program, Clock(), drawn)
        sizes = []

        def solve():
            master.settle()
            sizes.append(len(master.active))

        FeatureSelection(**options).run(master, solve, range(30))
        return sizes, master

    sizes, master = rounds(tol=1.0)
    assert len(sizes) == 2  # nothing gains so much: it ends as soon as there is a gain to look at
    assert sizes[1] - sizes[0] <= 2
    sizes, _ = rounds(tol=1.0, min_iter=4, add_tol=-5.0, add=1)
    assert len(sizes) == 4
    _, master = rounds(tol=0.0)
    assert master.prices().max() <= 1.0 + 1e-5  # none is left that would help
    _, master = rounds(tol=0.0, add_tol=0.3)
    outside = np.setdiff1d(np.arange(24), master.active)
    assert master.prices()[outside].max() <= 1.3


@pytest.mark.parametrize("Learner", [SparseBagMarginSVC, LNPBoost])
def test_as_printed_on_bags(Learner):
    bags, y = toy(2, d=12)
    own = (
        {"update": "asynchronous", "init": "random", "n_init": 1}
        if Learner is SparseBagMarginSVC
        else {"local_search": False, "bags_per_round": 10, "cuts_kept": 1, "depth_tol": 1e-5}
    )
    model = Learner(random_state=0, time_limit=20, **AS_PRINTED, **own).fit(bags, y)
    assert model.lower_bound_ <= model.upper_bound_
    assert model.score(bags, y) > 0.7


def test_cutting_ends_with_a_round_that_has_no_cut():
    """As Algorithm 7.1 prints it, where cuts are chosen; all bags are tried otherwise."""
    bags, y = toy(2, d=12)
    options = {"local_search": False, "bags_per_round": 1, "tol": 0.0, "max_cosine": 0.3}
    chosen = LNPBoost(random_state=0, cuts_kept=1, **options).fit(bags, y)
    all_bags = LNPBoost(random_state=0, **options).fit(bags, y)
    assert 0 < chosen.n_cuts_ < all_bags.n_cuts_


def test_all_tight_rows_are_for_when_no_cut_is_found(monkeypatch):
    """Not for when angles refuse those there are, which takes long and lets in hardly any."""
    bags, y = toy(2, d=12)
    thorough = []
    generator = _convexification.CutGenerator

    def watched(master, upper, normalization, all_rows):
        thorough.append(all_rows)
        return generator(master, upper, normalization, all_rows)

    monkeypatch.setattr(_convexification, "CutGenerator", watched)
    options = {"local_search": False, "tol": 0.0, "n_rounds": 300, "random_state": 0}
    LNPBoost(max_cosine=0.3, **options).fit(bags, y)
    assert not any(thorough)
    LNPBoost(**options).fit(bags, y)
    assert any(thorough)
