"""The register: exactly what a saved model may hold, by names that outlive any move of a file.

A model file names types. The name of a learner is that of its package and class
(``mixedbag.boosting.ExpRegBoost``, wherever in the package it lives), so a new learner is
registered by the ``__all__`` of its package. A helper that learners keep has a name of its own in
``HELPERS``, beside its present home: **who moves a helper edits that one line**. Files of older
releases name homes of their time; ``OLD_NAMES`` says what these are called now and only grows.

Nothing is imported before a name is found here.
"""

import importlib

from mixedbag.learners import FAMILIES, OPTIONAL

# What learners keep inside: stable name → present home.
HELPERS = {
    "AggregateTree": "mixedbag.aggregate._growth.Tree",
    "AmountBlend": "mixedbag.comparison._blend.AmountBlend",
    "AmountModel": "mixedbag.comparison._models.AmountModel",
    "AnyAccount": "mixedbag.comparison._any_account.AnyAccount",
    "AsItIs": "mixedbag.comparison._calibration.AsItIs",
    "BagMeanRegressor": "mixedbag.comparison._baselines.BagMeanRegressor",
    "Calibration": "mixedbag.comparison._calibration.Calibration",
    "ClassBlend": "mixedbag.comparison._blend.ClassBlend",
    "ClassModel": "mixedbag.comparison._models.ClassModel",
    "CountAccount": "mixedbag.comparison._accounts.CountAccount",
    "EstimatorEnsemble": "mixedbag.boosting._search.EstimatorEnsemble",
    "EventAccount": "mixedbag.comparison._accounts.EventAccount",
    "ExtraTrees": "mixedbag._forests.ExtraTrees",
    "InstanceOdds": "mixedbag._account.any.InstanceOdds",
    "LinearFeatures": "mixedbag.disjunctive._features.LinearFeatures",
    "Origin": "mixedbag._origin.Origin",
    "RBFFeatures": "mixedbag.disjunctive._features.RBFFeatures",
    "RandomForest": "mixedbag._forests.RandomForest",
    "Rising": "mixedbag.comparison._calibration.Rising",
    "ShareAccount": "mixedbag.comparison._accounts.ShareAccount",
    "SpreadAny": "mixedbag._spread.SpreadAny",
    "SpreadCounts": "mixedbag._spread.SpreadCounts",
    "SpreadMajority": "mixedbag._spread.SpreadMajority",
    "SpreadTotals": "mixedbag._spread.SpreadTotals",
    "StumpEnsemble": "mixedbag.boosting._grid.StumpEnsemble",
    "SumAccount": "mixedbag.comparison._accounts.SumAccount",
    "ThresholdedRBFFeatures": "mixedbag.disjunctive._features.ThresholdedRBFFeatures",
    "WeightedEstimator": "mixedbag.boosting._search.WeightedEstimator",
}

