"""Lift-and-project cuts: valid by their certificate, by LP, and useful."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mixedbag._solvers.highs import Clock
from mixedbag.disjunctive import _cuts
from mixedbag.disjunctive._convexification import Convexification
from mixedbag.disjunctive._cuts import Cut, CutGenerator, row_arrays
from mixedbag.disjunctive._incumbent import Incumbent
from mixedbag.disjunctive._master import RestrictedMaster
from tests.disjunctive.oracles import brute_force, random_program


def convexify(program, rounds, **options):
    """All cuts of some rounds, the incumbent, and the lower bound after every round."""
    incumbent = Incumbent(program, Clock())
    master = RestrictedMaster(program, incumbent.clock)
    cutting = Convexification(master, incumbent, **options)
    cuts, bounds = [], []
    add = master.add_cuts

    def spy(new):
        cuts.extend(new)
        add(new)

    master.add_cuts = spy
    cutting.solve()
    for _ in range(rounds):
        bags = cutting.violated_bags()
        if not len(bags) or not cutting.round(bags):
            break
        bounds.append(incumbent.lower)
    return cuts, incumbent, np.array(bounds)


def assert_proven(program, cut, largest_intercept):
    """Recompute validity from the multipliers: α ≥ u·A on every piece, β ≤ u·b."""
    assert (cut.multipliers >= 0).all()
    for x, u in zip(program.bags[cut.bag], cut.multipliers, strict=True):
        features, fixed, beta = row_arrays(program, [*cut.rows, int(x)])
        assert (cut.features >= u @ features - 1e-9).all()
        assert (cut.fixed[1:] >= (u @ fixed)[1:] - 1e-9).all()
        # The bias may have either sign: a difference counts at its largest size.
        difference = abs(cut.fixed[0] - (u @ fixed)[0])
        assert cut.beta <= u @ beta - difference * largest_intercept + 1e-7


def minimum_over_piece(program, cut, x):
    """min α·z over the rows of the relaxation and the margin row of x."""
    rows = [*program.unambiguous.tolist(), *_ancestors(cut), int(x)]
    features, fixed, beta = row_arrays(program, rows)
    A = -np.hstack([features, fixed])
    bounds = [(0, None)] * features.shape[1]
    bounds += [(None, None) if program.intercept else (0, 0)]
    bounds += [(0, None)] * program.n_examples
    result = linprog(np.concatenate([cut.features, cut.fixed]), A, -beta, bounds=bounds)
    return result.fun


def _ancestors(cut):
    return [row for row in cut.rows if isinstance(row, Cut)]


@pytest.mark.parametrize("normalization", ["multipliers", "coefficients"])
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 7])
def test_every_cut_is_valid_and_separates(seed, normalization):
    program = random_program(seed, n_positive=5, size=4, n_features=4, C=2.0)
    cuts, incumbent, _ = convexify(program, 4, normalization=normalization)
    assert cuts
    limit = program.intercept_bound(incumbent.upper)
    for cut in cuts:
        assert_proven(program, cut, limit)
        for x in program.bags[cut.bag]:
            assert minimum_over_piece(program, cut, x) >= cut.beta - 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_relaxation_below_optimum_below_projection(seed):
    program = random_program(seed, n_positive=4, size=4, n_features=4, C=2.0)
    optimum = brute_force(program)
    _, incumbent, bounds = convexify(program, 10)
    assert (np.diff(bounds) >= 0).all()
    assert incumbent.lower <= optimum + 1e-7
    assert incumbent.upper >= optimum - 1e-7


def test_cuts_raise_the_bound():
    gains = []
    for seed in range(6):
        program = random_program(seed, n_positive=5, size=4, n_features=4, C=2.0)
        master = RestrictedMaster(program, Clock())
        master.settle()
        _, incumbent, _ = convexify(program, 10)
        gains.append(incumbent.lower - master.value)
    assert min(gains) >= -1e-7
    assert np.median(gains) > 0.1


def test_a_solution_inside_the_hull_gets_no_cut():
    program = random_program(0, size=1)
    master = RestrictedMaster(program, Clock())
    master.settle()
    assert len(Convexification(master, Incumbent(program, Clock())).violated_bags()) == 0


def test_large_bags_borrow_multipliers(monkeypatch):
    monkeypatch.setattr(_cuts, "_LARGEST_BAG", 2)
    valid = 0
    for seed in range(4):
        program = random_program(seed, n_positive=4, size=6, n_features=4, C=2.0)
        optimum = brute_force(program) if seed < 1 else np.inf
        cuts, incumbent, _ = convexify(program, 4)
        limit = program.intercept_bound(incumbent.upper)
        for cut in cuts:
            assert_proven(program, cut, limit)
        valid += sum(len(program.bags[cut.bag]) > 2 for cut in cuts)
        assert incumbent.lower <= optimum + 1e-7
    assert valid


def test_the_angle_filter_keeps_cuts_apart():
    program = random_program(3, n_positive=6, size=4, n_features=5, C=2.0)
    few, _, _ = convexify(program, 5, max_cosine=0.7)
    many, _, _ = convexify(program, 5)
    assert 0 < len(few) < len(many)
    directions = np.array([cut.direction(slice(None)) for cut in few])
    cosines = directions @ directions.T - np.eye(len(few))
    assert cosines.max() < 0.7


def test_generated_columns_see_the_cuts(monkeypatch):
    program = random_program(4, n_positive=4, size=4, n_features=8, C=2.0)
    _, all_columns, _ = convexify(program, 3)
    monkeypatch.setattr("mixedbag.disjunctive._master._ALL_COLUMNS", 0)
    _, few_columns, _ = convexify(program, 3)
    assert few_columns.lower == pytest.approx(all_columns.lower, rel=0.05)
    assert few_columns.lower <= brute_force(program) + 1e-7


def test_depth_is_the_violation():
    program = random_program(2, n_positive=5, size=4, n_features=4, C=2.0)
    master = RestrictedMaster(program, Clock())
    master.settle()
    incumbent = Incumbent(program, Clock())
    bag = Convexification(master, incumbent).violated_bags()[0]
    generator = CutGenerator(master, incumbent.upper)
    cut = generator.cut(bag)
    before = master.value
    assert generator.depth(cut) > 0
    master.add_cuts([cut])
    master.settle()
    assert master.value > before


def test_the_deepest_cut_of_a_round_is_kept():
    program = random_program(3, n_positive=6, size=4, n_features=5, C=2.0)
    incumbent = Incumbent(program, Clock())
    master = RestrictedMaster(program, incumbent.clock)
    cutting = Convexification(master, incumbent, keep=1)
    cutting.solve()
    bags = cutting.violated_bags()
    generator = CutGenerator(master, incumbent.upper)
    depths = sorted((generator.depth(cut) for b in bags if (cut := generator.cut(b))), reverse=True)
    assert len(depths) > 1
    assert cutting.round(bags) == 1
    np.testing.assert_allclose([generator.depth(cut) for cut in cutting.cuts], depths[:1])


def test_shallow_cuts_are_refused():
    program = random_program(3, n_positive=6, size=4, n_features=5, C=2.0)
    incumbent = Incumbent(program, Clock())
    cutting = Convexification(RestrictedMaster(program, incumbent.clock), incumbent, depth_tol=1e9)
    cutting.solve()
    bags = cutting.violated_bags()
    assert cutting.round(bags) == 0
    cutting.depth_tol = 0.0
    assert cutting.round(bags) > 0


def deepest(program, master, bag, tight):
    """The depth of the thesis's cut (Definition 23) of these rows, by its own LP over (α, β, u).

    max β − α·p over ‖α‖₁ ≤ 1 and, for every instance x: α ≥ u^x A + u₀^x a_x, β ≤ Σ u^x β + u₀^x.
    """
    features, fixed, beta = row_arrays(program, tight)
    A = np.hstack([features, fixed])
    features, fixed, _ = row_arrays(program, [int(x) for x in program.bags[bag]])
    own = np.hstack([features, fixed])
    signed_w = np.zeros(2 * program.n_features)
    signed_w[master.active] = master.signed_w
    point = np.concatenate([signed_w, [master.b], master.slack])
    (K, n), R = own.shape, len(beta)
    free = 2 * program.n_features  # the bias: pieces agree on its coefficient
    rows, right = [], []
    width = 2 * n + 1 + K * (R + 1)  # α = α⁺ − α⁻, β, u
    for x in range(K):
        piece = np.zeros((n, width))
        piece[:, :n], piece[:, n : 2 * n] = -np.eye(n), np.eye(n)
        u = slice(2 * n + 1 + x * (R + 1), 2 * n + 1 + (x + 1) * (R + 1))
        piece[:, u] = np.column_stack([A.T, own[x]])
        value = np.zeros(width)
        value[2 * n], value[u] = 1.0, -np.append(beta, 1.0)
        rows += [piece, -piece[[free]], value[None]]
        right += [np.zeros(n + 2)]
    rows.append(np.concatenate([np.ones(2 * n), np.zeros(width - 2 * n)])[None])
    right.append([1.0])
    cost = np.concatenate([point, -point, [-1.0], np.zeros(K * (R + 1))])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * (K * (R + 1))
    return -linprog(cost, np.vstack(rows), np.concatenate(right), bounds=bounds).fun


@pytest.mark.parametrize("seed", range(6))
def test_the_smaller_program_finds_the_deepest_cut(seed):
    """Rows that look alike and coordinates that no row has are left out, at no loss."""
    program = random_program(seed, n_positive=5, n_negative=6, size=4, n_features=4, C=2.0)
    program.values[program.negatives[1::2]] = program.values[program.negatives[0]]
    program.values[:, 3] = 0.0
    master = RestrictedMaster(program, Clock())
    master.settle()
    cutting = Convexification(master, Incumbent(program, Clock()))
    compared = 0
    for _ in range(3):  # the later rounds have cuts among their rows
        bags = cutting.violated_bags()
        generator = CutGenerator(master, cutting.incumbent.upper, "coefficients", thorough=True)
        cuts = [cut for bag in bags if (cut := generator.cut(bag)) is not None]
        for cut in cuts:
            depth = deepest(program, master, cut.bag, master.tight_rows())
            few = deepest(program, master, cut.bag, generator.rows)
            assert few == pytest.approx(depth, abs=1e-7)
            own = row_arrays(program, [int(x) for x in program.bags[cut.bag]])
            made = generator._multipliers(own)
            scale = made[made > 0].max() / cut.multipliers[cut.multipliers > 0].max()
            assert generator.depth(cut) * scale >= depth - 1e-7
        compared += len(cuts)
        if not cuts:
            break
        master.add_cuts(cuts)
        cutting.solve()
    assert compared
