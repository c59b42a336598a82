"""
What does a certificate say?
============================

LNPBoost hands over a classifier and a proof: no classifier of its kind has an objective below the
lower bound. Bags of one instance leave no doubt. The more instances a bag holds, the more choices
there are, and the more room the proof leaves.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag import Bags
from mixedbag.datasets import make_any
from mixedbag.disjunctive import LNPBoost

data = make_any(n_bags=30, n_features=4, size=8, separation=1.5, random_state=1)
witness_first = np.argsort(data.bags.bag_of * 2 - data.instance_labels, kind="stable")
rows = data.bags.instances[witness_first].reshape(30, 8, 4)  # a positive bag keeps its witness

sizes = [1, 2, 3, 4, 6, 8]
models = []
for size in sizes:
    bags = Bags(rows[:, :size].reshape(-1, 4), np.arange(0, 30 * size + 1, size))
    model = LNPBoost(fit_intercept=False, n_rounds=10, n_init=2, random_state=0)
    models.append(model.fit(bags, data.y))
    print(f"bags of {size}: {model.lower_bound_:.2f} ≤ best possible ≤ {model.upper_bound_:.2f}")

# %%
# The objective of each classifier is the right end of its bar. Grey is proven to be out of reach;
# what is orange nobody knows. ``gap_`` is the orange share.

figure, ax = plt.subplots(figsize=(6.5, 3.6))
gaps = np.array([model.gap_ for model in models])
ax.barh(range(len(sizes)), 1 - gaps, color="#dfe3ea", height=0.6)
ax.barh(range(len(sizes)), gaps, left=1 - gaps, color="#e8743b", height=0.6)
for place, gap in enumerate(gaps):
    ax.text(1.002, place, f"{gap:.1%} open" if gap > 5e-4 else "proven best", va="center")
ax.set_yticks(range(len(sizes)), [f"bags of {size}" for size in sizes])
ax.invert_yaxis()
ax.set(xlim=(0.9, 1.0), xlabel="objective, as a share of the one that was found")
ax.xaxis.set_major_formatter("{x:.0%}")
ax.spines["right"].set_visible(False)
plt.show()
