"""
Which tile of the photograph shows it?
======================================

Crops of a photograph are labelled by whether they show some of the flower. Cut into tiles, a crop
is a bag, and the learner tells where in the photograph the flower is, though nobody drew its
outline.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag import Bags
from mixedbag.boosting import ExpRegBoost
from mixedbag.wrappers import InstanceWise

photo = load_sample_image("flower.jpg")[:416, :640] / 255.0
side = 16  # of a tile, in pixels
grid = photo.reshape(26, side, 40, side, 3).transpose(0, 2, 1, 3, 4)
features = np.concatenate([grid.mean(axis=(2, 3)), grid.std(axis=(2, 3))], axis=2)
petal = (photo[..., 0] > 0.6) & (photo[..., 2] < 0.45)  # only to label the crops, and to check
shows = petal.reshape(26, side, 40, side).mean(axis=(1, 3)) > 0.5

rng = np.random.default_rng(0)
corners = np.column_stack([rng.integers(0, 23, 150), rng.integers(0, 36, 150)])
crops = Bags.from_list([features[i : i + 4, j : j + 5].reshape(-1, 6) for i, j in corners])
label = np.array([shows[i : i + 4, j : j + 5].any() for i, j in corners]).astype(int)

model = make_pipeline(InstanceWise(StandardScaler()), ExpRegBoost(n_rounds=40))
model.fit(crops, label)
tiles = Bags(features.reshape(-1, 6), [0, 26 * 40])
score = model[-1].decision_function_instances(model[:-1].transform(tiles)).reshape(26, 40)
print(f"{label.sum()} of {len(crops)} crops show the flower")

# %%
# What the labels of crops say of single tiles.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.imshow(photo)
for (i, j), positive in list(zip(corners, label))[:14]:
    colour = "#e8743b" if positive else "#3564c7"
    box = plt.Rectangle((j * side, i * side), 5 * side, 4 * side, fill=False, color=colour, lw=1.5)
    left.add_patch(box)
left.set_title("some crops: with the flower, and without")
right.imshow(photo)
veil = np.zeros((*score.shape, 4))
veil[..., 3] = np.where(score > 0, 0.0, 0.8)
right.imshow(veil, extent=(0, 640, 416, 0))
right.set_title("tiles that the model takes for flower")
for ax in (left, right):
    ax.axis("off")
plt.show()
