"""The report: its contents, and the page in a real browser."""

import importlib.util
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mixedbag import Bags, compare
from mixedbag.datasets import load_digits_bags, make_count, make_majority, make_sequences, make_sum
from mixedbag.datasets.records import BagData
from mixedbag.inspection import permutation_importance
from mixedbag.report import _curves, _importance, _views, report_page, write_report

_spec = importlib.util.spec_from_file_location("browser", Path(__file__).with_name("browser.py"))
browser = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(browser)

QUICK = {"folds": 3, "inner_folds": 2}
NASTY = "</script><script>window.hacked = 1</script>"


def embedded(page):
    text = re.search(r'<script id="contents" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text.group(1))


@pytest.fixture(scope="module")
def digits():
    data = load_digits_bags(n_bags=40)
    data = replace(data, notes=(f"read from {NASTY}",))
    learners = ["bag statistics + SVM", "spread labels + logistic"]
    return compare(data.bags, data.y, learners=learners, **QUICK), data


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_bars_of_amounts_have_a_width_in_any_unit(unit):
    values = unit * np.random.default_rng(0).normal(size=200)
    edges = np.array(_curves.distributions([("error", values)])["edges"])
    assert np.ptp(edges) > 3 * unit
    np.testing.assert_allclose(np.diff(edges), np.ptp(edges) / 24, rtol=0.01)


def test_the_page_needs_nothing_else(digits):
    page = report_page(*digits, title=NASTY)
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "@import" not in page
    assert "url(" not in page
    assert NASTY not in page


def test_importance_is_that_of_columns_from_other_bags(digits):
    result, _ = digits
    question, split, columns = result.question, result.splits[0], [10, 20, 36]
    model = result.stack_of(result.finalists()).model(result.protocol, split)

    def score(model, bags, rows):
        return -question.mean(question.loss(model.predict_proba(bags), rows), rows)

    found = permutation_importance(
        *(model, result.bags[split.test], split.test),
        scoring=score,
        n_repeats=_importance._REPEATS,
        random_state=0,
        features=columns,
    )
    grown = _importance._growth(result, model, split.test, columns)
    assert grown == pytest.approx(found.importances, abs=1e-12)


def test_contents_are_those_of_the_comparison(digits):
    result, data = digits
    known = embedded(report_page(result, data, "digits"))
    assert known["data"]["bags"] == 40
    assert [row["name"] for row in known["board"]] == [r.name for r in result.leaderboard()]
    assert known["view"] == {"kind": "images", "height": 8, "width": 8}
    assert len(known["bags"]) == 40
    for bag in known["bags"]:
        order = [abs(gain) for gain in bag["gains"]] if "gains" in bag else bag["scores"]
        assert order == sorted(order, reverse=True)
    assert any("gains" in bag for bag in known["bags"])
    wrong = sum(bag["wrong"] for bag in known["bags"])
    assert wrong == np.sum(result.out_of_fold().labels != result.y)


def _other_kinds():
    count, total = make_count(n_bags=30, random_state=0), make_sum(n_bags=30, random_state=0)
    series = make_sequences(n_bags=24, random_state=0)
    classes = make_majority(n_bags=30, random_state=0)
    three = BagData(classes.bags, np.array(["a", "b", "c"])[np.arange(30) % 3])
    gaps = classes.bags.instances.copy()
    gaps[::7, 0] = np.nan
    holes = BagData(Bags(gaps, classes.bags.offsets), classes.y)
    share = BagData(count.bags, np.asarray(count.y) / count.bags.sizes)
    mean = BagData(total.bags, np.asarray(total.y) / total.bags.sizes)
    return {
        "proportion": (share, "auto", "spread shares + logistic", "bars"),
        "mean": (mean, "mean", "spread means + ridge", "bars"),
        "count": (count, "auto", "spread counts + logistic", "bars"),
        "sum": (total, "auto", "spread totals + ridge", "bars"),
        "sequence": (series, "sequence", "bag statistics + SVM", "series"),
        "three classes": (three, "auto", "bag statistics + SVM", "bars"),
        "missing values": (holes, "majority", "bag statistics + SVM", "bars"),
    }


@pytest.fixture(scope="module", params=_other_kinds())
def other_kind(request):
    data, rule, learner, view = _other_kinds()[request.param]
    return compare(data.bags, data.y, rule, learners=[learner], **QUICK), data, view


def test_every_kind_of_label_has_a_report(other_kind, tmp_path):
    result, data, view = other_kind
    known = embedded(report_page(result, data))
    assert known["view"]["kind"] == view
    assert known["chosen"]["mean"] == pytest.approx(result.chosen().mean, rel=1e-4)


def test_charts_of_a_column_a_class_say_which_they_show():
    data = make_count(n_bags=30, random_state=0)
    counts = np.column_stack([data.bags.sizes - data.y, data.y])
    result = compare(data.bags, counts, learners=["spread counts + logistic"], **QUICK)
    assert embedded(report_page(result, data))["charts"]["of"] == ", class 1"


def test_figures_of_the_page_are_those_of_the_result(digits):
    result, data = digits
    known = embedded(report_page(result, data, "digits"))
    assert known["measure"]["name"] == "accuracy"
    assert known["classes"] == ["0", "1"]
    assert np.array_equal(known["confusion"], result.confusion())
    assert np.trace(result.confusion()) == np.sum(result.out_of_fold().labels == result.y)
    assert known["constant"]["name"] == "always the same answer"
    assert [check["number"] for check in known["checks"]] == [c.number for c in result.checks()]
    agreement = np.array(known["members"]["agreement"])
    assert np.array_equal(agreement, agreement.T)
    assert np.diag(agreement).tolist() == [1.0] * len(agreement)
    assert sum(known["members"]["weights"]) == pytest.approx(1.0, abs=0.01)


def test_what_matters_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5, 3))
    y = (X[:, :, 1].mean(axis=1) > 0).astype(int)
    bags = Bags(X.reshape(-1, 3), np.arange(0, 301, 5), feature_names=["a", "the one", "c"])
    result = compare(bags, y, "majority", learners=["bag statistics + SVM"], **QUICK)
    features = embedded(report_page(result))["importance"]["features"]
    assert features[0]["name"] == "the one"
    assert features[0]["mean"] > 3 * abs(features[1]["mean"])


