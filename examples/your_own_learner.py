"""
How do I write a learner of my own?
===================================

Two methods: one that learns, one that scores instances. The base class brings the rest: every form
of input, labels, weights, both levels of answers, and errors that name the bag.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag.base import BagClassifier
from mixedbag.datasets import make_any
from mixedbag.pooling import bag_argmax


class FarthestWitness(BagClassifier):
    """Positive is what lies nearer to the mean witness than to the mean negative instance."""

    _rules = ("any",)

    def _fit(self, bags, sign, weight):
        negative = bags.spread(sign) < 0
        self.negative_mean_ = bags.instances[negative].mean(axis=0)
        distance = np.linalg.norm(bags.instances - self.negative_mean_, axis=1)
        self.witness_ = bag_argmax(distance, bags.offsets)[sign > 0]
        self.witness_mean_ = bags.instances[self.witness_].mean(axis=0)

    def _score_instances(self, bags):
        to_negative = np.linalg.norm(bags.instances - self.negative_mean_, axis=1)
        return to_negative - np.linalg.norm(bags.instances - self.witness_mean_, axis=1)


data = make_any(n_bags=60, n_features=2, separation=5.0, random_state=4)
model = FarthestWitness().fit(data.bags, data.y)
print(f"bags named right: {model.score(data.bags, data.y):.2f}")

# %%
# Its world: where instances count as positive, and the witness it took from each positive bag.

low, high = data.bags.instances.min(axis=0) - 0.5, data.bags.instances.max(axis=0) + 0.5
x, y = np.meshgrid(np.linspace(low[0], high[0], 200), np.linspace(low[1], high[1], 200))
field = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
figure, ax = plt.subplots(figsize=(6, 4.4))
ax.contourf(x, y, field, levels=[-99, 0, 99], colors=["#dfe7f7", "#fbe3d6"])
ax.plot(*data.bags.instances.T, ".", color="#7a7f87", ms=4, label="instances")
ax.plot(*data.bags.instances[model.witness_].T, "o", mfc="none", color="#e8743b", label="witnesses")
ax.set(xlabel="first feature", ylabel="second feature")
ax.legend(frameon=False)
plt.show()
