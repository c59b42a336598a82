"""The command line as people use it."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from rich.console import Console

from mixedbag import Bags, compare, load, save
from mixedbag._tables import short
from mixedbag.cli._live import leaderboard
from mixedbag.cli._runs import refuse_out
from mixedbag.datasets import make_any, make_count, make_sequences, make_sum
from mixedbag.exceptions import InputError
from mixedbag.margin import InstanceMarginSVC
from tests.command import mixedbag
from tests.started import Started

COMMAND = [sys.executable, "-c", "from mixedbag.cli import main; main()"]
LEARNERS = "bag statistics + SVM,spread labels + logistic"
QUICK = ["--folds", "3", "--learners", LEARNERS, "--jobs", "1"]


def write_csv(path, bags, y, gaps=False, extra=None):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        features = [f"x{j}" for j in range(bags.n_features)]
        writer.writerow(["molecule", *features, "comment", *(extra or {}), "active"])
        for row, (bag, values) in enumerate(zip(bags.bag_of, bags.instances)):
            shown = [f"{v:.4f}" for v in values]
            if gaps and row % 11 == 3:
                shown[0] = ""
            more = [column[row] for column in (extra or {}).values()]
            writer.writerow([f"mol-{bag:03d}", *shown, "as measured", *more, y[bag]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of string ids, string labels, missing values and a text column."""
    folder = tmp_path_factory.mktemp("cli")
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    write_csv(folder / "table.csv", data.bags, np.where(data.y, "yes", "no"), gaps=True)
    return folder


@pytest.fixture(scope="module")
def compared(folder):
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK)
    return mixedbag(*arguments, "--out", "out", folder=folder), folder / "out"


def test_compare_leaves_everything(compared):
    done, out = compared
    assert "rule any" in done.stdout
    assert "'comment' left out" in done.stdout
    assert "missing values" in done.stdout
    assert "stack of the best" in done.stdout
    names = {path.name.split(".")[0] for path in out.iterdir()}
    assert names >= {"leaderboard", "predictions", "instance-predictions", "model", "report"}
    facts = json.loads((out / "reproduce.json").read_text())
    assert facts["command"].startswith("mixedbag compare table.csv")
    assert "scikit-learn" in facts["versions"]
    with open(out / "leaderboard.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} == {"learner", "choice", "stack", "constant"}
    assert {"accuracy", "roc_auc", "neg_log_loss", "p_constant"} <= set(rows[0])
    assert "always the same answer" in done.stdout
    assert "decided by accuracy (classes are about equally frequent); --metric" in done.stdout
    assert "answered yes" in done.stdout
    assert "mol-000" in (out / "report.html").read_text()


def test_json_is_for_scripts(compared, folder):
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK)
    done = mixedbag(*arguments, "--out", "out", "--json", folder=folder)
    told = json.loads(done.stdout)
    assert told["rule"] == "any"
    assert told["chosen"]["kind"] == "stack"
    assert told["metric"] == "accuracy"
    assert (told["classes"], told["positive"]) == (["no", "yes"], "yes")
    assert np.sum(told["confusion"]) == pytest.approx(40)
    for finding in told["checks"]:
        assert set(finding) == {"number", "title", "level", "says", "advice"}
    assert all(Path(folder / file).exists() for file in told["files"])


def test_a_folder_of_bags_goes_all_the_way(tmp_path):
    data = make_any(n_bags=30, size=(2, 5), n_features=3, random_state=0)
    slides = tmp_path / "slides"
    slides.mkdir()
    for i, X in enumerate(data.bags):
        places = 256 * np.arange(2 * len(X)).reshape(-1, 2)
        np.savez(slides / f"s{i}.npz", features=X.astype(np.float32), coords=places)
    lines = [f"s{i}.svs,p{i // 2},{'tumour' if y else 'normal'}" for i, y in enumerate(data.y)]
    (tmp_path / "labels.csv").write_text("\n".join(["slide,patient,state", *lines]))
    told = ("--labels", "labels.csv", "--label", "state", "--group", "patient")
    few = ("--learners", "spread labels + logistic", "--folds", "3", "--jobs", "1")
    mixedbag("compare", "slides", *told, *few, "--out", "out", folder=tmp_path)
    page = (tmp_path / "out" / "report.html").read_text()
    assert '"map":{"rows":[0,' in page
    mixedbag("fit", "slides", *told, "--learner", "spread labels + logistic", folder=tmp_path)
    done = mixedbag("predict", "model.skops", "slides", folder=tmp_path)
    assert len(done.stdout.splitlines()) == 31
    done = mixedbag("predict", "model.skops", "slides", "--instances", folder=tmp_path)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == data.bags.n_instances
    assert (rows[1]["x"], rows[1]["y"]) == ("512", "768")
    done = mixedbag("explain", "model.skops", "slides", "s7", "--json", folder=tmp_path)
    first = json.loads(done.stdout)["instances"][0]
    assert first["y"] == first["x"] + 256 == 512 * first["instance"] + 256
    done = mixedbag("evaluate", "model.skops", "slides", "--labels", "labels.csv", "--json",
                    folder=tmp_path)  # fmt: skip
    assert json.loads(done.stdout)["bags"] == 30
    for command in (("fit", "slides"), ("evaluate", "model.skops", "slides")):
        done = mixedbag(*command, "--overwrite", folder=tmp_path, code=2)
        assert "slides has no labels: name the table that has them with --labels" in done.stderr
    done = mixedbag("fit", "slides", *told, "--from-disk", "--overwrite", folder=tmp_path, code=2)
    assert "slides: --from-disk is for tables" in done.stderr


