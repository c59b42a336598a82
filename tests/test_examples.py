"""Every example runs and leaves its picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("[!_]*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_example(name, tmp_path):
    picture = tmp_path / "picture.png"
    environment = os.environ | {"MPLBACKEND": "agg"}
    command = [sys.executable, str(EXAMPLES / name), str(picture)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert picture.stat().st_size > 5000


def test_the_page_lists_every_example():
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"`{name}`" in page for name in NAMES)
