"""
What does a leak look like?
===========================

Two ways to a figure that nobody will see again. Here the features are pure noise: an honest
accuracy is one half. But positive bags are larger, and several bags come from one patient.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from mixedbag import Bags
from mixedbag.model_selection import BagStratifiedKFold
from mixedbag.wrappers import BagFeatures

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(40), 4)
y = (np.arange(40) % 2)[patient]  # four bags a patient, all with the patient's label
forest = make_pipeline(BagFeatures(), RandomForestClassifier(40, random_state=0))


def noise(sizes, person=0.0):
    """Bags of noise, in which a patient may have a level of his own."""
    level = person * rng.normal(size=(40, 5))
    return Bags.from_list([rng.normal(size=(m, 5)) + level[p] for m, p in zip(sizes, patient)])


honest = np.full(160, 10)
larger = np.where(y == 1, 14, 8) + rng.integers(-1, 2, 160)
cases = {
    "nothing leaks": (noise(honest), None),
    "positive bags\nare larger": (noise(larger), None),
    "patients on\nboth sides": (noise(honest, person=1.5), None),
    "the same, kept\ntogether": (noise(honest, person=1.5), patient),
}
accuracy = {}
for name, (bags, groups) in cases.items():
    folds = BagStratifiedKFold(5, shuffle=True, random_state=0)
    accuracy[name] = cross_val_score(forest, bags, y, cv=folds.split(bags, y, groups))

# %%
# A high bar is good news only where nothing leaks. ``mixedbag compare --group patient`` keeps
# patients together; `BagSizeDisplay` shows whether sizes give labels away.

figure, ax = plt.subplots(figsize=(7, 3.8))
means = [scores.mean() for scores in accuracy.values()]
bars = ax.bar(list(accuracy), means, color=["#3564c7", "#d1495b", "#d1495b", "#3564c7"], width=0.6)
ax.bar_label(bars, fmt="{:.0%}")
ax.axhline(0.5, color="#7a7f87", ls="--", lw=1, label="what noise deserves")
ax.legend(frameon=False, loc="upper right")
ax.set(ylabel="accuracy in cross-validation", ylim=(0, 1.08))
plt.show()
