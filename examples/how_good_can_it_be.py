"""
How far is a classifier from the best possible one?
===================================================

Choosing the instance that makes a bag positive is a combinatorial problem. Branch and bound solves
it exactly, and shows on the way how lower and upper bound close in.
"""

import matplotlib.pyplot as plt

from mixedbag.datasets import make_any
from mixedbag.disjunctive import ExactBagMarginSVC
from mixedbag.inspection import BoundsDisplay

data = make_any(n_bags=22, n_features=4, size=(3, 5), separation=1.5, random_state=0)
model = ExactBagMarginSVC(fit_intercept=False, time_limit=20, random_state=0)
model.fit(data.bags, data.y)
print(f"objective {model.upper_bound_:.3f}, proven to be at most {model.gap_:.1%} from the optimum")

# %%
# Between the lines lies whatever the best classifier can reach. When they meet, it is found.

figure, ax = plt.subplots(figsize=(6.5, 3.8))
BoundsDisplay.from_estimator(model, ax=ax)
ax.set_title("how the proof went")
plt.show()
