"""
How far is a classifier from the best possible one?
===================================================

Which instance makes a bag positive is a choice, and all choices together are too many to try. A
quick search improves its choices step by step, and where it ends depends on where it began. Branch
and bound closes in on the best possible classifier from both sides, until they meet.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag.datasets import make_any
from mixedbag.disjunctive import ExactBagMarginSVC, SparseBagMarginSVC

data = make_any(n_bags=30, n_features=6, size=(4, 8), separation=1.5, random_state=0)
setting = {"C": 5.0, "fit_intercept": False}
best = ExactBagMarginSVC(**setting, random_state=0).fit(data.bags, data.y)
ends = []
for start in range(60):
    quick = SparseBagMarginSVC(**setting, init="random", n_init=1, random_state=start)
    ends.append(quick.fit(data.bags, data.y).upper_bound_)
above = np.array(ends) / best.upper_bound_ - 1
print(f"60 random starts end {above.min():.1%} to {above.max():.0%} above the optimum")

# %%
# Left, the proof: nothing better exists below the orange line. Right, where sixty quick searches
# stopped: every dot is the classifier that one of them ended with.

figure, (proof, found) = plt.subplots(1, 2, figsize=(7.5, 3.8), sharey=True, width_ratios=(3, 2))
step, low, high = np.arange(len(best.history_)), *best.history_.T[1:]
proof.fill_between(step, low, high, step="post", color="#3564c7", alpha=0.12, lw=0)
proof.step(step, high, where="post", color="#3564c7", lw=2)
proof.step(step, low, where="post", color="#e8743b", lw=2)
proof.text(5.2, 73.5, "best classifier found so far", color="#3564c7")
proof.text(5.6, 60.6, "no classifier is below", color="#e8743b")
proof.set(xlabel="steps of the proof", ylabel="objective", ylim=(58, 93))

height = best.upper_bound_ * (1 + above)
found.plot(np.random.default_rng(0).uniform(-1, 1, 60), height, "o", color="#3564c7", alpha=0.5)
found.axhline(best.upper_bound_, color="#e8743b", lw=2)
found.text(0, best.upper_bound_ - 0.8, "best possible", color="#e8743b", ha="center", va="top")
found.set(xlabel="sixty quick searches", xticks=[], xlim=(-1.6, 1.6))
plt.show()
