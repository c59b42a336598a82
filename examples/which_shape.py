"""
Which shape made the molecule active?
=====================================

A molecule takes many shapes and binds if one of them fits. The assay says which molecules bind,
never which shape did it. EM-DD looks for one point that every active molecule comes close to, and
for the features that matter there.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from mixedbag import Bags
from mixedbag.classics import EMDD

rng = np.random.default_rng(0)
site, reach = np.array([2.1, 0.7]), 0.35  # two angles of the shape that fits: nobody told

molecules = [rng.uniform(0, [3.1, 3.1], size=(rng.integers(4, 12), 2)) for _ in range(80)]
shapes = np.concatenate(molecules)
fits = np.linalg.norm(shapes - site, axis=1) < reach
bags = Bags.from_list(molecules)
active = np.logical_or.reduceat(fits, bags.offsets[:-1]).astype(int)
print(f"{active.sum()} of {len(bags)} molecules are active")
print(f"{fits.sum()} of {len(shapes)} shapes fit, and none of them is marked")

model = EMDD(n_init=20, random_state=0).fit(bags, active)
score = model.decision_function_instances(bags)

# %%
# Every dot is a shape of some molecule, the warmer the more the model takes it to fit. The ring is
# the truth.

figure, ax = plt.subplots(figsize=(6, 5))
warm = LinearSegmentedColormap.from_list("warm", ["#d5dae3", "#f3c9a8", "#e8743b", "#a63c0c"])
order = np.argsort(score)  # the warmest on top
dots = ax.scatter(*shapes[order].T, c=np.clip(score[order], -6, 2), s=26, cmap=warm, lw=0)
ax.add_patch(plt.Circle(site, reach, fill=False, color="#3564c7", lw=2))
white = {"facecolor": "white", "alpha": 0.8, "lw": 0, "pad": 1}
ax.text(2.1, 1.13, "these fit", color="#3564c7", ha="center", bbox=white)
ax.set(xlabel="first angle", ylabel="second angle", aspect="equal")
figure.colorbar(dots, label="score of the shape", shrink=0.7)
plt.show()
