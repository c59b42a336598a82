"""The README and the pages run and say what is so; the examples in docstrings are right."""

import doctest
import importlib
import pkgutil
import re
import sys
from pathlib import Path

import pytest

import mixedbag
from mixedbag.learners import all_learners
from tests import test_wide

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GENERATED = {"_build", "gallery", "reference"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not GENERATED & set(page.relative_to(DOCS).parts) and ".generated" not in page.name
    ),
]


def python_blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=lambda p: p.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    # One after the other in one namespace, as a reader would; importable, so that it pickles.
    source = "\n".join(python_blocks(page))
    module = tmp_path / f"page_{page.stem.replace('-', '_')}.py"
    module.write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        importlib.import_module(module.stem)
    except Exception as error:
        raise AssertionError(f"{page.name} does not run: {error}") from error


def test_links_between_pages_lead_somewhere():
    """To files that are here; `make docs` checks the others, and the places within pages."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            path = page.parent / target
            if path.parent.name == "gallery" and path.stem != "index":
                path = ROOT / "examples" / f"{path.stem}.py"
            elif path.parent.name in GENERATED or ".generated" in path.name:
                continue
            assert path.exists(), f"{page.name} links to {target}"


def shown_commands():
    """Every ``mixedbag`` command in a block of a page, as words."""
    for page in PAGES:
        inside = False
        for line in page.read_text().splitlines():
            if line.startswith("```"):
                inside = not inside
            words = line.partition(" #")[0].split()
            if inside and words[:1] == ["mixedbag"]:
                yield page.name, words[1:]


def test_commands_on_pages_have_the_options_that_are_shown():
    from typer.main import get_command

    from mixedbag.cli import app

    commands = get_command(app).commands
    shown = list(shown_commands())
    assert len(shown) > 10
    for page, (name, *words) in shown:
        options = {option for parameter in commands[name].params for option in parameter.opts}
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= options, f"{page}: mixedbag {name} has no {used - options}"


# What pages list ---------------------------------------------------------------------------------


def tool(name):
    """A module that writes pages, from docs/_tools."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(f"_tools.{name}")
    finally:
        sys.path.remove(str(DOCS))


def test_the_readme_lists_every_learner():
    readme = tool("readme")
    assert readme.page() == readme.README.read_text(), "python -m docs._tools.readme writes it"
    assert all(f"`{kind.__name__}`" in readme.table() for kind in all_learners(installed=False))


def test_the_guides_to_rules_speak_of_every_learner():
    guides = "".join(page.read_text() for page in (DOCS / "rules").glob("*.md"))
    every = all_learners(installed=False)
    missing = [k.__name__ for k in every if not re.search(rf"\b{k.__name__}\b", guides)]
    assert not missing


def test_the_reference_holds_every_public_name():
    reference = tool("reference")
    listed = {
        p for _, sections in reference.plan().values() for _, paths in sections for p in paths
    }
    things = {id(_thing(path)) for path in listed}
    for module in reference.public_modules():
        for name in reference.public_names(module):
            path = f"{module}.{name}"
            assert path in listed or id(_thing(path)) in things, f"{path} is on no page"


def _thing(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def test_the_table_of_learners_asks_the_classes():
    rows = {row.name: row for row in tool("capabilities").table()}
    assert set(rows) == {kind.__name__ for kind in all_learners(installed=False)}
    assert rows["ExpRegBoost"].missing
    assert not rows["BagMarginSVC"].missing
    assert rows["MILogisticRegression"].cluster
    assert not rows["EMDD"].cluster
    assert rows["AggregateSVR"].multiclass is None
    assert rows["BagMarginSVC"].instances
    assert not rows["CitationKNN"].instances
    watched = {type(learner).__name__ for learner in test_wide.LEARNERS} & set(rows)
    assert {name for name, row in rows.items() if row.single} == watched


def test_drawings_are_those_of_the_script():
    drawings = tool("drawings")
    for name, draw in drawings.DRAWINGS.items():
        assert (drawings.FOLDER / name).read_text(encoding="utf-8") == draw()


def test_a_site_with_a_hole_or_a_guest_is_found_out(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">x</a><a href="b.html#there">x</a><a href="c.html">x</a>'
        '<script src="https://elsewhere.example/x.js"></script>'
    )
    (tmp_path / "b.html").write_text("<p>")
    found = list(tool("check").problems(tmp_path))
    assert len(found) == 3


# Docstrings --------------------------------------------------------------------------------------

MODULES = [
    info.name
    for info in pkgutil.walk_packages(mixedbag.__path__, "mixedbag.")
    if not info.name.rpartition(".")[2].startswith("__")
    and ">>> " in info.module_finder.find_spec(info.name).loader.get_source(info.name)
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0


def test_docstrings_have_what_a_reader_looks_for():
    """Examples, parameters, relations: what `make docs` asks of them through numpydoc."""
    assert not list(tool("docstrings").problems())


def test_a_docstring_with_a_hole_is_found_out(monkeypatch):
    problems_of = tool("docstrings").problems_of
    assert not list(problems_of("mixedbag.load"))
    text = mixedbag.load.__doc__
    holes = {
        "EX01": text.partition("    Examples\n")[0],
        "PR01": text.replace("trusted : ", "other : "),
        "leads nowhere": text.replace("save : ", "write_nowhere : "),
        "SA01": re.sub(r" +See Also.*(?= +Examples)", "", text, flags=re.DOTALL),
        "no example that runs": text.replace(">>>", "%"),
    }
    for hole, damaged in holes.items():
        monkeypatch.setattr(mixedbag.load, "__doc__", damaged)
        assert any(hole in problem for problem in problems_of("mixedbag.load")), hole