def test_places_are_empty_where_a_file_has_none(tmp_path):
    data = make_any(n_bags=12, size=(40, 50), n_features=3, random_state=0)
    fitted = InstanceMarginSVC(max_iter=2).fit(data.bags, data.y)
    save(fitted, tmp_path / "model.skops")
    slides = tmp_path / "slides"
    (slides / "more").mkdir(parents=True)
    long = np.concatenate([data.bags.instances] * 160)
    for i in range(4):
        places = {"coords": np.full((len(long), 2), 256)} if i % 2 else {}
        np.savez(slides / f"s{i}.npz", features=long, **places)
    np.save(slides / "more" / "s5.npy", long)
    for ending in ("csv", "parquet"):
        arguments = ("predict", "model.skops", "slides", "--instances")
        done = mixedbag(*arguments, "--out", f"out.{ending}", folder=tmp_path)
        assert "files of bags in folders inside (slides/more) not read" in done.stderr
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * len(long)
    assert {(row["bag"], row["x"]) for row in rows} == {
        ("s0", ""), ("s1", "256"), ("s2", ""), ("s3", "256")
    }  # fmt: skip
    assert parquet.read_table(tmp_path / "out.parquet")["x"].null_count == 2 * len(long)


def test_a_narrow_screen_has_fewer_columns():
    data = make_any(n_bags=16, size=(2, 4), n_features=2, random_state=0)
    result = compare(data.bags, data.y, learners=[LEARNERS.split(",")[0]], folds=2)
    seen = {}
    for width in (120, 80, 60):
        console = Console(width=width, file=io.StringIO())
        console.print(leaderboard(result, over=True))
        seen[width] = console.file.getvalue()
        assert "…" not in seen[width]
        assert "always" in seen[width]
    assert "constant" in seen[120]
    assert "constant" not in seen[80]
    assert "interval" in seen[60]


def test_a_saved_model_predicts_and_explains(compared, folder):
    model = "out/model.skops"
    done = mixedbag("predict", model, "table.csv", "--bag", "molecule", folder=folder)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["bag"] for row in rows] == [f"mol-{i:03d}" for i in range(40)]
    assert {row["predicted"] for row in rows} <= {"yes", "no"}
    arguments = ("predict", model, "table.csv", "--bag", "molecule", "--instances")
    mixedbag(*arguments, "--out", "instances.csv", folder=folder)
    with open(folder / "instances.csv", newline="") as file, open(folder / "table.csv") as table:
        assert len(list(csv.DictReader(file))) == len(table.readlines()) - 1
    arguments = ("explain", model, "table.csv", "mol-007", "--bag", "molecule")
    told = json.loads(mixedbag(*arguments, "--json", folder=folder).stdout)
    lost = [instance["contribution"] for instance in told["instances"]]
    assert lost == sorted(lost, reverse=True)
    assert told["contributions"] == f"log-odds of {told['predicted']} lost without it"
    assert all(set(i["because of"]) <= {"x0", "x1", "x2"} for i in told["instances"])
    done = mixedbag(*arguments, folder=folder)
    assert done.stdout.startswith("bag mol-007: predicted")
    done = mixedbag(*arguments[:3], "nobody", "--bag", "molecule", folder=folder, code=2)
    assert "no bag 'nobody' among its 40 bags" in done.stderr


def test_a_model_remembers_its_table(compared, folder):
    model = "out/model.skops"
    origin = load(folder / model).origin
    assert origin.columns == {"bag": "molecule", "label": "active"}
    assert origin.rule == "any"
    said = mixedbag("predict", model, "table.csv", folder=folder)
    rows = list(csv.DictReader(said.stdout.splitlines()))
    assert {row["outside"] for row in rows} == {""}
    assert {"probability yes", "probability no"} <= rows[0].keys()
    n_yes = sum(row["predicted"] == "yes" for row in rows)
    assert "40 bags: " in said.stderr
    assert f"{n_yes} yes" in said.stderr
    said = mixedbag("predict", model, "table.csv", "--instance", folder=folder)
    for row in csv.DictReader(said.stdout.splitlines()):
        assert {"predicted", "probability yes", "outside"} <= row.keys()
    mixedbag("explain", model, "table.csv", "mol-003", folder=folder)


