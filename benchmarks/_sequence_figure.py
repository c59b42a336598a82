"""A picture of what a sequence learner sees: test bags coloured by the instance posterior."""

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.common import RESULTS
from mixedbag.datasets import load
from mixedbag.sequence import ARHMMClassifier


def draw(name, activity, n_bags=120, n_test=50, n_shown=12):
    """Bags not seen in training side by side, and below them where the activity really was."""
    data = load(name).bags_of(200)
    pick = np.random.default_rng(0).permutation(len(data.bags))[:n_bags]
    bags, y = data.bags[pick], data.y[pick] == activity
    model = ARHMMClassifier(10, 3, max_iter=8, random_state=0).fit(bags[n_test:], y[n_test:])
    positive, negative = np.flatnonzero(y[:n_test]), np.flatnonzero(~y[:n_test])
    shown = np.concatenate([positive[: n_shown // 2], negative])[:n_shown]
    chance = model.predict_proba_instances(bags[shown])[:, 1]
    truth = (data.instance_labels.reshape(-1, 200)[pick[shown]] == activity).ravel()
    x = bags[shown].instances
    figure, (top, below) = plt.subplots(
        2, 1, figsize=(12, 4.5), sharex=True, height_ratios=[6, 1], layout="constrained"
    )
    time = np.arange(len(x))
    for channel in range(x.shape[1]):
        points = top.scatter(time, x[:, channel], c=chance, s=2, cmap="coolwarm", vmin=0, vmax=1)
    for edge in np.arange(0, len(x), 200):
        top.axvline(edge, color="0.8", linewidth=0.6, zorder=0)
    figure.colorbar(points, ax=[top, below], label=f"P(activity {activity} | series)")
    top.set_ylabel("acceleration")
    top.set_title(f"{name}: bags not seen in training, activity {activity} against the rest")
    below.fill_between(time, truth, step="mid", color="0.2")
    below.set(yticks=[0, 1], yticklabels=["other", f"activity {activity}"], xlabel="sample")
    figure.savefig(RESULTS / f"sequence_{name}.png", dpi=110)
    plt.close(figure)
