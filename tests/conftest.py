"""Data tests run when the benchmark data is there (``MIXEDBAG_DATA``)."""

import os

import pytest


def pytest_collection_modifyitems(items):
    if os.environ.get("MIXEDBAG_DATA"):
        return
    skip = pytest.mark.skip(reason="MIXEDBAG_DATA is not set")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(skip)