# Public classes outside the families of learners. None of scikit-learn's runs a function of the
# file's choosing or, after the checks of `_model_checks`, reads memory that is not its own.
_CLASSES = {
    "mixedbag.bags": ("Bags",),
    "mixedbag.pooling": (
        *("ISR", "LogMeanExp", "LogSumExp", "Majority", "Max", "Mean", "MeanProbability"),
        *("NoisyOr", "OWA", "Sum"),
    ),
    "mixedbag.wrappers": ("BagFeatures", "BagPipeline", "InstanceWise", "SpreadLabels"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.dummy": ("DummyClassifier", "DummyRegressor"),
    "sklearn.ensemble": (
        *("BaggingClassifier", "ExtraTreesClassifier", "ExtraTreesRegressor"),
        *("RandomForestClassifier", "RandomForestRegressor"),
    ),
    "sklearn.feature_selection": ("SelectKBest", "VarianceThreshold"),
    "sklearn.impute": ("SimpleImputer",),
    "sklearn.linear_model": (
        *("ElasticNet", "Lasso", "LinearRegression", "LogisticRegression"),
        *("Ridge", "RidgeClassifier"),
    ),
    "sklearn.naive_bayes": ("GaussianNB",),
    "sklearn.neighbors": (
        *("BallTree", "KDTree", "KNeighborsClassifier", "KNeighborsRegressor"),
        "NearestNeighbors",
    ),
    "sklearn.pipeline": ("Pipeline",),
    "sklearn.preprocessing": (
        *("LabelBinarizer", "LabelEncoder", "MaxAbsScaler", "MinMaxScaler", "Normalizer"),
        *(
            "FunctionTransformer",
            "OneHotEncoder",
            "PowerTransformer",
            "QuantileTransformer",
            "RobustScaler",
        ),
        "StandardScaler",
    ),
    "sklearn.svm": ("SVC", "SVR", "LinearSVC", "LinearSVR"),
    "sklearn.tree": (
        *("DecisionTreeClassifier", "DecisionTreeRegressor"),
        *("ExtraTreeClassifier", "ExtraTreeRegressor"),
    ),
}
CLASSES = frozenset(f"{home}.{name}" for home, names in _CLASSES.items() for name in names)

# Those that refuse numbers they have not met, however sound they are.
PARTICULAR = frozenset(["sklearn.preprocessing.OneHotEncoder"])

# Functions that an estimator may refer to; loading never calls them.
FUNCTIONS = frozenset(
    f"sklearn.feature_selection.{name}" for name in ("chi2", "f_classif", "f_regression")
)

# Distances of neighbour searches: the trees are built anew with the metric of this name.
METRICS = {
    "sklearn.metrics.BrayCurtisDistance64": "braycurtis",
    "sklearn.metrics.CanberraDistance64": "canberra",
    "sklearn.metrics.ChebyshevDistance64": "chebyshev",
    "sklearn.metrics.EuclideanDistance64": "euclidean",
    "sklearn.metrics.HammingDistance64": "hamming",
    "sklearn.metrics.ManhattanDistance64": "manhattan",
    "sklearn.metrics.MinkowskiDistance64": "minkowski",
}

# Where helpers lived in released versions. Never edit a line: add one.
OLD_NAMES = {
    "mixedbag._spread.SpreadAny": "mixedbag._saved.SpreadAny",
    "mixedbag._spread.SpreadCounts": "mixedbag._saved.SpreadCounts",
    "mixedbag._spread.SpreadMajority": "mixedbag._saved.SpreadMajority",
    "mixedbag._spread.SpreadTotals": "mixedbag._saved.SpreadTotals",
    "mixedbag.aggregate._growth.Tree": "mixedbag._saved.AggregateTree",
    "mixedbag.boosting.estimators.EstimatorEnsemble": "mixedbag._saved.EstimatorEnsemble",
    "mixedbag.boosting.estimators.WeightedEstimator": "mixedbag._saved.WeightedEstimator",
    "mixedbag.boosting.stumps.StumpEnsemble": "mixedbag._saved.StumpEnsemble",
    "mixedbag.comparison.baselines.BagMeanRegressor": "mixedbag._saved.BagMeanRegressor",
    "mixedbag.comparison.blend.AmountBlend": "mixedbag._saved.AmountBlend",
    "mixedbag.comparison.blend.ClassBlend": "mixedbag._saved.ClassBlend",
    "mixedbag.comparison.questions.AsItIs": "mixedbag._saved.AsItIs",
    "mixedbag.comparison.questions.Calibration": "mixedbag._saved.Calibration",
    "mixedbag.disjunctive.features.LinearFeatures": "mixedbag._saved.LinearFeatures",
    "mixedbag.disjunctive.features.RBFFeatures": "mixedbag._saved.RBFFeatures",
    "mixedbag.disjunctive.features.ThresholdedRBFFeatures": (
        "mixedbag._saved.ThresholdedRBFFeatures"
    ),
}


def public_name(name):
    """The stable name of a type that a file calls `name`: its package and class."""
    root, *rest = name.split(".")
    if root in ("mixedbag", "sklearn", "scipy", "numpy") and len(rest) > 2:
        return OLD_NAMES.get(name, f"{root}.{rest[0]}.{rest[-1]}")
    return OLD_NAMES.get(name, name)


def name_to_save(name):
    """The stable name under which a type that lives at `name` now is written to a file."""
    for helper, home in HELPERS.items():
        if name == home:
            return f"{__name__}.{helper}"
    short = public_name(name)
    return short if is_registered(short) or short in FUNCTIONS else name


def is_registered(name):
    """Whether a model may hold objects of the class with this stable name."""
    package, _, last = name.rpartition(".")
    if package == __name__:
        return last in HELPERS
    root, _, family = package.partition(".")
    if root == "mixedbag" and family in (*FAMILIES, *OPTIONAL):
        return last in importlib.import_module(package).__all__
    return name in CLASSES


def find(name):
    """What has this stable name; import it only once `is_registered` or `FUNCTIONS` knows it."""
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


def __getattr__(name):
    # So that skops too finds the helpers of a file by their stable names.
    if name in HELPERS:
        return find(HELPERS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
