"""The store of the benchmarks: what is stale, what an interruption leaves, what is kept."""

import sys
from types import ModuleType

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks._code import fingerprint
from benchmarks._measure import within
from benchmarks._store import Row, Store
from benchmarks.arhmm.purity import shares
from benchmarks.product import which_learner
from mixedbag import Bags

VERSIONS = {"numpy": "1"}


def row(case=1, code="a", versions=VERSIONS, **more):
    when = {"when": "2026-01-01T00:00:00+00:00", "seconds": 1.0}
    return Row("file", {"case": case}, {"figure": 1.5}, code, versions, **when | more)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "paper.jsonl")


def test_a_row_comes_back_as_it_was(store):
    rows = [row(1), row("λ", carried="an older file")]
    store.append(*rows)
    assert store.rows() == rows
    assert store.rows("another") == []


def test_fresh_is_the_same_code_on_the_same_versions(store):
    store.append(row(1), row(2, code="b"), row(3, versions={"numpy": "2"}), row(4, code=None))
    assert list(store.fresh("file", "a", VERSIONS)) == ['{"case": 1}']
    assert len(store.latest("file")) == 4


def test_a_later_stale_row_does_not_hide_a_fresh_one(store):
    store.append(row(1), row(1, code="b"))
    assert store.fresh("file", "a", VERSIONS)['{"case": 1}'].code == "a"
    assert store.latest("file")['{"case": 1}'].code == "b"


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_cut_short_is_lost_alone(store, cut):
    store.append(row(1), row(2))
    text = store.path.read_bytes()
    store.path.write_bytes(text[:-cut])
    kept = [r.case["case"] for r in store.rows()]
    assert kept == ([1, 2] if cut == 1 else [1])  # without its newline alone a line is whole
    store.append(row(3))
    assert [r.case["case"] for r in store.rows()] == [*kept, 3]


def test_compacting_leaves_the_last_row_of_each_case(store, monkeypatch):
    store.append(row(1), row(2), row(1, code="b"))
    before = store.path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="no space"):
            store.compact()
    assert store.path.read_bytes() == before
    store.compact()
    assert {(r.case["case"], r.code) for r in store.rows()} == {(1, "b"), (2, "a")}


def write(folder, **files):
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def code(tmp_path):
    """A little library and a benchmark of it; the benchmark's fingerprint after some edits."""
    folders = {name: tmp_path / name for name in ("benchmarks", "library")}
    write(folders["library"], used="def f():\n    return 1\n", unused="x = 1\n", deep="y = 1\n")
    write(folders["library"], chain="from library.deep import y\n\n\ndef g():\n    return y\n")
    benchmark = "from library.used import f\nfrom library.chain import g\n{}\n\n"
    benchmark += "def run(case):\n    return f(), g(), SIZE\n\n\ndef table(rows):\n    return {}\n"
    write(folders["benchmarks"], paper=benchmark.format("SIZE = 1", "'a note'"))

    def after(place=None, **files):
        if place:
            write(folders[place], **files)
        return fingerprint("benchmarks.paper", folders=folders)

    after.benchmark = benchmark
    return after


def test_code_that_a_run_reaches_makes_rows_stale(code):
    first = code()
    assert code("library", used="def f():\n    return 2\n") != first
    second = code()
    assert code("library", deep="y = 2\n") != second
    third = code()
    assert code("benchmarks", paper=code.benchmark.format("SIZE = 2", "'a note'")) != third


def test_other_code_and_notes_do_not(code):
    first = code()
    assert code("library", unused="x = 2\n") == first
    assert code("benchmarks", paper=code.benchmark.format("SIZE = 1", "'another'")) == first


def test_comments_and_layout_do_not(code):
    first = code()
    assert code("library", used="# why\ndef f():\n    return (1)  # how\n") == first