def test_answers_go_nowhere_that_they_would_harm(compared, folder):
    model = "out/model.skops"
    inputs = {name: (folder / name).read_bytes() for name in (model, "table.csv")}
    wrong = [
        ("predict", model, "table.csv", "--out", model),
        ("predict", model, "./table.csv", "--out", "table.csv"),
        ("predict", model, "tab*.csv", "--out", "table.csv", "--instances"),
        ("evaluate", model, "table.csv", "--out", "table.csv", "--overwrite"),
        ("fit", "table.csv", "--bag", "molecule", "--out", "table.csv", "--overwrite"),
    ]
    for arguments in wrong:
        done = mixedbag(*arguments, folder=folder, code=2)
        assert "is what is read, and would be lost: name another --out" in done.stderr
    assert all((folder / name).read_bytes() == content for name, content in inputs.items())
    for name, *more in (("a.xlsx",), ("a.tsv",), ("a.jsonl",), ("a.parquet", "--json")):
        done = mixedbag("predict", model, "table.csv", "--out", name, *more, folder=folder, code=2)
        assert f"{name}: the name of what is written ends in" in done.stderr
        assert not (folder / name).exists()


def test_fit_names_a_damaged_file(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1, and then nothing of the kind")
    done = mixedbag("fit", "t.parquet", "--bag", "bag", folder=tmp_path, code=2)
    assert "t.parquet: not a readable Parquet file" in done.stderr


def test_links_to_nothing_are_not_read_and_hinder_nobody(tmp_path):
    (tmp_path / "old.csv").write_text("answers")
    (tmp_path / "t1.csv").symlink_to(tmp_path / "gone.csv")
    refuse_out(tmp_path / "old.csv", tmp_path / "t*.csv")
    with pytest.raises(InputError, match="is what is read"):
        refuse_out(tmp_path / "old.csv", tmp_path / "*.csv")


def test_folders_are_no_files(compared, folder):
    asked = ("predict", "out/model.skops", "table.csv"), ("fit", "table.csv", "--bag", "molecule")
    for command in (*asked, ("evaluate", *asked[0][1:])):
        done = mixedbag(*command, "--out", "out", folder=folder, code=2)
        assert done.stderr == "mixedbag: out is a folder: name a file with --out\n"
    for more in ((), ("--overwrite",)):
        given = "compare", "table.csv", "--bag", "molecule", "--out", "table.csv", *more
        done = mixedbag(*given, folder=folder, code=2)
        assert "table.csv is a file, and results go to a folder" in done.stderr
    for command in asked:
        done = mixedbag(*command, "--out", "gone/a.csv", folder=folder, code=2)
        assert "gone to write a.csv in" in done.stderr
        assert not done.stdout  # nothing was done that would be lost
    done = mixedbag("predict", "out", "table.csv", folder=folder, code=2)
    assert "out is a folder: name the model in it, such as model.skops" in done.stderr


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="needs /dev/stdin")
def test_a_pipe_is_refused_in_a_line(compared, folder):
    for more in ([], ["--query", "select * from data"]):
        done = subprocess.run(
            [*COMMAND, "predict", "out/model.skops", "/dev/stdin", *more],
            cwd=folder, input="molecule,x0\n", capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 2
        assert "/dev/stdin is no file that can be read more than once" in done.stderr
        assert done.stderr.count("\n") == 1


def test_instances_keep_their_names(tmp_path):
    data = make_any(n_bags=12, size=(2, 5), n_features=3, random_state=0)
    names = {"conformer": [f"c{row}" for row in range(data.bags.n_instances)]}
    write_csv(tmp_path / "table.csv", data.bags, data.y, extra=names)
    write_csv(tmp_path / "plain.csv", data.bags, data.y)
    columns = ("--bag", "molecule", "--label", "active", "--instance", "conformer")
    mixedbag(
        *("fit", "table.csv", *columns, "--learner", "spread labels + logistic"), folder=tmp_path
    )
    for table, expected in (("table.csv", names["conformer"]), ("plain.csv", None)):
        said = mixedbag("predict", "model.skops", table, "--instances", folder=tmp_path)
        found = [row["instance"] for row in csv.DictReader(said.stdout.splitlines())]
        told = mixedbag(*("explain", "model.skops", table, "mol-001", "--json"), folder=tmp_path)
        shown = {line["instance"] for line in json.loads(told.stdout)["instances"]}
        first, last = data.bags.offsets[1:3]
        if expected is None:  # a table without names is no worse for it
            assert found[:2] == ["0", "1"]
            assert shown == set(range(last - first))
        else:
            assert found == expected
            assert shown == set(expected[first:last])


def test_what_is_far_from_the_training_data_is_marked(compared, folder):
    lines = (folder / "table.csv").read_text().splitlines()
    row = lines[1].split(",")
    far = [*row[:2], "1000", *row[3:]]
    (folder / "far.csv").write_text("\n".join([*lines[:20], ",".join(["strange", *far[1:]])]))
    done = mixedbag("predict", "out/model.skops", "far.csv", "--out", "far-said.csv", folder=folder)
    rows = list(csv.DictReader((folder / "far-said.csv").read_text().splitlines()))
    assert [row["bag"] for row in rows if row["outside"]] == ["strange"]
    assert rows[-1]["outside"] == "x1"
    assert "written to far-said.csv; 1 far outside" in done.stderr


def test_evaluate_measures_both_levels(tmp_path):
    train, test = (
        make_any(n_bags=60, size=(2, 6), n_features=3, random_state=0).bags,
        make_any(n_bags=60, size=(2, 6), n_features=3, random_state=0),
    )
    words, truth = np.where(test.y, "yes", "no"), np.where(test.instance_labels, "yes", "no")
    write_csv(tmp_path / "train.csv", train, words)
    write_csv(tmp_path / "test.csv", test.bags, words, extra={"is witness": truth})
    columns = ("--bag", "molecule", "--label", "active")
    fit = ("fit", "train.csv", *columns, "--learner", "spread labels + logistic")
    mixedbag(*fit, folder=tmp_path)
    asked = ("evaluate", "model.skops", "test.csv", "--instance-label", "is witness")
    told = json.loads(mixedbag(*asked, "--json", "--out", "e.html", folder=tmp_path).stdout)
    model = load(tmp_path / "model.skops")
    bags = Bags(test.bags.instances.round(4), test.bags.offsets, feature_names=["x0", "x1", "x2"])
    right = np.mean(model.predict(bags) == words)
    assert told["of bags"]["accuracy"] == pytest.approx(right)
    assert told["of instances"]["accuracy"] == pytest.approx(
        np.mean(model.predict_instances(bags) == truth)
    )
    assert told["of bags"]["always the same answer"] == pytest.approx(0.5)
    assert np.sum(told["confusion"]) == 60
    page = (tmp_path / "e.html").read_text()
    assert "The bags answered worst" in page
    assert "<script" not in page
    shown = mixedbag(*asked, folder=tmp_path).stdout
    assert "balanced accuracy" in shown
    assert "of instances" in shown
    done = mixedbag(*asked, "--out", "e.html", folder=tmp_path, code=2)
    assert "e.html has other results: name another --out, or add --overwrite" in done.stderr
    words[0] = "may"
    write_csv(tmp_path / "test.csv", test.bags, words, extra={"is witness": truth})
    done = mixedbag("evaluate", "model.skops", "test.csv", folder=tmp_path, code=2)
    assert "label 'may' is none of the model's classes: no, yes" in done.stderr


def test_more_work_in_the_same_folder_goes_on_and_equals_what_was_long_from_the_start(folder):
    base = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK, "--json")
    told = {
        work: json.loads(mixedbag(*base, "--work", work, "--out", out, folder=folder).stdout)
        for work, out in (("3", "grown"), ("5", "grown"), (" 5 ", "long"))
    }
    assert [one["work"] for one in told.values()] == ["3", "5", "5"]
    boards = [told[work]["leaderboard"] for work in ("5", " 5 ")]
    for row in (*boards[0], *boards[1]):
        row.pop("seconds")
    assert boards[0] == boards[1]
    answers = [(folder / out / "predictions.parquet").read_bytes() for out in ("grown", "long")]
    assert answers[0] == answers[1]