def test_what_is_typical_is_found_a_piece_at_a_time(monkeypatch):
    monkeypatch.setattr(_views, "_PIECE", 300)
    X = np.random.default_rng(0).normal(size=(1000, 4))
    X[::3, 1] = np.nan
    X[:, 3] = np.nan
    mean, scale = _views._mean_and_scale(X)
    np.testing.assert_allclose(mean[:3], np.nanmean(X[:, :3], axis=0))
    np.testing.assert_allclose(scale[:3], np.nanstd(X[:, :3], axis=0))
    assert mean[3] == scale[3] == 0.0


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_matters_is_found_among_many(is_sparse, monkeypatch):
    """Of 80 features those that promise something are tried, the others together, and it is said;
    of large tables fewer bags are asked about."""
    monkeypatch.setattr(_importance, "_ROWS", 30_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5, 80)) * (rng.uniform(size=(60, 5, 80)) < 0.5)
    y = (X[:, :, 61].mean(axis=1) > 0).astype(int)
    X = X.reshape(-1, 80)
    bags = Bags(sparse.csr_array(X) if is_sparse else X, np.arange(0, 301, 5))
    result = compare(bags, y, "majority", learners=["bag statistics + extra trees"], **QUICK)
    found = _importance.importance(result)
    assert found["features"][0]["name"] == "feature 61"
    assert (found["tried"], found["of"]) == (24, 80)
    assert found["bags"] < 60


def test_labels_have_few_digits():
    data = make_sum(n_bags=30, random_state=0)
    y = np.asarray(data.y) + 1 / 3
    result = compare(data.bags, y, "sum", learners=["spread totals + ridge"], **QUICK)
    for bag in embedded(report_page(result))["bags"]:
        assert len(bag["label"]) < 9
        assert len(bag["predicted"]) < 9


@pytest.fixture(scope="module")
def placed():
    """Bags whose instances lie somewhere, most of them too large to leave out one by one."""
    data = make_majority(n_bags=30, size=(5, 9), random_state=0)
    coords = 256.0 * np.random.default_rng(0).integers(0, 20, (data.bags.n_instances, 2))
    coords[: data.bags.sizes[0]] = np.nan
    data = BagData(data.bags, data.y, coords=coords)
    learners = ["bag statistics + SVM"]
    return compare(data.bags, data.y, "majority", learners=learners, **QUICK), data


