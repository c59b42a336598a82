"""`mixedbag rates`: who answered what, from a table of precincts."""

import json
from itertools import pairwise

import numpy as np
import pytest

from mixedbag import Bags
from mixedbag.cli import _rates
from mixedbag.cli._rates import named_groups
from tests.command import mixedbag


@pytest.fixture(scope="module")
def precincts(tmp_path_factory):
    """Men say yes more often than women, and the share of men differs between precincts."""
    rng = np.random.default_rng(0)
    folder, rows, answers = tmp_path_factory.mktemp("precincts"), [], {"f": [], "m": []}
    for place in range(60):
        sex = np.where(rng.random(15) < rng.uniform(0.1, 0.9), "m", "f")
        yes = rng.random(15) < np.where(sex == "m", 0.7, 0.3)
        count = "" if place % 10 == 0 else int(yes.sum())
        share = "" if place % 10 == 0 else f"{100 * yes.mean():.1f} %"
        for one, said in zip(sex, yes):
            rows.append(f"P{place},{one},{rng.normal():.3f},{count},{share}")
            if count != "":
                answers[one].append(said)
    (folder / "t.csv").write_text("\n".join(["place,sex,age,yes,share", *rows]) + "\n")
    return folder, {name: np.mean(said) for name, said in answers.items()}


@pytest.mark.parametrize(("label", "other"), [("yes", "share"), ("share", "yes")])
def test_rates_of_groups_hold_the_truth_within_what_is_certain(precincts, label, other):
    folder, truth = precincts
    asked = ("rates", "t.csv", "--bag=place", f"--label={label}", f"--drop={other}", "--by=sex")
    told = json.loads(mixedbag(*asked, "--draws=60", "--json", folder=folder).stdout)
    assert told["learner"] == "AggregateLogisticRegression"
    assert any("6 bags have no label" in note for note in told["notes"])
    assert [line["group"] for line in told["groups"]] == ["f", "m"]
    counted = sum(line["instances"] * line["estimate"] for line in told["groups"])
    known = sum(line["instances"] * truth[line["group"]] for line in told["groups"])
    assert counted == pytest.approx(known, abs=1e-6 if label == "yes" else 0.5)
    for line in told["groups"]:
        assert line["low"] <= truth[line["group"]] <= line["high"] < line["low"] + 0.35
        assert line["certain low"] <= line["estimate"] <= line["certain high"]


