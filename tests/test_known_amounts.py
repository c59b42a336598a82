"""Known counts and totals of new bags are honoured by models of `compare`."""

import json
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest

from mixedbag import Bags
from mixedbag.cli._known_amounts import stream_amounts
from mixedbag.comparison import fit_best_setting
from mixedbag.datasets import make_count, make_sum
from mixedbag.exceptions import InputError
from mixedbag.pooling import bag_sum
from tests.test_cli import mixedbag as command
from tests.test_cli import write_csv


@pytest.mark.parametrize(
    ("make", "rule", "learner"),
    [(make_count, "count", "spread counts + logistic"), (make_sum, "sum", "spread totals + ridge")],
)
def test_instances_add_up_to_the_known_amounts(make, rule, learner):
    data = make(n_bags=30, random_state=0)
    model = fit_best_setting(data.bags, data.y, rule, learner).model
    known = data.y.astype(float)
    known[::3] = np.nan
    found = bag_sum(model.predict_instances(data.bags, known), data.bags.offsets)
    np.testing.assert_allclose(
        found, np.where(np.isnan(known), model.predict(data.bags), known), atol=1e-9
    )
    with pytest.raises(InputError, match="amounts where"):
        model.predict_instances(data.bags, known[1:])


def test_one_known_amount_of_three_is_refused():
    bags, counts, _ = three_answers(2)
    model = fit_best_setting(bags, counts, "count", "AggregateRidgeClassifier").model
    with pytest.raises(
        InputError, match="the model tells 3 amounts of a bag: those that are known"
    ):
        model.predict_instances(bags, counts[:, 0])


def test_a_count_above_the_size_of_a_bag_is_refused():
    data = make_count(n_bags=30, random_state=0)
    model = fit_best_setting(data.bags, data.y, "count", "spread counts + logistic").model
    with pytest.raises(InputError, match="bag 0 has 99 of"):
        model.predict_instances(data.bags, np.full(len(data.bags), 99.0))


def test_the_command_line_honours_known_amounts(tmp_path):
    data = make_sum(n_bags=30, n_features=3, random_state=0)
    write_csv(tmp_path / "t.csv", data.bags, data.y)
    columns = ("--bag", "molecule", "--label", "active", "--drop", "comment", "--rule", "sum")
    command("fit", "t.csv", *columns, "--learner", "spread totals + ridge", folder=tmp_path)
    asked = ("predict", "model.skops", "t.csv", "--amount", "active")
    command(*asked, "--instances", "--out", "a.csv", folder=tmp_path)
    amounts = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)["amount"]
    np.testing.assert_allclose(bag_sum(amounts, data.bags.offsets), data.y, atol=1e-3)
    told = command(*asked, folder=tmp_path, code=2).stderr
    assert "--amount is about instances" in told


@pytest.mark.parametrize("amount", ["yes/voters", "pct yes"])
def test_shares_are_asked_for_in_the_words_that_they_are_learned_by(tmp_path, amount):
    data = make_count(n_bags=30, size=8, n_features=3, random_state=0)
    share = data.bags.spread(data.y / 8)
    extra = {"yes": 400 * share, "voters": np.full(240, 400), "pct yes": 100 * share}
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra=extra)
    others = [f"--drop={name}" for name in ("comment", "active", *extra) if name not in amount]
    told = command("fit", "t.csv", "--bag=molecule", f"--label={amount}", *others, folder=tmp_path)
    assert "AggregateLogisticRegression" in told.stdout
    assert "rule proportion" in told.stdout
    asked = ("predict", "model.skops", "t.csv", "--instances", f"--amount={amount}")
    command(*asked, "--out", "a.csv", folder=tmp_path)
    answers = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
    chances, labels = answers["amount"], answers["predicted"]
    np.testing.assert_allclose(bag_sum(chances, data.bags.offsets), data.y, atol=1e-6)
    np.testing.assert_array_equal(bag_sum(labels, data.bags.offsets), data.y)
    for run in map(slice, data.bags.offsets, data.bags.offsets[1:]):
        assert min(chances[run][labels[run] == 1], default=1) >= max(
            chances[run][labels[run] == 0], default=0
        )
    told = command(*asked[:-1], "--amount=voters", folder=tmp_path, code=2)
    assert "shares, which are between 0 and 1" in told.stderr


