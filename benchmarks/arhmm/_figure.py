"""A picture of what a sequence learner sees: test bags coloured by the instance posterior."""

import numpy as np
from matplotlib.collections import LineCollection
from sklearn.model_selection import StratifiedKFold

from benchmarks._measure import picture
from mixedbag.sequence import ARHMMClassifier

N_SHOWN = 12


def draw(path, name, series, meaning, setting):
    """Bags not seen in training side by side, and below them where the activity really was.

    Bags with both the activity and something else come first, then the rest, both labels in turn.
    """
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    train, test = next(folds.split(series.y, series.y))
    model = ARHMMClassifier(**setting, random_state=0).fit(series.bags[train], series.y[train])
    shown = _telling(series, test)
    chance = model.predict_proba_instances(series.bags[shown])[:, 1].reshape(len(shown), -1)
    with picture(path, 2, 1, figsize=(13, 5), sharex=True, height_ratios=[6, 1]) as (
        figure,
        (top, below),
    ):
        for place, (bag, colour) in enumerate(zip(shown, chance)):
            x = series.bags[bag]
            time = place * len(x) + np.arange(len(x))
            for channel in x.T:
                top.add_collection(_coloured(time, channel, colour))
            below.fill_between(time, series.truth[bag], step="mid", color="0.25", linewidth=0)
            for axes in (top, below):
                axes.axvline(time[0], color="0.8", linewidth=0.6, zorder=0)
        top.autoscale()
        top.set_xlim(0, time[-1] + 1)
        figure.colorbar(top.collections[0], ax=[top, below], label=f"P({meaning} | series)")
        top.set_ylabel("channels")
        top.set_title(f"{name}: {meaning}, learned from labels of bags; these bags were not seen")
        below.set(yticks=[0, 1], yticklabels=["other", meaning], xlabel="sample", ylim=(0, 1.1))


def _telling(series, test):
    share = series.truth[test].mean(axis=1)
    mixed = test[(share > 0) & (share < 1)]
    yes, no = (test[(share == value)] for value in (1, 0))
    pure = [bag for pair in zip(yes, no) for bag in pair]
    return [*mixed[: N_SHOWN // 2], *pure][:N_SHOWN]


def _coloured(time, values, colour):
    """A line whose pieces have colours from 0 to 1."""
    points = np.column_stack([time, values])
    lines = LineCollection(
        np.stack([points[:-1], points[1:]], axis=1), cmap="coolwarm", linewidth=1.0
    )
    lines.set(array=colour[:-1], clim=(0.0, 1.0))
    return lines