def test_results_of_another_run_are_not_overwritten_unasked(compared, folder):
    base = ("compare", "table.csv", "--bag", "molecule", "--label", "active")
    other = (*base, "--folds", "2", "--learners", "spread labels + logistic", "--out", "out")
    before = (folder / "out" / "report.html").read_bytes()
    done = mixedbag(*other, folder=folder, code=2)
    assert "out has the results of `mixedbag compare table.csv" in done.stderr
    assert "--overwrite" in done.stderr
    assert (folder / "out" / "report.html").read_bytes() == before
    done = mixedbag(*("compare", "nothing.csv", "--out", "out"), folder=folder, code=2)
    assert "--overwrite" in done.stderr  # checked before anything is read
    fit = ("fit", *base[1:], "--learner", "spread labels + logistic", "--out", "m.skops")
    mixedbag(*fit, folder=folder)
    mixedbag(*fit, folder=folder)  # the same again
    done = mixedbag(*fit, "--seed", "1", folder=folder, code=2)
    assert "m.skops has the results of `mixedbag fit table.csv" in done.stderr
    mixedbag(*fit, "--seed", "1", "--overwrite", folder=folder)


@pytest.mark.parametrize(
    ("make", "rule", "learner"),
    [
        (make_count, "count", "spread counts + logistic"),
        (make_sum, "sum", "spread totals + ridge"),
    ],
)
def test_amounts_from_table_to_report(tmp_path, make, rule, learner):
    data = make(n_bags=40, random_state=0)
    write_csv(tmp_path / "table.csv", data.bags, data.y)
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", "--folds", "3")
    options = ("--learners", learner, "--jobs", "1", "--out", "out", "--json")
    told = json.loads(mixedbag(*arguments, *options, folder=tmp_path).stdout)
    assert told["rule"] == rule
    assert told["chosen"]["mean"] > 0.3
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    answers = mixedbag(
        *("predict", "out/model.skops", "table.csv", "--bag", "molecule", "--instances"),
        folder=tmp_path,
    ).stdout.splitlines()
    assert len(answers) == data.bags.n_instances + 1


