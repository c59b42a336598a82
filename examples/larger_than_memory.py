"""
What if the recordings do not fit into memory?
==============================================

A mixture of autoregressions learns from batches: each is seen once and forgotten
(``partial_fit``). After a few batches it comes close to a fit on everything.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import roc_auc_score

from mixedbag.datasets import make_sequences
from mixedbag.sequence import MARClassifier

data = make_sequences(n_bags=120, length=40, random_state=2)
test = data.bags[80:]
hidden = data.instance_labels[data.bags.offsets[80] :]

model = MARClassifier(n_states=6, order=2, n_init=1, max_iter=10, random_state=0)
reached = []
for start in range(0, 80, 8):
    batch = slice(start, start + 8)
    model.partial_fit(data.bags[batch], data.y[batch], classes=[0, 1])
    reached.append(roc_auc_score(hidden, model.decision_function_instances(test)))
whole = MARClassifier(n_states=6, order=2, n_init=1, max_iter=10, random_state=0)
whole.fit(data.bags[:80], data.y[:80])
everything = roc_auc_score(hidden, whole.decision_function_instances(test))

# %%
# How well single samples are told apart, in recordings that were never seen.

figure, ax = plt.subplots(figsize=(6.5, 3.6))
ax.axhline(everything, color="#7a7f87", ls="--", lw=1)
ax.text(8, everything + 0.003, "all 80 recordings at once", color="#5d626a", va="bottom")
ax.plot(range(8, 81, 8), reached, "o-", color="#3564c7", lw=2)
ax.text(27, reached[2] - 0.012, "a batch at a time, each forgotten", color="#3564c7", va="top")
ax.set(xlabel="recordings seen", ylabel="AUC of single samples", ylim=(0.85, 1.005))
plt.show()