def test_instances_are_placed_where_they_lie(placed, monkeypatch):
    data = placed[1]
    bags = embedded(report_page(*placed))["bags"]
    by_id = {int(bag["id"]): bag for bag in bags}
    assert "map" not in by_id[0]
    explained = [i for i in by_id if i and "gains" in by_id[i]]
    for i in explained:
        found, (start, stop) = by_id[i]["map"], data.bags.offsets[i : i + 2]
        assert np.array_equal(np.column_stack([found["x"], found["y"]]), data.coords[start:stop])
        gains = dict(zip(map(int, by_id[i]["names"]), by_id[i]["gains"]))
        assert [gains[row] for row in found["rows"]] == pytest.approx(found["values"], rel=0.01)
    assert explained
    monkeypatch.setattr("mixedbag.report._maps._MOST", 3)
    for bag in embedded(report_page(*placed))["bags"]:
        if "map" in bag:  # the ranked ones are there in any case
            assert sorted(bag["map"]["rows"]) == sorted(map(int, bag["names"]))


# In a browser -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window():
    if not (browser.CHROMIUM and browser.DRIVER):
        pytest.skip("no chromium with chromedriver here")
    opened = browser.Browser()
    yield opened
    opened.close()


@pytest.mark.browser
def test_the_page_works(window, digits, tmp_path):
    result, data = digits
    write_report(result, tmp_path / "report.html", data, title=NASTY, command="mixedbag demo")
    window.open(tmp_path / "report.html")
    assert window.console() == []
    assert window.run("return window.hacked") is None
    assert window.run("return document.getElementById('title').textContent") == NASTY
    assert window.run("return document.querySelectorAll('#charts .card').length") == 6
    assert window.run("return document.querySelectorAll('#confusion td').length") == 4
    assert window.run("return document.querySelectorAll('#importance rect').length") > 3
    assert window.run("return document.querySelectorAll('#agreement tbody tr').length") == 2
    assert window.run("return document.querySelectorAll('#use pre').length") == 4
    first = "return document.querySelector('main section').id"
    assert window.run(first) == "checks-section"
    assert window.run("return document.querySelectorAll('#checks .check').length") == len(
        result.checks()
    )
    assert window.run("return [0.5, 12345, 3171416, -40000000].map(short)") == [
        *("0.5", "12300", "3.17M", "-40M"),  # as wide as there is room for beside an axis
    ]
    long = ["income of the household=low", "income of the household=high", "pixel 3"]
    assert window.run("return arguments[0].map((name) => squeezed(name, 12))", long) == [
        *("inc…hold=low", "inc…old=high", "pixel 3"),  # where they differ is still there
    ]
    axis = "return document.querySelectorAll('#board thead .whiskers text').length"
    assert window.run(axis) >= 2
    assert window.run("return document.querySelectorAll('#hardest button').length") == 12


@pytest.mark.browser
def test_the_page_says_what_counts_and_totals_are_good_for(window, other_kind, tmp_path):
    result, data, _ = other_kind
    write_report(result, tmp_path / "report.html", data)
    window.open(tmp_path / "report.html")
    use = window.run("return document.getElementById('use').textContent")
    known = result.question.kind != "classes"
    assert ("--instances --amount LABEL" in use) == ("mixedbag rates new.csv" in use) == known
    assert window.console() == []


@pytest.mark.browser
def test_the_leaderboard_sorts(window, digits, tmp_path):
    write_report(*digits[:1], tmp_path / "report.html", digits[1])
    window.open(tmp_path / "report.html")
    first_column = (
        "return [...document.querySelectorAll('#board tbody tr td:first-child')]"
        ".map(cell => cell.textContent.trim().toLowerCase())"
    )
    click = "document.querySelectorAll('#board th button')[0].click();" + first_column
    once, twice = window.run(click), window.run(click)
    assert once == sorted(once)
    assert twice == sorted(once, reverse=True)
    assert len(once) == len(digits[0].leaderboard())


@pytest.mark.browser
def test_learners_never_begun_are_folded_away(window, digits, tmp_path):
    result, data = digits
    page = report_page(result, data)
    known = embedded(page)
    waiting = {**known["board"][-1], "name": "slow", "kind": "learner", "status": "waiting"}
    known["board"].append({**waiting, "mean": None, "low": None, "scores": {}})
    begin, end = page.index('application/json">') + 18, page.index("</script>", page.index("json"))
    text = json.dumps(known).replace("<", "\\u003c")
    (tmp_path / "report.html").write_text(page[:begin] + text + page[end:])
    window.open(tmp_path / "report.html")
    seen = "return document.querySelector('#board tbody.waiting').offsetHeight"
    assert window.run(seen) == 0
    assert "1 learner never begun" in window.run("return document.getElementById('fold').innerText")
    assert window.run("document.getElementById('fold').click();" + seen) > 0
    assert window.console() == []


