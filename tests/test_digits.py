"""Figures keep what they tell, whatever they are counted in."""

import pytest

from mixedbag._digits import in_digits


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.500"),
        (0.001749, "0.001749"),
        (-3e9, "-3e+09"),
        (123.45678, "123.457"),
        (-1e-17, "0.000"),
        (0.0, "0.000"),
    ],
)
def test_figures_keep_what_they_tell(value, text):
    assert in_digits(value) == text