def test_patients_are_not_cut(tmp_path):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    patient = [f"P{bag % 8}" for bag in data.bags.bag_of]
    write_csv(tmp_path / "table.csv", data.bags, data.y, extra={"patient": patient})
    columns = ("compare", "table.csv", "--bag", "molecule", "--label", "active")
    mixedbag(*columns, "--group", "patient", "--out", "out", *QUICK, folder=tmp_path)
    told = mixedbag(*columns, "--group", "x0", *QUICK, folder=tmp_path, code=2).stderr
    assert "has two groups" in told
    fit = ("fit", *columns[1:], "--learner", "spread labels + logistic", "--json")
    one_patient_a_label = [f"P{data.y[bag]}" for bag in data.bags.bag_of]
    for patients, code in ((patient, 0), (one_patient_a_label, 2)):
        write_csv(tmp_path / "table.csv", data.bags, data.y, extra={"patient": patients})
        told = mixedbag(*fit, "--group", "patient", folder=tmp_path, code=code)
    assert "come from only 1 groups" in told.stderr


def test_compared_on_some_of_the_bags(tmp_path):
    data = make_any(n_bags=240, size=(1, 2), n_features=2, random_state=0)
    names = [f"{bag}-{row}" for row, bag in enumerate(data.bags.bag_of)]
    write_csv(tmp_path / "table.csv", data.bags, data.y, extra={"name": names})
    columns = ("table.csv", "--bag", "molecule", "--label", "active", "--instance", "name")
    quick = ("--folds", "2", "--learners", "spread labels + logistic", "--jobs", "1")
    told = ("compare", *columns, *quick, "--max-bags", "110", "--out", "out")
    done = mixedbag(*told, folder=tmp_path)
    assert "compared on 110 of 240 bags" in done.stdout
    assert "--max-bags 110 give the same result" in " ".join(done.stdout.split())
    assert load(tmp_path / "out" / "model.skops").origin.n_bags == 240
    bags, instances = (
        rows_of(tmp_path / "out", name) for name in ("predictions", "instance-predictions")
    )
    assert len(bags) == 110
    assert all(int(row["bag"][4:]) == int(row["instance"].split("-")[0]) for row in instances)


def rows_of(folder, name):
    """The rows of a table of results, whichever format it has."""
    if (folder / f"{name}.csv").exists():
        return list(csv.DictReader((folder / f"{name}.csv").read_text().splitlines()))
    import pyarrow.parquet

    return pyarrow.parquet.read_table(folder / f"{name}.parquet").to_pylist()


def test_bags_count_by_their_weights(tmp_path):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    heavy = data.bags.bag_of < 30  # the others have wrong labels
    weight = np.where(heavy, "100", "0.01").tolist()
    y = np.where(np.arange(40) < 30, data.y, 1 - data.y)
    write_csv(tmp_path / "table.csv", data.bags, y, extra={"trust": weight})
    columns = ("table.csv", "--bag", "molecule", "--label", "active", "--weight", "trust", "--json")
    told = json.loads(mixedbag("compare", *columns, "--out", "out", *QUICK, folder=tmp_path).stdout)
    assert told["features"] == 3
    assert told["chosen"]["mean"] > 0.75
    learner = ("--learner", "bag statistics + SVM")
    told = json.loads(mixedbag("fit", *columns, *learner, folder=tmp_path).stdout)
    assert "bags count by their weights, 0.01 to 100" in told["notes"]
    bags = Bags(data.bags.instances, data.bags.offsets, feature_names=["x0", "x1", "x2"])
    right = load(tmp_path / "model.skops").predict(bags) == data.y
    assert right[30:].mean() > 0.7  # 0.6 without weights


def test_fit_one_learner(folder):
    arguments = ("fit", "table.csv", "--bag", "molecule", "--label", "active", "--json")
    done = mixedbag(*arguments, "--learner", "spread labels + logistic", folder=folder)
    assert json.loads(done.stdout)["learner"] == "spread labels + logistic"
    assert (folder / "model.skops").exists()


def test_the_positive_label_can_be_named(compared, folder):
    assert "the positive label is 'yes' ('no' says no); --positive chooses" in compared[0].stdout
    table = (
        "table.csv",
        "--bag",
        "molecule",
        "--label",
        "active",
        "--learner",
        "spread labels + l",
    )
    mixedbag("fit", *table, "--positive", "no", "--out", "no.skops", folder=folder)
    model = load(folder / "no.skops")
    assert model.classes_.tolist() == ["yes", "no"]
    assert model.classes_.tolist() == ["yes", "no"]
    wrong = ("--positive", "maybe", "--out", "maybe.skops")
    error = mixedbag("fit", *table, *wrong, folder=folder, code=2).stderr
    assert "no bag is labelled 'maybe'; there are ['no', 'yes']" in error


