"""Figures 2 and 3 of the boosting paper: accuracy against rounds, on training and test bags."""

import numpy as np

from benchmarks._boosting_runs import BOOSTERS, SETS, curves
from benchmarks.common import RESULTS, Table

FIGURE_2 = {name: [name] for name in ("bond", "musk1", "musk2", "tiger")}
FIGURE_3 = {
    "mutagenesis": ["atom", "bond", "chain"],
    "trains": ["east", "west"],
    "musk": ["musk1", "musk2"],
    "images": ["eleph.", "tiger", "fox"],
}


def run(quick):
    figures = {
        "Figure 2": (FIGURE_2, ("ExpBin", "NOR Boost", "ISR Boost")),
        "Figure 3": (FIGURE_3, tuple(BOOSTERS)),
    }
    if quick:
        figures = {"Figure 3": ({"trains": FIGURE_3["trains"]}, ("ExpBin", "ExpReg"))}
    tables = []
    for title, (panels, labels) in figures.items():
        found = {
            (panel, label, part): mean_curve(columns, label, part)
            for panel, columns in panels.items()
            for label in labels
            for part in ("train", "test")
        }
        tables.append(table(title, found))
        if not quick:
            plot(title, panels, labels, found)
    return tables


def mean_curve(columns, label, part):
    """Mean accuracy over sets and folds after each round."""
    return 100 * np.mean(
        [curves(SETS[column], BOOSTERS[label], 0)[part].mean(axis=0) for column in columns], axis=0
    )


def table(title, found):
    rows = []
    for panel, label in dict.fromkeys((panel, label) for panel, label, _ in found):
        row = {"data": panel, "booster": label}
        for part in ("train", "test"):
            curve = found[panel, label, part]
            for n in (10, 25, 50, 100):
                if n <= len(curve):
                    row[f"{part} {n}"] = round(float(curve[n - 1]), 1)
        rows.append(row)
    return Table(f"{title}: accuracy (%) after so many rounds", rows)


def plot(title, panels, labels, found):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(panels), figsize=(3 * len(panels), 5), sharey="row", layout="constrained"
    )
    for part, row in zip(("train", "test"), axes):
        for panel, axis in zip(panels, row):
            for label in labels:
                curve = found[panel, label, part]
                axis.plot(1 + np.arange(len(curve)), curve, label=label, linewidth=1.2)
            axis.set_title(f"{panel}, {part}", fontsize=9)
    axes[0, 0].legend(fontsize=7)
    for axis in axes[-1]:
        axis.set_xlabel("rounds")
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy (%)")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / f"boosting_{title.lower().replace(' ', '')}.png", dpi=110)
    plt.close(figure)
