"""
Which rule do my labels follow?
===============================

The same bags may be labelled because *one* instance is positive, or because *most* are. A learner
for the wrong rule may still name bags well; single instances show the difference.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from mixedbag.boosting import ExpRegBoost, SBoost
from mixedbag.classics import MILogisticRegression
from mixedbag.datasets import make_any, make_majority
from mixedbag.wrappers import SpreadLabels

worlds = {
    "labels by any": make_any(
        n_bags=150, size=(20, 30), n_features=4, max_witnesses=1, random_state=0
    ),
    "labels by majority": make_majority(n_bags=150, size=(8, 12), n_features=4, random_state=0),
}
learners = {
    "ExpRegBoost (any)": ExpRegBoost(n_rounds=30),
    "MILogisticRegression (any)": MILogisticRegression(),
    "SBoost (majority)": SBoost(n_rounds=10, random_state=0),
    "spread labels (majority)": SpreadLabels(DecisionTreeClassifier(max_depth=3), rule="majority"),
}
right = np.zeros((len(learners), len(worlds)))
for j, data in enumerate(worlds.values()):
    train, test = np.arange(100), np.arange(100, 150)
    hidden = data.instance_labels[np.isin(data.bags.bag_of, test)]
    for i, model in enumerate(learners.values()):
        answers = model.fit(data.bags[train], data.y[train]).predict_instances(data.bags[test])
        right[i, j] = np.mean([(answers[hidden == c] == c).mean() for c in (0, 1)])

# %%
# Instances named right in bags that were not trained on (mean of the two classes, so that guessing
# gives one half). Framed: a learner whose rule holds.

figure, ax = plt.subplots(figsize=(6.2, 3.4))
ax.imshow(right, cmap="Blues", vmin=0.4, vmax=1, aspect="auto")
for (i, j), value in np.ndenumerate(right):
    shade = "white" if value > 0.72 else "black"
    ax.text(j, i, f"{value:.0%}", ha="center", va="center", color=shade, fontsize=12)
for corner in ((-0.5, -0.5), (0.5, 1.5)):
    frame = plt.Rectangle(corner, 1, 2, fill=False, color="#e8743b", lw=3, clip_on=False, zorder=3)
    ax.add_patch(frame)
ax.set_xticks(range(len(worlds)), list(worlds))
ax.set_yticks(range(len(learners)), list(learners))
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()
