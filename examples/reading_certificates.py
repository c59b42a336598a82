"""
What does a certificate say?
============================

LNPBoost hands over a classifier and a proof: no classifier of its kind can have an objective below
the lower bound. How tight the proof is depends on how much an error costs.
"""

import matplotlib.pyplot as plt

from mixedbag.datasets import make_any
from mixedbag.disjunctive import LNPBoost

data = make_any(n_bags=24, n_features=4, size=(2, 5), separation=2.0, random_state=1)
costs = [0.1, 0.2, 0.5, 1.0, 2.0]
models = [
    LNPBoost(C=C, fit_intercept=False, n_rounds=15, n_init=2, time_limit=1.0, random_state=0)
    for C in costs
]
for model in models:
    model.fit(data.bags, data.y)
    print(f"C = {model.C}: within {model.gap_:.1%} of the best possible")

# %%
# The objective of each classifier as a bar from what is proven impossible to what was found. Where
# the bar is a line, the classifier is proven best.

figure, ax = plt.subplots(figsize=(6.5, 3.6))
for place, model in enumerate(models):
    low, high = model.lower_bound_, model.upper_bound_
    ax.plot([low, high], [place, place], color="#e8743b", lw=9, solid_capstyle="butt")
    ax.plot([0, low], [place, place], color="#dfe3ea", lw=9, solid_capstyle="butt")
    ax.annotate(f" gap {model.gap_:.1%}", (high, place), va="center", fontsize=9)
ax.set_yticks(range(len(costs)), [f"C = {C}" for C in costs])
ax.set(xlabel="objective: grey is proven out of reach, orange is open", xlim=(0, None))
ax.margins(x=0.15)
plt.show()