@pytest.mark.parametrize("learned", ["yes", "share", "no,yes"])
def test_known_amounts_and_labels_need_not_be_in_the_form_that_was_learned(tmp_path, learned):
    data = make_count(n_bags=30, size=8, n_features=3, random_state=0)
    yes = data.bags.spread(data.y)
    words = {"yes": yes, "no": 8 - yes, "share": yes / 8, "pct_yes": 100 * yes / 8}
    words |= {"voters": np.full(240, 400), "votes": 50 * yes, "others": 400 - 50 * yes}
    words |= {"pct_no": 100 - words["pct_yes"]}
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra=words)
    others = [f"--drop={w}" for w in ("comment", "active", *words) if w not in learned.split(",")]
    command("fit", "t.csv", "--bag=molecule", f"--label={learned}", *others, folder=tmp_path)
    forms = ["yes", "share", "pct_yes", "votes/voters", "no,yes", "pct_no,pct_yes", "others,votes"]
    right = set()
    for form in forms:
        asked = ("predict", "model.skops", "t.csv", "--instances", f"--amount={form}")
        said = command(*asked, "--out", "a.csv", folder=tmp_path).stderr
        assert "Warning" not in said
        assert "add up" not in said or form == "others,votes"
        answers = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
        chances = answers["amount_1" if learned == "no,yes" else "amount"]
        np.testing.assert_allclose(bag_sum(chances, data.bags.offsets), data.y, atol=1e-6)
        np.testing.assert_array_equal(bag_sum(answers["predicted"], data.bags.offsets), data.y)
        asked = ("evaluate", "model.skops", "t.csv", f"--label={form}", "--json")
        told = json.loads(command(*asked, folder=tmp_path).stdout)
        right.add(round(told["of bags"]["counted right"], 6))
    assert len(right) == 1


@pytest.mark.parametrize("label", ["votes/voters", "pct_yes", "written"])
def test_labels_on_disk_are_read_in_the_words_of_those_in_memory(tmp_path, label):
    data = make_count(n_bags=40, size=8, n_features=3, random_state=0)
    yes = data.bags.spread(data.y)
    words = {"votes": 50 * yes, "voters": np.full(320, 400), "pct_yes": 100 * yes / 8}
    words["written"] = np.array([f"{100 * n / 8} %" for n in yes])
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra=words)
    others = [f"--drop={w}" for w in ("comment", "active", *words) if w not in label.split("/")]
    asked = ("fit", "t.csv", "--bag=molecule", f"--label={label}", *others)
    command(*asked, "--from-disk", "--out=disk.skops", folder=tmp_path)
    command(*asked, "--out=memory.skops", folder=tmp_path)
    told = []
    for model in ("disk.skops", "memory.skops"):
        done = command("predict", model, "t.csv", "--json", folder=tmp_path).stdout
        told.append([json.loads(line)["amount"] for line in done.splitlines()])
    np.testing.assert_allclose(*told, atol=1e-4)
    columns = ("--bag=molecule", "--label=votes,voters", "--from-disk")
    assert "take --in-memory" in command("fit", "t.csv", *columns, folder=tmp_path, code=2).stderr


def test_shares_on_disk_are_worked_out_as_in_memory_or_refused(tmp_path):
    rows = [f"b{i // 4},{10 * (i // 4 % 4)},40,{i % 7}" for i in range(76)]
    columns = ("--bag=bag", "--label=yes/voters", "--overwrite")

    def said(*more, last="b19,0,0,1", table="t.csv", code=0):
        lines = ["bag,yes,voters,x", *rows, *[last] * 4]
        (tmp_path / "t.csv").write_text("\n".join(lines))
        return command("fit", table, *columns, *more, folder=tmp_path, code=code).stderr

    said("--from-disk", "--query=select * from data -- of all")
    for last, told in (("b19,1,0,1", "0"), ("b19,1,-40,1", "-40")):
        for where in ("--from-disk", "--in-memory"):
            line = said(where, last=last, code=2)
            assert "'voters'" in line
            assert f" {told}" in line
            assert "a size is above zero" in line
    table = pd.read_csv(tmp_path / "t.csv")
    with sqlite3.connect(tmp_path / "t.sqlite") as database:
        table.to_sql("votes", database, index=False)
    assert "take --in-memory" in said("--from-disk", table="t.sqlite", code=2)


