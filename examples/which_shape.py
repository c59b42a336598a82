"""
Which shape made the molecule active?
=====================================

A molecule takes many shapes and binds if one of them fits. The assay says which molecules bind,
never which shape did it. EM-DD looks for one point that every active molecule comes close to, and
for the features that matter there.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag import Bags
from mixedbag.classics import EMDD

rng = np.random.default_rng(0)
site, reach = (
    np.array([2.1, 0.7]),
    0.35,
)  # two angles of the shape that fits, unknown to the learner

molecules = [rng.uniform(0, [3.1, 3.1], size=(rng.integers(4, 12), 2)) for _ in range(80)]
shapes = np.concatenate(molecules)
fits = np.linalg.norm(shapes - site, axis=1) < reach
bags = Bags.from_list(molecules)
active = np.logical_or.reduceat(fits, bags.offsets[:-1]).astype(int)
print(
    f"{active.sum()} of {len(bags)} molecules are active; {fits.sum()} of {len(shapes)} shapes fit"
)

model = EMDD(n_init=20, random_state=0).fit(bags, active)
score = model.decision_function_instances(bags)

# %%
# Every dot is a shape, darker the more the model takes it to fit. The circle is the truth.

figure, ax = plt.subplots(figsize=(5.6, 4.6))
dots = ax.scatter(*shapes.T, c=np.clip(score, -6, 3), s=22, cmap="YlOrBr", edgecolor="#99999960")
ax.add_patch(
    plt.Circle(site, reach, fill=False, color="#3564c7", lw=2, label="the shape that fits")
)
best = shapes[np.argmax(score)]
ax.plot(*best, "x", color="#3564c7", ms=9, mew=2, label="most likely to fit, says the model")
ax.set(xlabel="first angle", ylabel="second angle", aspect="equal")
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2, fontsize=8, frameon=False)
figure.colorbar(dots, label="score of the shape", shrink=0.8)
plt.show()
