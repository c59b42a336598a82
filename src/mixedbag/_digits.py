"""Numbers for people: in three decimals, or in four digits where these would tell nothing."""

_NOTHING = 1e-12  # what rounding leaves of zero


def in_digits(value: float) -> str:
    """The number as text; a rate of 0.00145 by person and a total of 3e9 keep their digits."""
    if abs(value) < _NOTHING:
        return "0.000"
    return f"{value:.3f}" if 0.01 <= abs(value) < 1e6 else f"{value:.4g}"
