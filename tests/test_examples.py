"""Every example runs, ends in a picture, and is listed."""

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_example(name, tmp_path, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    runpy.run_path(str(EXAMPLES / name))
    picture = tmp_path / "picture.png"
    plt.gcf().savefig(picture)
    plt.close("all")
    assert picture.stat().st_size > 5000


def test_the_page_lists_every_example_by_its_question():
    page = (EXAMPLES / "README.md").read_text()
    for name in NAMES:
        question = ast.get_docstring(ast.parse((EXAMPLES / name).read_text())).split("\n")[0]
        assert f"| `{name}` | {question} |" in page
