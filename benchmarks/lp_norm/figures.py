"""Figures 2 and 3: accuracy against rounds, on training and test bags."""

import numpy as np

from benchmarks._measure import picture
from benchmarks._tables import Table, grouped, only
from benchmarks.lp_norm._runs import BOOSTERS, curves

PANELS = {
    2: {name: [name] for name in ("bond", "musk1", "musk2", "tiger")},
    3: {
        "mutagenesis": ["atom", "bond", "chain"],
        "trains": ["east", "west"],
        "musk": ["musk1", "musk2"],
        "images": ["eleph.", "tiger", "fox"],
    },
}
LABELS = {2: ("ExpBin", "NOR Boost", "ISR Boost"), 3: tuple(BOOSTERS)}
ROUNDS = (10, 25, 50, 100)
TINY = {"figure": 3, "data": "trains", "booster": "ExpReg"}


def cases():
    return [
        {"figure": figure, "data": panel, "booster": label}
        for figure, panels in PANELS.items()
        for panel in panels
        for label in LABELS[figure]
    ]


def lacks(row):
    """Rows from before curves were kept whole."""
    return "test" not in row.result


def run(case):
    """Mean accuracy over sets and folds after each round, whole curves and some places of them."""
    row = {}
    for part in ("train", "test"):
        columns = PANELS[case["figure"]][case["data"]]
        folds = [curves(column, case["booster"], 0)[part].mean(axis=0) for column in columns]
        curve = np.mean(folds, axis=0)
        row |= {f"{part} {n}": round(curve[n - 1], 1) for n in ROUNDS if n <= len(curve)}
        row[part] = np.round(curve, 2).tolist()
    return row


def table(rows):
    return [
        Table(
            f"Figure {figure}: accuracy (%) after so many rounds",
            only(rows, figure=figure, without=("train", "test")),
        )
        for figure in PANELS
    ]


def publish(rows, folder):
    """Pictures of figures all of whose curves are known."""
    for figure, panels in PANELS.items():
        mine = only(rows, figure=figure)
        if len(mine) < len(panels) * len(LABELS[figure]) or not all("test" in r for r in mine):
            continue
        with picture(
            folder / f"figure_{figure}.png", 2, len(panels), figsize=(12, 5), sharey="row"
        ) as (_, axes):
            for part, row in zip(("train", "test"), axes):
                for axis, ((panel,), lines) in zip(row, grouped(mine, "data").items()):
                    for line in lines:
                        place = 1 + np.arange(len(line[part]))
                        axis.plot(place, line[part], label=line["booster"], linewidth=1.2)
                    axis.set_title(f"{panel}, {part}", fontsize=9)
                row[0].set_ylabel("accuracy (%)")
            axes[0, 0].legend(fontsize=7)
            for axis in axes[-1]:
                axis.set_xlabel("rounds")
