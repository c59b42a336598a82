"""
Who in a precinct said yes, when only the count is known?
=========================================================

Every bag is a precinct, every instance a voter, and the label is the number of yes votes. The
learner recovers how the answer depends on the voter. Precincts drawn again and again, with
replacement, say how sure one can be.
"""

import matplotlib.pyplot as plt
import numpy as np

from mixedbag import Bags
from mixedbag.aggregate import AggregateMLPClassifier

rng = np.random.default_rng(0)
leaning = np.repeat(
    rng.normal(45, 12, 150), 12
)  # precincts differ by age, or nothing can be learned
age = np.clip(leaning + rng.normal(0, 10, 1800), 18, 90)
chance = 1 / (1 + np.exp(-(age - 50) / 7))
says_yes = rng.uniform(size=1800) < chance
precincts = Bags(((age - 50) / 15)[:, None], np.arange(0, 1801, 12))
yes = np.add.reduceat(says_yes.astype(int), precincts.offsets[:-1])

grid = np.linspace(20, 85, 60)
curves = []
for draw in range(20):
    drawn = np.arange(150) if draw == 0 else rng.integers(0, 150, 150)
    model = AggregateMLPClassifier(hidden=4, alpha=0.1, n_networks=1, random_state=0)
    model.fit(precincts[drawn], yes[drawn])
    curves.append(model.predict_proba(((grid - 50) / 15)[:, None])[:, 1])
right = ((age > 50) == says_yes).mean()
print(f"even who knew the true curve would be right about {right:.0%} of the voters only")

# %%
# The chance of a yes by age. No single vote was seen.

figure, ax = plt.subplots(figsize=(6.5, 4))
low, high = np.quantile(curves[1:], [0.05, 0.95], axis=0)
ax.fill_between(grid, low, high, color="#3564c7", alpha=0.2, label="90 % of draws of precincts")
ax.plot(grid, curves[0], color="#3564c7", lw=2, label="learned from counts")
ax.plot(grid, 1 / (1 + np.exp(-(grid - 50) / 7)), "--", color="#e8743b", lw=2, label="the truth")
ax.set(xlabel="age", ylabel="chance of a yes", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()
