"""The walks of docs/architecture.md are those of the code."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs" / "walks.py"


def walks():
    spec = importlib.util.spec_from_file_location("walks", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sections():
    return walks().sections()


@pytest.mark.parametrize("title", walks().WALKS)
def test_a_walk_of_the_page_is_that_of_the_code(sections, title):
    page = walks().PAGE.read_text(encoding="utf-8")
    written = page.partition(f"<!-- walk: {title} -->\n")[2].partition("<!-- end -->")[0]
    assert written == sections[title], "python docs/walks.py writes the page anew"
