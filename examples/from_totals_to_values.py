"""
What does one item cost, when only the bill is known?
=====================================================

Every bag is a bill of several items, and the label is its total. The learners find the value of a
single item from totals alone.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag import Bags
from mixedbag.aggregate import AggregateForestRegressor, AggregateMLPRegressor, AggregateSVR

rng = np.random.default_rng(0)
weight = rng.uniform(0, 4, 1500)  # of an item
value = 2 + 3 * np.sin(1.6 * weight) + weight
bills = Bags(weight[:, None], np.arange(0, 1501, 6))
total = np.add.reduceat(value + rng.normal(0, 0.4, 1500), bills.offsets[:-1])

models = {
    "AggregateSVR": AggregateSVR(C=100, kernel="rbf", gamma=1.0),
    "AggregateMLPRegressor": AggregateMLPRegressor(
        hidden=8, alpha=1e-3, max_iter=500, random_state=0
    ),
    "AggregateForestRegressor": AggregateForestRegressor(20, max_depth=6, random_state=0),
}
grid = np.linspace(0, 4, 200)[:, None]

# %%
# 250 totals of six items each, drawn as grey dots at the means of their items: no dot shows the
# curve, and yet it can be learned from them.

figure, ax = plt.subplots(figsize=(6.5, 4))
ax.plot(grid, 2 + 3 * np.sin(1.6 * grid) + grid, color="black", lw=6, alpha=0.15, label="the truth")
for (name, model), colour in zip(models.items(), ("#3564c7", "#e8743b", "#2a9d78")):
    answer = model.fit(bills, total).predict_instances(grid)
    ax.plot(grid, answer, lw=1.6, color=colour, label=name)
means = np.add.reduceat(weight, bills.offsets[:-1]) / 6
ax.plot(means, total / 6, ".", color="#7a7f87", ms=4, alpha=0.5, label="a bill, by its means")
ax.set(xlabel="weight of an item", ylabel="its value", ylim=(0, 8.8))
ax.legend(frameon=False, fontsize=9, ncols=2, loc="upper center")
plt.show()