def test_metric_cost_and_positive_from_table_to_report(folder):
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK)
    asked = ("--metric", "roc_auc", "--cost", "5:1", "--positive", "no", "--out", "asked")
    told = json.loads(mixedbag(*arguments, *asked, "--json", folder=folder).stdout)
    assert (told["metric"], told["positive"]) == ("roc_auc", "no")
    means = [row["mean"] for row in told["leaderboard"]]
    assert means == sorted(means, reverse=True)
    assert told["chosen"]["mean"] == pytest.approx(told["chosen"]["scores"]["roc_auc"])
    assert "positive is " in (folder / "asked" / "report.html").read_text()
    model = load(folder / "asked" / "model.skops")
    assert model.classes_.tolist() == ["yes", "no"]
    error = mixedbag(*arguments, "--metric", "auc", folder=folder, code=2).stderr
    assert "no measure is called 'auc'; for these labels: accuracy, balanced_accuracy" in error
    error = mixedbag(*arguments, "--cost", "5", folder=folder, code=2).stderr
    assert 'write "miss:alarm", such as 10:1' in error


def test_one_of_three_labels_against_the_others(tmp_path):
    data = make_any(n_bags=40, size=(2, 5), n_features=3, random_state=0)
    y = np.where(data.y == 1, "cat", np.where(np.arange(40) % 2, "dog", "cow"))
    write_csv(tmp_path / "table.csv", data.bags, y)
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK)
    told = json.loads(mixedbag(*arguments, "--positive", "cat", "--json", folder=tmp_path).stdout)
    assert told["classes"] == ["not cat", "cat"]


def test_a_column_of_shares_is_understood(tmp_path):
    data = make_count(n_bags=40, size=(3, 8), random_state=0)
    write_csv(tmp_path / "table.csv", data.bags, np.asarray(data.y) / data.bags.sizes)
    arguments = ("table.csv", "--bag", "molecule", "--label", "active")
    options = ("--folds", "3", "--learners", "spread shares + logistic", "--jobs", "1")
    done = mixedbag("compare", *arguments, *options, "--out", "out", folder=tmp_path)
    assert "rule proportion" in done.stdout
    assert "counted right" in done.stdout
    fit = ("--rule", "mean", "--learner", "spread means + ridge", "--json")
    told = json.loads(mixedbag("fit", *arguments, *fit, folder=tmp_path).stdout)
    assert told["rule"] == "mean"


