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
from mixedbag.uncertainty import bootstrap

rng = np.random.default_rng(0)
leaning = np.repeat(rng.normal(45, 12, 150), 12)  # precincts differ, or nothing can be learned
age = np.clip(leaning + rng.normal(0, 10, 1800), 18, 90)
chance = 1 / (1 + np.exp(-(age - 50) / 7))
says_yes = rng.uniform(size=1800) < chance
precincts = Bags(((age - 50) / 15)[:, None], np.arange(0, 1801, 12))
yes = np.add.reduceat(says_yes.astype(int), precincts.offsets[:-1])

learner = AggregateMLPClassifier(hidden=4, alpha=0.1, n_networks=1, random_state=0)
models = bootstrap(learner, precincts, yes, n_draws=20, level=0.9)
grid = np.linspace(20, 85, 60)
answer = models.instances(((grid - 50) / 15)[:, None])
right = ((age > 50) == says_yes).mean()
print(f"even who knew the true curve would be right about {right:.0%} of the voters only")

# %%
# The chance of a yes by age. No single vote was seen; below, the ages of the voters.

figure, ax = plt.subplots(figsize=(6.5, 4))
ax.fill_between(grid, answer.low, answer.high, color="#3564c7", alpha=0.18, lw=0)
ax.plot(grid, 1 / (1 + np.exp(-(grid - 50) / 7)), "--", color="#e8743b", lw=2)
ax.plot(grid, answer.estimate, color="#3564c7", lw=2)
ax.plot(age[::6], np.full(300, -0.04), "|", color="#7a7f87", ms=6, alpha=0.5, clip_on=False)
ax.text(62, 0.72, "learned from counts,\nwith a 90 % interval", color="#3564c7")
ax.text(43, 0.37, "the truth", color="#e8743b", ha="right")
ax.set(xlabel="age", ylabel="chance of a yes", ylim=(-0.08, 1.02), xlim=(18, 87))
ax.yaxis.set_major_formatter("{x:.0%}")
plt.show()
