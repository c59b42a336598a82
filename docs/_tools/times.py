"""How long a fit takes, for the guides to the rules: from the measured table of `compare`."""

from _tools.files import write_if_new
from mixedbag.comparison._effort import known
from mixedbag.learners import all_learners

SIZES = (100, 1000)  # bags of ten instances with twenty features: within what was measured
SIZES_IN_TIME = (20, 200)  # stretches of 200 samples with three channels
LIMITED = {"DPBoost", "ExactBagMarginSVC", "LNPBoost"}  # provers: they search until a time limit


def write(folder):
    """A table a rule, to be included in its guide."""
    for rule in ("any", "majority", "count", "sum", "sequence"):
        write_if_new(folder / f"times-{rule}.generated.md", table(rule))


def table(rule):
    """The seconds of one fit of every learner of a rule, quickest first."""
    in_time = rule == "sequence"
    sizes, length, features = (SIZES_IN_TIME, 200, 3) if in_time else (SIZES, 10, 20)
    rows = []
    for kind in all_learners():
        if rule in kind._rules and kind._compared and kind.__name__ not in LIMITED:
            law = known(rule, kind.__name__).law
            rows.append((*(law.seconds(n, n * length, features) for n in sizes), kind.__name__))
    what = (
        f"{sizes[0]} and {sizes[1]} stretches of {length} samples with three channels"
        if in_time
        else f"{sizes[0]} and {sizes[1]:,} bags of ten instances with twenty features"
    )
    lines = [
        f"Seconds of one fit on one core, for {what}, with the setting that `compare` tries first,"
        " by the laws that `python -m benchmarks product/effort` fitted to its measurements:",
        "",
        f"| learner | {sizes[0]} bags | {sizes[1]:,} bags |",
        "|---|--:|--:|",
    ]
    lines += [f"| `{name}` | {small:.2g} | {large:.2g} |" for small, large, name in sorted(rows)]
    return "\n".join([*lines, ""])
