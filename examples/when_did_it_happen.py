"""
When in a recording did the activity happen?
============================================

Every bag is a stretch of motion, labelled by whether the activity takes most of it. The learner
finds the samples where it happens.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_sequences
from mixedbag.sequence import ARHMMClassifier

data = make_sequences(n_bags=30, length=150, random_state=0)
model = ARHMMClassifier(n_states=5, order=2, n_init=1, random_state=0).fit(data.bags, data.y)
scores = model.decision_function_instances(data.bags)
print(f"AUC of the samples: {roc_auc_score(data.instance_labels, scores):.2f}")

# %%
# One recording: its three channels, the score of every sample, learned from labels of
# whole recordings, and shaded what truly happened.

share = np.add.reduceat(data.instance_labels, data.bags.offsets[:-1]) / data.bags.sizes
bag = int(np.argmin(np.abs(share - 0.6)))
rows = data.bags.bag_of == bag
time, truth = np.arange(rows.sum()), data.instance_labels[rows] == 1

figure, (signal, learned) = plt.subplots(
    2, 1, figsize=(7.5, 4.2), sharex=True, height_ratios=(3, 2), layout="constrained"
)
for ax in (signal, learned):
    ax.fill_between(
        time, 0, 1, where=truth, transform=ax.get_xaxis_transform(), color="#e8743b", alpha=0.15,
        lw=0, step="mid",
    )  # fmt: skip
for channel, shade in zip(data.bags[bag].T, ("#1f3d7a", "#3564c7", "#8fb0ff")):
    signal.plot(time, channel, color=shade, lw=1)
signal.set(ylabel="three channels")
signal.set_title("shaded: where it truly happened", loc="left", color="#b9531f")
learned.plot(time, scores[rows], color="#e8743b", lw=2)
learned.set(xlabel="sample", ylabel="score", xlim=(0, time[-1]))
learned.set_title("where the model says it happened", loc="left", color="#b9531f")
plt.show()
