"""How far is a classifier from the best possible one?

Choosing the instance that makes a bag positive is a combinatorial problem. Branch and bound solves
it exactly, and shows on the way how lower and upper bound close in.
"""

from _picture import finish

from mixedbag.datasets import make_any
from mixedbag.disjunctive import ExactBagMarginSVC
from mixedbag.inspection import BoundsDisplay

data = make_any(n_bags=40, n_features=8, separation=1.5, random_state=0)
model = ExactBagMarginSVC(fit_intercept=False, time_limit=30, random_state=0)
model.fit(data.bags, data.y)
print(f"objective {model.upper_bound_:.3f}, proven to be at most {model.gap_:.1%} from the optimum")

display = BoundsDisplay.from_estimator(model)
finish(display.figure_)