def test_of_three_answers_each_is_told(tmp_path):
    rng, rows, found = np.random.default_rng(1), [], {"f": np.zeros(3), "m": np.zeros(3)}
    for place in range(40):
        sex = np.where(rng.random(12) < rng.uniform(0.1, 0.9), "m", "f")
        said = np.where(sex == "m", rng.choice(3, 12, p=[0.7, 0.2, 0.1]), rng.choice(3, 12))
        for one in "fm":
            found[one] += np.bincount(said[sex == one], minlength=3)
        counts = ",".join(map(str, np.bincount(said, minlength=3)))
        rows += [f"P{place},{one},{counts},12" for one in sex]
    (tmp_path / "t.csv").write_text("\n".join(["place,sex,no,yes,none,all", *rows]) + "\n")
    asked = ("rates", "t.csv", "--bag=place", "--by=sex", "--draws=60", "--json")
    of_all = mixedbag(*asked, "--label=no, yes,none/all", folder=tmp_path)
    names = [line["answer"] for line in json.loads(of_all.stdout)["groups"]]
    assert names == ["no", "no", "yes", "yes", "none", "none"]
    asked = (*asked, "--label=no,yes,none", "--drop=all")
    done = mixedbag(*asked, "--picture=s.svg", folder=tmp_path)
    lines = json.loads(done.stdout)["groups"]
    truth = {sex: counts / counts.sum() for sex, counts in found.items()}
    told = [(line["answer"], line["group"]) for line in lines]
    assert told == [(answer, sex) for answer in ("no", "yes", "none") for sex in "fm"]
    for k, line in enumerate(lines):
        assert line["estimate"] == pytest.approx(truth[line["group"]][k // 2], abs=0.12)
        assert line["certain low"] <= line["low"] <= line["high"] <= line["certain high"]
    table = np.array([line["estimate"] for line in lines]).reshape(3, 2)
    np.testing.assert_allclose(table.sum(axis=0), 1.0)
    places = np.loadtxt(tmp_path / "t.csv", delimiter=",", skiprows=1, usecols=(2, 3, 4))[::12]
    people = [line["instances"] for line in lines[:2]]
    np.testing.assert_allclose(table @ people, places.sum(axis=0), atol=1e-6)


def test_of_few_bags_estimates_are_certain_to_be_possible_and_add_up(tmp_path):
    """Clipped to what is certain one by one, they made 114 % of some groups."""
    rng, rows, known = np.random.default_rng(27), [], np.zeros(3)
    for place in range(5):
        group = rng.choice(4, 7, p=rng.dirichlet([0.4] * 4))
        counts = np.bincount(rng.choice(3, 7, p=rng.dirichlet([0.4] * 3)), minlength=3)
        known += counts
        rows += [f"P{place},{'abcd'[one]},{','.join(map(str, counts))}" for one in group]
    (tmp_path / "t.csv").write_text("\n".join(["place,part,x,y,z", *rows]) + "\n")
    asked = ("--bag=place", "--label=x,y,z", "--by=part", "--draws=40", "--json")
    lines = json.loads(mixedbag("rates", "t.csv", *asked, folder=tmp_path).stdout)["groups"]
    told = np.array([line["estimate"] for line in lines]).reshape(3, -1)
    people = [line["instances"] for line in lines[: told.shape[1]]]
    np.testing.assert_allclose(told.sum(axis=0), 1.0)
    np.testing.assert_allclose(told @ people, known, atol=1e-6)
    for line in lines:
        assert line["certain low"] - 1e-6 <= line["estimate"] <= line["certain high"] + 1e-6
        assert line["low"] <= line["estimate"] <= line["high"]


def test_of_a_sample_nothing_is_certain(precincts):
    """The groups of the rows are not those of all who were counted."""
    folder, _ = precincts
    table = [line.split(",") for line in (folder / "t.csv").read_text().splitlines()]
    voters = ["voters", *(str(100 + int(line[0][1:])) for line in table[1:])]
    kept = [",".join([*line[:4], n]) for line, n in zip(table, voters)]
    (folder / "sample.csv").write_text("\n".join(kept) + "\n")
    asked = ("rates", "sample.csv", "--bag=place", "--label=yes/voters", "--by=sex")
    told = json.loads(
        mixedbag(*asked, "--draws=20", "--json", "--picture=s.svg", folder=folder).stdout
    )
    assert [set(line) for line in told["groups"]] == 2 * [
        {"group", "instances", "estimate", "low", "high"}
    ]


def test_counts_of_at_most_one_are_no_shares():
    bags = Bags(np.zeros((6, 1)), [0, 3, 6])
    found = _rates._margins(bags, np.array([0.333, 0.0]), ["a", "b", "b"] * 2, "proportion")
    np.testing.assert_allclose(found.columns, [[2.001, 0.999], [3, 0]])


def test_labels_of_classes_have_no_rates(precincts):
    folder, _ = precincts
    asked = ("rates", "t.csv", "--bag=place", "--label=yes", "--drop=share", "--by=sex")
    done = mixedbag(*asked, "--rule=majority", folder=folder, code=2)
    assert "say which with --rule" in done.stderr


def test_groups_may_be_all_there_is_and_are_drawn(precincts, monkeypatch):
    folder, truth = precincts
    reads = []
    reading = _rates.read_data
    monkeypatch.setattr(_rates, "read_data", lambda *a, **k: reads.append(k) or reading(*a, **k))
    asked = ("rates", "t.csv", "--bag=place", "--label=yes", "--by=sex", "--picture=sex.svg")
    done = mixedbag(*asked, "--drop=share", "--drop=age", "--draws=60", "--json", folder=folder)
    for line in json.loads(done.stdout)["groups"]:
        assert line["low"] <= truth[line["group"]] <= line["high"]
    assert len(reads) == 1
    assert "</svg>" in (folder / "sex.svg").read_text()
    done = mixedbag(*asked[:-1], "--picture=sex.doc", folder=folder, code=2)
    assert ".png, .svg, .pdf" in done.stderr


def test_what_is_warned_of_several_answers_is_said_once():
    far, near = ({"answer": name} for name in ("reds", "blues"))
    warned = [
        (2.74, near, "bags lie 2.7 times as far"),
        (3.7, far, "bags lie 3.7 times as far"),
        *((spread, answer, "3 bags are left") for spread, answer in ((2.74, near), (3.7, far)) * 2),
        (2.74, near, "few bags"),
    ]
    assert list(_rates._said_once(warned, 2)) == [
        "for reds most, also blues: bags lie 3.7 times as far",
        "3 bags are left",
        "for blues: few bags",
    ]
    assert list(_rates._said_once([(2.0, {}, "bags lie 2.0 times as far")], 1)) == [
        "bags lie 2.0 times as far"
    ]


def test_names_in_a_picture_are_no_formulas_and_leave_room_for_limits(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    figures, save = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, *a, **k: figures.append(figure) or save(figure, *a, **k)
    )
    limits = {"estimate": 0.4, "low": 0.3, "high": 0.5}
    names = ["$5k to $10k", r"$\frac{1}$", "households that would not say what all of them earn"]
    lines = [{"answer": "The party of the valley", "group": name, **limits} for name in names]
    _rates._draw(lines, r"$\x$", tmp_path / "rates.png", "rate")
    (axes,) = figures[0].axes
    assert axes.get_position().width > 0.5
    boxes = [name.get_window_extent() for name in axes.get_yticklabels()]
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))


