"""
Why not give every instance its bag's label?
============================================

Because the labels of the minority in a bag are wrong. Boosted on such labels, AdaBoost goes on to
learn them; SBoost lets go of an instance when its session is right.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from mixedbag.boosting import SBoost
from mixedbag.datasets import make_majority
from mixedbag.pooling import Mean

data = make_majority(n_bags=160, size=10, n_features=6, separation=1.2, random_state=1)
train, test = np.arange(80), np.arange(80, 160)
rounds = 40
tree = DecisionTreeClassifier(max_depth=3, random_state=0)
seen, unseen = data.bags[train], data.bags[test]

spread = AdaBoostClassifier(tree, n_estimators=rounds, random_state=0)
spread.fit(seen.instances, seen.spread(data.y[train]))
sboost = SBoost(tree, n_rounds=rounds, random_state=0).fit(seen, data.y[train])


def error(votes):
    """Sessions named wrongly, from the share of instances that say 1."""
    return np.mean((Mean().value(votes.astype(float), unseen.offsets) > 0.5) != data.y[test])


curves = {
    "AdaBoost on spread labels": [error(v) for v in spread.staged_predict(unseen.instances)],
    "SBoost": [np.mean((s > 0) != data.y[test]) for s in sboost.staged_decision_function(unseen)],
}

# %%
# Errors on sessions that were not trained on, round by round.

figure, ax = plt.subplots(figsize=(6.5, 3.8))
for (name, curve), colour in zip(curves.items(), ("#d1495b", "#3564c7")):
    ax.plot(range(1, len(curve) + 1), curve, color=colour, lw=2)
    ax.text(40, max(curve[25:]) + 0.012, name, color=colour, ha="right")
ax.set(xlabel="rounds of boosting", ylabel="sessions named wrongly", ylim=(0, 0.42))
ax.yaxis.set_major_formatter("{x:.0%}")
plt.show()