@pytest.mark.browser
def test_classes_keep_their_colours_to_themselves(window, digits, tmp_path):
    write_report(*digits[:1], tmp_path / "report.html", digits[1])
    window.open(tmp_path / "report.html")
    colours = window.run(
        "const s = getComputedStyle(document.documentElement);"
        "return ['k0','k1','k2','k3','k4','k5','accent','slate','ink','soft','good','bad']"
        ".map(name => s.getPropertyValue('--' + name).trim())"
    )
    assert len(set(colours)) == len(colours)
    # Only what shows a class may use the colour of one.
    used = window.run(
        'return [...document.querySelectorAll(\'[fill*="--k"], [stroke*="--k"]\')]'
        ".map(e => e.closest('.card').querySelector('h3')?.textContent ?? '')"
    )
    assert set(used) <= {"Instance scores"}


@pytest.mark.browser
def test_series_are_shaded_by_the_answered_class(window, tmp_path):
    data = make_sequences(n_bags=24, random_state=0)
    y = np.where(np.asarray(data.y) == 1, "fridge", "none")
    result = compare(data.bags, y, "sequence", learners=["bag statistics + SVM"], **QUICK)
    write_report(result, tmp_path / "report.html", BagData(data.bags, y))
    window.open(tmp_path / "report.html")
    assert window.run("return document.querySelectorAll('#inside .legend span').length") == 2
    for bag in embedded((tmp_path / "report.html").read_text())["bags"][:4]:
        fill = window.run("return document.querySelector('#inside .shade').getAttribute('fill')")
        assert fill == f"var(--k{['none', 'fridge'].index(bag['predicted'])})"
        window.run("document.getElementById('next').click()")
    assert window.console() == []


@pytest.mark.browser
def test_the_map_is_drawn(window, placed, tmp_path):
    write_report(placed[0], tmp_path / "report.html", placed[1])
    window.open(tmp_path / "report.html")
    show = (
        "const choice = document.getElementById('bag'); choice.value = arguments[0];"
        "choice.dispatchEvent(new Event('change'));"
        "return document.querySelectorAll('.map rect').length"
    )
    for i, bag in enumerate(embedded((tmp_path / "report.html").read_text())["bags"]):
        drawn = window.run(show, i)
        assert drawn == len(bag.get("map", {"rows": []})["rows"])
    assert not window.console()


@pytest.mark.browser
def test_the_bag_browser_shows_bags(window, digits, tmp_path):
    write_report(*digits[:1], tmp_path / "report.html", digits[1])
    window.open(tmp_path / "report.html")
    shown = "return document.getElementById('inside').dataset.bag"
    first = window.run(shown)
    assert window.run("document.getElementById('next').click();" + shown) != first
    assert window.run("document.getElementById('previous').click();" + shown) == first
    picked = window.run("document.querySelectorAll('#hardest button')[3].click();" + shown)
    assert picked == window.run(
        "return document.querySelectorAll('#hardest button')[3].firstChild.textContent"
    )
    n_images = window.run("return document.querySelectorAll('#inside canvas').length")
    assert n_images == digits[0].bags.sizes[int(picked)]
    script = (
        "const f = document.getElementById('filter'); f.value = arguments[0];"
        "f.dispatchEvent(new Event('input'));"
    )
    window.run(script, "no such bag")
    assert "No bag fits" in window.run("return document.getElementById('inside').textContent")
    assert window.console() == []


@pytest.mark.browser
def test_every_kind_of_label_is_drawn(window, other_kind, tmp_path):
    result, data, view = other_kind
    write_report(result, tmp_path / "report.html", data)
    window.open(tmp_path / "report.html")
    assert window.console() == []
    assert window.run("return document.querySelectorAll('#charts svg').length") >= 3
    drawn = {"bars": "#inside .bars", "series": "#inside svg path"}[view]
    assert window.run(f"return document.querySelectorAll('{drawn}').length") > 0


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1100, "dark")])
def test_phones_and_darkness(window, digits, tmp_path, width, scheme):
    write_report(*digits[:1], tmp_path / "report.html", digits[1], title="digits")
    window.command(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=800,
        deviceScaleFactor=1,
        mobile=width < 500,
    )
    window.command(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    try:
        window.open(tmp_path / "report.html")
        assert window.run("return document.documentElement.scrollWidth") <= width
        background = window.run("return getComputedStyle(document.body).backgroundColor")
        brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
        assert (brightness < 60) == (scheme == "dark")
        window.screenshot(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000
    finally:
        window.command("Emulation.clearDeviceMetricsOverride")
        window.command("Emulation.setEmulatedMedia", features=[])