def test_groups_of_too_many_names_for_features_and_groups_of_no_column(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"P{k // 8},{rng.normal():.3f},n{k % 40},{k // 8 % 5}" for k in range(160)]
    (tmp_path / "t.csv").write_text("\n".join(["place,age,name,yes", *rows]) + "\n")
    asked = ("rates", "t.csv", "--bag=place", "--label=yes", "--draws=20")
    told = json.loads(mixedbag(*asked, "--by=name", "--json", folder=tmp_path).stdout)
    assert {line["group"] for line in told["groups"]} == {f"n{k}" for k in range(40)}
    assert (
        "no column is called 'names'"
        in mixedbag(*asked, "--by=names", folder=tmp_path, code=2).stderr
    )


def test_numbers_of_many_values_are_cut_into_quarters():
    ages = np.array([*map(str, range(20, 60)), None], dtype=object)
    names = named_groups(ages)
    assert names[-1] == "unknown"
    assert sorted(set(names[:-1])) == [
        "1: 20 to 29.75",
        "2: 29.75 to 39.5",
        "3: 39.5 to 49.25",
        "4: 49.25 to 59",
    ]
    assert [int(np.sum(names == name)) for name in sorted(set(names[:-1]))] == [10, 10, 10, 10]
    assert named_groups(np.array(["1", "2", "2"])).tolist() == ["1", "2", "2"]


def test_of_few_bags_limits_are_said_to_be_narrow_and_bags_are_no_groups(precincts):
    folder, _ = precincts
    lines = (folder / "t.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(lines[: 1 + 12 * 15]) + "\n")
    asked = ("--bag=place", "--label=yes", "--drop=share", "--draws=20")
    told = mixedbag("rates", "few.csv", *asked, "--by=sex", folder=folder).stdout
    assert "of 10 bags, limits are too narrow rather than too wide" in " ".join(told.split())
    told = mixedbag("rates", "t.csv", *asked, "--by=sex", folder=folder).stdout
    assert "limits are too narrow" not in " ".join(told.split())
    told = mixedbag("rates", "t.csv", *asked, "--by=place", folder=folder, code=2).stderr
    assert "'place' holds the bags: what is known of each is its label" in told