def test_shares_under_the_rule_count_have_chances_that_add_up_to_counts(tmp_path):
    data = make_count(n_bags=30, size=8, n_features=3, random_state=0)
    share = data.bags.spread(data.y / 8)
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra={"share": share})
    columns = ("--bag=molecule", "--label=share", "--drop=comment", "--drop=active")
    told = command("fit", "t.csv", *columns, "--rule=count", folder=tmp_path).stdout
    assert "counts were asked for, and the labels are shares" in " ".join(told.split())
    done = command("predict", "model.skops", "t.csv", "--instances", "--json", folder=tmp_path)
    chances = [json.loads(line)["amount"] for line in done.stdout.splitlines()]
    assert np.mean(chances) == pytest.approx(data.y.mean() / 8, abs=0.05)


def test_fit_says_by_which_rule_it_reads_labels_and_why(tmp_path):
    data = make_count(n_bags=30, size=8, n_features=3, random_state=0)
    share = data.bags.spread(np.where(np.arange(30) == 7, 1.25, data.y / 8))
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra={"share": share})
    columns = ("--bag=molecule", "--label=share", "--drop=comment", "--drop=active")
    asked = ("fit", "t.csv", *columns, "--learner=AggregateRidgeRegressor")
    told = " ".join(command(*asked, folder=tmp_path).stdout.split())
    assert "rule sum: the label is the total of a value" in told
    assert "all but 1 of 30 are shares (--rule proportion), not 1.25: look there" in told


@pytest.mark.parametrize("learned", ["count", "proportion"])
@pytest.mark.parametrize("form", ["yes", "share", "pct_yes", "rare/all"])
def test_known_amounts_of_few_bags_are_in_the_form_of_the_others(tmp_path, learned, form):
    """The last bag of a stream is a block of its own, and what is known of it may be 1 or less; so
    may be what is known of all bags, where it is rare."""
    data = make_count(n_bags=40, size=8, n_features=3, random_state=0)
    y = np.asarray(data.y, dtype=float)
    labels = y if learned == "count" else y / 8
    names = ["x0", "x1", "x2"]
    model = fit_best_setting(
        data.bags.with_instances(data.bags.instances, names), labels, learned
    ).model
    y[-1] = 8 if form in ("share", "pct_yes") else 1
    wanted, yes = y.copy(), data.bags.spread(y)
    words = {"yes": yes, "share": yes / 8, "pct_yes": 100 * yes / 8}
    if form == "pct_yes":
        words["pct_yes"][-8:] /= 100
        wanted[-1] /= 100
    if form == "rare/all":
        wanted[:] = 8 * 0.003
        words |= {"rare": np.full(len(yes), 3), "all": np.full(len(yes), 1000)}
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra=words)
    asked = str(tmp_path / "t.csv"), "molecule", names, None, 300, None, form
    blocks = list(stream_amounts(*asked, in_parts=True))
    assert [len(block.bags) for block in blocks] == [39, 1]
    for block, known in zip(blocks, np.split(wanted, [39])):
        assert model.scaled_amounts(block.bags, block.y) == []
        found = bag_sum(model.predict_instances(block.bags, block.y), block.bags.offsets)
        np.testing.assert_allclose(found, known, atol=1e-6)


def test_bags_of_which_none_were_counted_have_no_known_amount(tmp_path):
    data = make_count(n_bags=30, size=8, n_features=3, random_state=0)
    voters, votes = np.full(240, 400), 50 * data.bags.spread(data.y)
    voters[:8] = votes[:8] = 0
    write_csv(tmp_path / "t.csv", data.bags, data.y, extra={"votes": votes, "voters": voters})
    columns = ("--bag=molecule", "--label=votes/voters", "--drop=comment", "--drop=active")
    told = command("fit", "t.csv", *columns, folder=tmp_path).stdout
    assert "shares of 'voters', not known where it is 0 (1 of 30 bags)" in told
    asked = ("predict", "model.skops", "t.csv", "--instances", "--amount=votes/voters")
    assert "Warning" not in command(*asked, "--out", "a.csv", folder=tmp_path).stderr
    answers = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
    found = bag_sum(answers["amount"], data.bags.offsets)
    np.testing.assert_allclose(found[1:], data.y[1:], atol=1e-6)
    assert 0 < found[0] < 8


