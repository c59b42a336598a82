"""The README and the pages run; the examples in docstrings are right."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import mixedbag

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def python_blocks(page):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [block for block in blocks if not block.startswith("--8<--")]


@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=lambda p: p.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
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
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


MODULES = [
    info.name
    for info in pkgutil.walk_packages(mixedbag.__path__, "mixedbag.")
    if not info.name.rpartition(".")[2].startswith("__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert result.failed == 0
