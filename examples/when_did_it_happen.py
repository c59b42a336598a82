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
# One recording: the signal, what truly happened, and what the model says from labels of whole
# recordings.

share = np.add.reduceat(data.instance_labels, data.bags.offsets[:-1]) / data.bags.sizes
bag = int(np.argmin(np.abs(share - 0.6)))
rows = data.bags.bag_of == bag
figure, (signal, truth) = plt.subplots(
    2, 1, figsize=(7.5, 4), sharex=True, height_ratios=(3, 1), layout="constrained"
)
signal.plot(data.bags[bag], lw=1)
signal.set(ylabel="channels")
truth.fill_between(
    np.arange(rows.sum()),
    data.instance_labels[rows],
    step="mid",
    color="#c3cad6",
    label="the truth",
)
truth.set(xlabel="sample", yticks=[], xlim=(0, rows.sum() - 1))
learned = truth.twinx()
learned.plot(scores[rows], color="#e8743b", lw=2, label="score, learned from labels of recordings")
learned.set(yticks=[])
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