def three_answers(sure):
    """Bags of eight, how many of them gave each of three answers, and which each gave."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    answer = np.argmax(sure * X + rng.gumbel(size=X.shape), axis=1)
    counts = np.array([np.bincount(answer[k : k + 8], minlength=3) for k in range(0, 240, 8)])
    return Bags(X, np.arange(0, 241, 8)), counts, answer


@pytest.mark.parametrize("per_bag", [1, 25], ids=["counts", "of more than the rows"])
def test_counts_of_three_answers_are_honoured_in_the_words_of_labels(tmp_path, per_bag):
    bags, counts, _ = three_answers(2)
    words = dict(zip(["no", "yes", "abstained"], bags.spread(per_bag * counts).T))
    write_csv(tmp_path / "t.csv", bags, np.arange(30), extra=words)
    label = ",".join(words)
    columns = ("--bag=molecule", f"--label={label}", "--drop=comment", "--drop=active")
    learner = ("--learner", "AggregateLogisticRegression")
    command("fit", "t.csv", *columns, *learner, folder=tmp_path)
    asked = ("predict", "model.skops", "t.csv", "--instances", f"--amount={label}")
    said = command(*asked, "--out", "a.csv", folder=tmp_path).stderr
    assert "add up" not in said
    answers = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
    for k in range(3):
        found = bag_sum(answers[f"amount_{k}"], bags.offsets)
        np.testing.assert_allclose(found, counts[:, k], atol=1e-4)
        labels = (answers["predicted"] == k).astype(float)
        np.testing.assert_array_equal(bag_sum(labels, bags.offsets), counts[:, k])
    words["abstained"] = words["abstained"] + 0.5 * per_bag
    write_csv(tmp_path / "t.csv", bags, np.arange(30), extra=words)
    said = " ".join(command(*asked, "--out", "a.csv", folder=tmp_path).stderr.split())
    told = "30 bags have known amounts that do not add up to it (bag 0 (id 'mol-000'): "
    assert told + f"{8.5 * per_bag:g} in place of {8 if per_bag == 1 else 1}" in said
    assert "Warning" not in said


@pytest.mark.parametrize("named", [False, True])
def test_instances_of_three_answers_are_measured_class_by_class(tmp_path, named):
    bags, counts, answer = three_answers(3)
    words = dict(zip(["no", "yes", "none"], bags.spread(counts).T))
    truth = np.array(["no", "yes", "none"])[answer] if named else answer
    write_csv(tmp_path / "t.csv", bags, np.arange(30), extra={**words, "truth": truth})
    label = "--label=no,yes,none"
    drop = ("--drop=comment", "--drop=active", "--drop=truth")
    command("fit", "t.csv", "--bag=molecule", label, *drop, folder=tmp_path)
    asked = ("evaluate", "model.skops", "t.csv", label, "--instance-label=truth", "--json")
    told = json.loads(command(*asked, folder=tmp_path).stdout)["of instances"]
    asked = ("predict", "model.skops", "t.csv", "--instances", "--out=a.csv")
    command(*asked, folder=tmp_path)
    answers = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True)
    chances = np.column_stack([answers[f"amount_{k}"] for k in range(3)])
    right = chances[np.arange(240), answer].mean()
    assert told["counted right"] == pytest.approx(right, abs=1e-3)
    assert right > 0.6


def test_known_counts_that_do_not_add_up_to_a_bag_are_told_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    answer = np.argmax(2 * X + rng.gumbel(size=X.shape), axis=1)
    bags = Bags(X, np.arange(0, 121, 8))
    counts = np.array([np.bincount(answer[k : k + 8], minlength=3) for k in range(0, 120, 8)])
    model = fit_best_setting(bags, counts, "count").model
    known = counts.astype(float)
    known[3] *= 5
    known[4, 0] = np.nan
    with pytest.warns(UserWarning, match=r"1 bag has .* \(bag 3: 40 in place of 8\)"):
        told = model.predict_instances(bags, known)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known[3] = counts[3]
        np.testing.assert_allclose(model.predict_instances(bags, known), told, atol=1e-9)
