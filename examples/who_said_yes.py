"""Who in a precinct said yes, when only the count is known?

Every bag is a precinct, every instance a voter, and the label is the number of yes votes. The
learner recovers the voters' own answers from the counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from _picture import finish

from mixedbag import Bags
from mixedbag.aggregate import AggregateTreeClassifier

rng = np.random.default_rng(0)
voters = rng.uniform(-1, 1, size=(1200, 2))  # say, age and income
says_yes = (voters[:, 0] > 0.1) ^ (voters[:, 1] > 0.2)
precincts = Bags(voters, np.arange(0, 1201, 8))
yes = np.add.reduceat(says_yes.astype(int), precincts.offsets[:-1])

model = AggregateTreeClassifier(max_depth=4).fit(precincts, yes)
guess = model.predict_instances(precincts)
print(f"voters told right from counts alone: {(guess == says_yes).mean():.2f}")

figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for ax, answer, title in zip(axes, (says_yes, guess), ("the hidden votes", "learned from counts")):
    ax.scatter(*voters.T, c=answer, s=8, cmap="coolwarm")
    ax.set_title(title)
finish(figure)