def test_a_time_column_means_sequences(tmp_path):
    data = make_sequences(n_bags=40, random_state=0)
    rng = np.random.default_rng(0)
    order = rng.permutation(data.bags.n_instances)
    place = np.arange(data.bags.n_instances) - data.bags.spread(data.bags.offsets[:-1])
    with open(tmp_path / "walks.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["walk", "second", "x", "y", "label"])
        for row in order:
            bag = data.bags.bag_of[row]
            values = data.bags.instances[row, :2].tolist()
            writer.writerow([f"w{bag}", place[row], *values, data.y[bag]])
    arguments = ("compare", "walks.csv", "--bag", "walk", "--time", "second", "--json")
    done = mixedbag(
        *(*arguments, "--folds", "2", "--learners", "bag statistics + SVM", "--jobs", "1"),
        folder=tmp_path,
    )
    told = json.loads(done.stdout)
    assert told["rule"] == "sequence"
    assert told["features"] == 2
    page = (tmp_path / "mixedbag-walks" / "report.html").read_text()
    assert '"kind":"series"' in page


def test_version_datasets_and_completion(tmp_path):
    assert mixedbag("--version", folder=tmp_path).stdout.startswith("mixedbag ")
    listed = json.loads(mixedbag("datasets", "list", "--json", folder=tmp_path).stdout)
    assert "musk1" in {entry["name"] for entry in listed}
    assert "166" in mixedbag("datasets", "show", "musk1", folder=tmp_path).stdout
    done = mixedbag("datasets", "show", "nothing", folder=tmp_path, code=2)
    assert "no data set is called 'nothing'" in done.stderr
    environment = os.environ | {"_MIXEDBAG_COMPLETE": "complete_bash", "COMP_WORDS": "mixedbag de"}
    done = subprocess.run(
        ["mixedbag"], executable=Path(sys.executable).with_name("mixedbag"), capture_output=True,
        text=True, env=environment | {"COMP_CWORD": "1"}, timeout=120,
    )  # fmt: skip
    assert "demo" in done.stdout


def test_text_columns_are_learned_from_and_predicted_with(tmp_path):
    """A blue instance makes a bag positive; the model meets a colour and a column it never saw."""
    lines = ["bag,label,colour,x"]
    for i in range(40):
        lines += [f"m{i},{i % 2},{'blue' if i % 2 else 'red'},{i / 9:.3f}", f"m{i},{i % 2},red,0"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    learner = ("--learner", "BagMarginSVC", "--out", "m.skops")
    done = mixedbag("fit", "t.csv", *learner, folder=tmp_path)
    assert "column 'colour' is text: colour=blue, colour=red say which" in done.stdout
    (tmp_path / "new.csv").write_text("colour,bag,x,note\npink,a,0,?\nred,a,0,?\nblue,b,0,?\n")
    answers = mixedbag("predict", "m.skops", "new.csv", "--json", folder=tmp_path).stdout
    assert [json.loads(line)["predicted"] for line in answers.splitlines()] == [0, 1]


# What goes wrong ----------------------------------------------------------------------------------


def _wide():
    names = ",".join(f"f{j}" for j in range(1_500))
    rng = np.random.default_rng(0)
    lines = [f"bag,label,{names}"]
    for row in range(32):
        bag, values = row // 2, ",".join(f"{v:.2f}" for v in rng.normal(size=1_500))
        lines.append(f"{bag},{bag % 2},{values}")
    return "\n".join(lines)


BAD = {
    "zero bytes": ("", "the file is empty"),
    "only a header": ("bag,label,x\n", "no rows below the header"),
    "ragged": ("bag,label,x\na,1,2\nb,0\n", "line 3"),
    "no such column": ("mol,label,x\na,1,2\n", "which column holds the bag"),
    "text features": ("bag,label,x\na,1,red\nb,0,blue\n", "no column of numbers"),
    "two labels": ("bag,label,x\na,1,2\na,0,3\n", "has two labels"),
    "one class": ("bag,label,x\n" + "".join(f"b{i},1,{i}\n" for i in range(9)), "same label"),
    "no bag id": ("bag,label,x\na,1,2\n,0,3\n", "line 3"),
    "not text": ("\x00\x01\x02\x03" * 20, "a NUL character"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_explained(tmp_path, case):
    content, message = BAD[case]
    (tmp_path / "bad.csv").write_text(content)
    done = mixedbag("compare", "bad.csv", "--out", "out", folder=tmp_path, code=2)
    assert message in done.stderr
    assert not (tmp_path / "out" / "report.html").exists()


def test_wrong_names_and_options_are_explained(folder):
    done = mixedbag("compare", "table.csv", "--bag", "mol", folder=folder, code=2)
    assert "'mol'" in done.stderr
    assert "molecule" in done.stderr
    done = mixedbag("compare", "table.csv", "--bag", "molecule", folder=folder, code=2)
    assert "--label COLUMN" in done.stderr
    done = mixedbag("compare", "nothing.csv", folder=folder, code=2)
    assert "no file 'nothing.csv'" in done.stderr
    base = ("compare", "table.csv", "--bag", "molecule", "--label", "active")
    done = mixedbag(*base, "--time-budget", "soon", folder=folder, code=2)
    assert "'soon' is no time" in done.stderr
    done = mixedbag(*base, "--rule", "maybe", folder=folder, code=2)
    assert "rule must be one of" in done.stderr
    done = mixedbag(*base, "--rule", "sum", folder=folder, code=2)
    assert "numbers" in done.stderr
    done = mixedbag("predict", "table.csv", "table.csv", folder=folder, code=2)
    assert "not a model saved by mixedbag" in done.stderr


def test_a_wide_table(tmp_path):
    (tmp_path / "wide.csv").write_text(_wide())
    done = mixedbag(
        *("compare", "wide.csv", "--folds", "2", "--learners", "bag statistics + SVM"),
        *("--jobs", "1", "--json"),
        folder=tmp_path,
    )
    assert json.loads(done.stdout)["features"] == 1_500


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_explained(compared, folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "predict", "out/model.skops", "table.csv", "--bag", "molecule"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120,
        )  # fmt: skip
    assert done.returncode == 3
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_silent(compared, folder):
    arguments = [*COMMAND, "predict", "out/model.skops", "long.csv", "--bag", "molecule"]
    header = (folder / "table.csv").read_text().splitlines()[0]
    row = ",".join(["0.5" for _ in header.split(",")[1:]])
    rows = "\n".join(f"m{i},{row}" for i in range(20_000))
    (folder / "long.csv").write_text(f"{header}\n{rows}\n")
    writer = subprocess.Popen(
        arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},  # a write may be a part of it then
    )  # fmt: skip
    assert writer.stdout.readline().startswith("bag,predicted")
    writer.stdout.close()
    with writer.stderr as told:
        assert told.read() == ""
    writer.wait(timeout=60)


def test_an_interrupt_keeps_finished_folds(tmp_path):
    data = make_any(n_bags=60, size=(2, 5), n_features=3, random_state=0)
    write_csv(tmp_path / "table.csv", data.bags, data.y)
    arguments = [
        *("compare", "table.csv", "--bag", "molecule", "--label", "active", "--out", "out"),
        *("--learners", "bag statistics + extra", "--jobs", "1", "--folds", "15"),
    ]
    running = Started(*arguments, folder=tmp_path)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("out/folds/*/*.npz"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "the same command goes on" in told
    assert "Traceback" not in told
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/folds/*/*.npz")}
    assert len(kept) >= 3
    board = list(csv.DictReader((tmp_path / "out" / "leaderboard.csv").read_text().splitlines()))
    assert [int(row["folds"]) for row in board if row["kind"] == "learner"] == [len(kept)]
    mixedbag(*arguments, folder=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (tmp_path / "out" / "report.html").exists()


def test_bags_without_label_are_predicted(tmp_path):
    data = make_any(n_bags=30, size=(2, 5), n_features=3, random_state=0)
    write_csv(tmp_path / "table.csv", data.bags, ["", *data.y[1:]])
    columns = ("table.csv", "--bag", "molecule", "--label", "active")
    mixedbag("compare", *columns, "--out", "out", *QUICK, folder=tmp_path)
    with open(tmp_path / "out" / "unlabelled.csv", newline="") as file:
        assert [row["bag"] for row in csv.DictReader(file)] == ["mol-000"]


# Who is to blame, and what is shown ---------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, AssertionError])
def test_an_error_of_our_own_is_a_defect(folder, monkeypatch, error):
    def broken(*_, **__):
        raise error("ours")

    monkeypatch.setattr("mixedbag.comparison._schedule.Schedule.run", broken)
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active", *QUICK)
    told = mixedbag(*arguments, "--out", "broken", folder=folder, code=1).stderr
    assert "defect of mixedbag" in told
    assert error.__name__ in told


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--jobs", "0"), ("--folds", "1"), ("--folds", "-3"), ("--repeats", "0")),
        *(("--seed", "-1"), ("--seed", "99999999999"), ("--time-budget", "0s")),
        *(("--time-budget", "-5"), ("--learners", ","), ("--images", "0x0")),
    ],
)
def test_options_out_of_range_are_refused(folder, option, value):
    arguments = ("compare", "table.csv", "--bag", "molecule", "--label", "active")
    done = mixedbag(*arguments, option, value, "--out", "refused", folder=folder, code=2)
    assert done.stderr
    assert not (folder / "refused" / "folds").exists()


def test_a_table_for_another_model_is_refused(folder, compared):
    (folder / "narrow.csv").write_text("bag,x0\na,1\n")
    arguments = ("predict", "out/model.skops", "narrow.csv", "--bag", "bag")
    assert "x1" in mixedbag(*arguments, folder=folder, code=2).stderr


NASTY = "\x1b]0;owned\x07\u202e"


def test_names_reach_terminal_and_spreadsheet_harmlessly(tmp_path):
    """Bags, labels, columns and the file have names that a terminal or spreadsheet would obey."""
    data = make_any(n_bags=24, size=(2, 4), n_features=2, random_state=0)
    table = tmp_path / f"t{NASTY}.csv"
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["bag", "label", f"x{NASTY}", "y", f"note{NASTY}"])
        for row, (bag, values) in enumerate(zip(data.bags.bag_of, data.bags.instances.tolist())):
            label = f"=yes{NASTY}" if data.y[bag] else f"-no{NASTY}"
            writer.writerow([f"=cmd|{bag}{NASTY}", label, *values, f"{row}{NASTY}"])
    told = [mixedbag("compare", table.name, *QUICK, "--out", "out", folder=tmp_path)]
    options = ("--learner", "spread labels + logistic")
    told.append(mixedbag("fit", table.name, *options, folder=tmp_path))
    arguments = ("explain", "model.skops", table.name, f"=cmd|0{NASTY}")
    told.append(mixedbag(*arguments, folder=tmp_path))
    told.append(mixedbag(*arguments[:3], f"no{NASTY}", folder=tmp_path, code=2))
    told.append(mixedbag("compare", f"no{NASTY}.csv", folder=tmp_path, code=2))
    shown = "".join(done.stdout + done.stderr for done in told)
    assert "\\x1b]0;owned\\x07\\u202e" in shown
    assert not set("\x1b\x07\u202e") & set(shown)
    mixedbag("predict", "model.skops", table.name, "--out", "answers.csv", folder=tmp_path)
    with open(tmp_path / "answers.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert all(row[0].startswith("'=cmd") and row[1][0] == "'" for row in rows[1:])
    assert all(float(value) is not None for row in rows[1:] for value in row[2:4])
    assert {row[4] for row in rows[1:]} == {""}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_leaderboard(tmp_path, number):
    data = make_any(n_bags=60, size=(2, 5), n_features=3, random_state=0)
    write_csv(tmp_path / "table.csv", data.bags, data.y)
    running = Started(
        *("compare", "table.csv", "--bag", "molecule", "--label", "active"),
        *("--out", "out", "--learners", "bag statistics + extra", "--jobs", "2"),
        folder=tmp_path,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("out/folds/*/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert f"mixedbag: ended by {number.name}" in told
    assert (tmp_path / "out" / "leaderboard.csv").exists()


def test_explanations_do_not_round_days(tmp_path):
    lines = ["bag,label,day,x"]
    for b in range(30):
        days = (f"{2020 + 4 * (b % 2)}-02-{10 + row}" for row in range(3))
        lines += [f"b{b},{b % 2},{day},{b / 7}" for day in days]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    options = ("--bag", "bag", "--label", "label", "--learner", "spread labels + logistic")
    mixedbag("fit", "t.csv", *options, folder=tmp_path)
    said = mixedbag("explain", "model.skops", "t.csv", "b1", "--json", folder=tmp_path).stdout
    facts = [line["because of"] for line in json.loads(said)["instances"]]
    days = {fact["day"]["value"] for fact in facts if "day" in fact}
    assert days
    assert days <= {19763.0, 19764.0, 19765.0}
    assert [short(v) for v in (19763.0, 1 / 3, 123456.7, np.nan)] == [19763, 0.3333, 123500, None]
