"""
Which images made a bag of digits positive?
===========================================

Bags hold a handful of handwritten digits; a bag is positive if one of them is a 9. No image is
labelled, yet the learner finds the nines.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from mixedbag.datasets import load_digits_bags
from mixedbag.margin import BagMarginSVC

data = load_digits_bags(random_state=0)
train, test, y_train, y_test = train_test_split(
    data.bags, data.y, stratify=data.y, test_size=0.3, random_state=0
)
model = BagMarginSVC(kernel="rbf").fit(train, y_train)
print(f"accuracy on unseen bags: {model.score(test, y_test):.2f}")

# %%
# Four bags that contain a 9, each with its images ranked by their scores: the strongest first.

shown = [i for i in range(len(test)) if y_test[i] == 1][:4]
figure, axes = plt.subplots(len(shown), 6, figsize=(7, 5))
for row, i in zip(axes, shown):
    scores = model.decision_function_instances(test[[i]])
    for rank, ax in enumerate(row):
        place = scores.argsort()[::-1][rank]
        ax.imshow(test[i][place].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[], xlabel=f"{scores[place]:+.1f}")
        positive = scores[place] > 0
        for side in ax.spines.values():
            side.set(
                visible=True, color="#e8743b" if positive else "#c9ccd1", lw=3 if positive else 1
            )
figure.suptitle("four bags with a 9; framed: what the learner takes for a 9")
plt.show()
