"""
When in a recording did the activity happen?
============================================

Every bag is a recording of motion, and somebody marked those in which they saw the activity: the
more of it there was, the likelier. Nobody said when. The learner finds the samples where it
happens, in recordings that it has not seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_sequences
from mixedbag.sequence import ARHMMClassifier

data = make_sequences(n_bags=80, length=120, omega=1.0, random_state=0)
learned, new = data.bags[:60], data.bags[60:]
truth = data.instance_labels[data.bags.offsets[60] :] == 1
model = ARHMMClassifier(n_states=6, order=2, n_init=1, random_state=0)
model.fit(learned, data.y[:60])
chance = model.predict_proba_instances(new)[:, 1]
print(f"{data.y[:60].sum()} of 60 recordings are marked")
print(f"AUC of the samples of 20 others: {roc_auc_score(truth, chance):.2f}")

# %%
# One of the new recordings: its three channels, how probable the activity is sample by sample, and
# shaded what truly happened.

share = np.add.reduceat(truth, new.offsets[:-1]) / new.sizes
bag = int(np.argmin(np.abs(share - 0.5)))
rows = new.bag_of == bag
time = np.arange(rows.sum())

figure, (signal, said) = plt.subplots(
    2, 1, figsize=(7.5, 4.2), sharex=True, height_ratios=(3, 2), layout="constrained"
)
shaded = {"color": "#e8743b", "alpha": 0.15, "lw": 0, "step": "mid"}
for ax in (signal, said):
    ax.fill_between(time, 0, 1, where=truth[rows], transform=ax.get_xaxis_transform(), **shaded)
for channel, shade in zip(new[bag].T, ("#1f3d7a", "#3564c7", "#8fb0ff")):
    signal.plot(time, channel, color=shade, lw=1)
signal.set(ylabel="three channels")
signal.set_title("shaded: where it truly happened", loc="left", color="#b9531f")
said.plot(time, chance[rows], color="#e8743b", lw=2)
said.set(xlabel="sample", ylabel="probability", ylim=(-0.03, 1.03), xlim=(0, time[-1]))
said.set_title("where the model says it happened", loc="left", color="#b9531f")
plt.show()