@pytest.fixture
def benchmark(tmp_path, monkeypatch):
    """A benchmark of three cases; ``module.broken`` names one that is interrupted."""
    module = ModuleType("benchmarks.paper.file")
    module.broken, module.ran = None, []
    module.cases = lambda: [{"case": k} for k in range(3)]
    module.table = lambda rows: []

    def run(case):
        if case["case"] == module.broken:
            raise KeyboardInterrupt
        module.ran.append(case["case"])
        return {"figure": 2 * case["case"]}

    module.run = run
    monkeypatch.setitem(sys.modules, "benchmarks.paper", ModuleType("benchmarks.paper"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(command, "fingerprint", lambda name: "a")
    return lambda: command.Benchmark("paper", "file", tmp_path), module


def test_an_interrupted_run_keeps_finished_rows_and_goes_on(benchmark, capsys):
    make, module = benchmark
    module.broken = 1
    with pytest.raises(KeyboardInterrupt):
        make().recompute(make().stale())
    assert [row.case["case"] for row in make().rows()] == [0]
    module.broken = None
    make().recompute(make().stale())
    assert module.ran == [0, 1, 2]
    assert "1 kept, 2 to compute" in capsys.readouterr().out
    assert make().stale() == []


def test_what_is_missing_has_no_row_of_any_code_or_one_that_lacks_something(benchmark):
    make, module = benchmark
    one = make()
    older = (Row("file", {"case": k}, {"figure": 1.0}, code=None) for k in (0, 1))
    one.store.append(*older)
    assert one.missing() == [{"case": 2}]
    module.lacks = lambda row: row.case["case"] == 1
    assert one.missing() == [{"case": 1}, {"case": 2}]
    one.recompute(one.missing())
    assert module.ran == [1, 2]


def test_pages_say_where_rows_come_from(benchmark, capsys):
    make, _ = benchmark
    one = make()
    one.store.append(Row("file", {"case": 0}, {}, carried="an older file"))
    one.recompute([{"case": 1}])
    one.write()
    page = (one.folder / "file.md").read_text()
    assert "2 of 3 cases" in page
    assert "1 carried over, not computed again: an older file" in page
    assert "by code a on python" in page
    assert "fresh when" in page
    assert [case["case"] for case in one.stale()] == [0, 2]


def test_claims_are_checked_in_the_rows(benchmark):
    make, module = benchmark
    assert make().check() is None

    def check(rows):
        assert rows, "nothing is known"

    module.check = check
    assert make().check() is False
    make().recompute(make().stale())
    assert make().check() is True


def test_every_file_has_its_three_parts():
    for paper, files in command.papers().items():
        for file in files:
            one = command.Benchmark(paper, file)
            assert one.cases, one.name
            assert callable(one.module.run)
            assert callable(one.module.table)


def test_places_are_among_those_with_figures_on_all_sets():
    """One that was run on an easy set only has no place, and takes nobody's."""
    figures = {"A": [0.9, 0.8], "B": [0.8, 0.7], "C": [0.95, None]}
    rows = [
        {"kind": "majority", "data": data, "learner": name, "measure": "accuracy"}
        | ({"lines": [[name, own[k], None, None, 1.0]]} if own[k] else {"lines": [], "reason": "x"})
        for k, data in enumerate(which_learner.PROBLEMS["majority"])
        for name, own in figures.items()
    ]
    means, cells = which_learner.table(rows)
    told = {line["learner"]: (line["beats, %"], line["mean place"]) for line in means.rows}
    assert told == {"A": (75, 1.0), "B": (0, 2.0), "C": (100, "")}
    assert "2 have figures on all sets" in means.notes
    assert all(cell for line in cells.rows for cell in line.values())  # a figure, or why not


def test_purity_counts_samples_that_have_the_label_of_their_bag():
    bags = Bags(np.zeros((10, 1)), [0, 4, 7, 10])
    truth = np.array([1, 0, 0, 0, 0, 0, 0, 1, 1, 1], dtype=bool)
    found = shares(bags, np.array([True, False, True]), truth)
    assert found == {"purity": 7 / 10, "pure": 2 / 3}


def test_a_call_that_takes_too_long_is_ended():
    assert within(2, sum, (1, 2)) == 3
    assert within(1, sum, iter(int, 1)) is None
    with pytest.raises(RuntimeError, match="code 1"):
        within(2, int, "three")
