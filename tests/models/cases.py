"""Every kind of model that people may have saved: each learner, wrapper and blend, on tiny bags."""

import csv
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mixedbag import Bags, compare
from mixedbag import boosting as boost
from mixedbag import pooling as pool
from mixedbag.aggregate import (
    AggregateKNeighborsClassifier,
    AggregateKNeighborsRegressor,
    AggregateMLPClassifier,
    AggregateMLPRegressor,
    AggregateSVC,
    AggregateSVR,
)
from mixedbag.classics import (
    CitationKNN,
    MIGraphSVC,
    MILogisticRegression,
    SetKernelSVC,
)
from mixedbag.comparison import fit_best_setting
from mixedbag.datasets import read
from mixedbag.disjunctive import (
    DPBoost,
    ExactBagMarginSVC,
    LNPBoost,
    SparseBagMarginSVC,
    TransductiveClassifier,
)
from mixedbag.margin import BagMarginSVC, InstanceMarginSVC
from mixedbag.sequence import MARClassifier, SlidingWindows
from mixedbag.testing import example_learners, toy_problem
from mixedbag.wrappers import BagFeatures, InstanceWise, SpreadLabels

SMALL = {"n_estimators": 4, "random_state": 0}


class Case(NamedTuple):
    """A fitted model and bags to ask it about."""

    name: str
    model: object
    bags: Bags


def cases():
    """Fit and yield every case; a name is used once."""
    yield from _learners()
    yield from _settings()
    yield from _wrapped()
    yield from _blends()


def answers(model, bags):
    """What a model says at both levels, by method; sequences of classes as they are."""
    said = {}
    for method in ("predict", "decision_function", "predict_proba"):
        for name in (method, f"{method}_instances"):
            if hasattr(model, name):
                said[name] = np.asarray(getattr(model, name)(bags))
    return said


def _learners():
    """Every learner as the tests run it: two labels, more, text labels, sparse, float32, names."""
    for learner in example_learners():
        name = type(learner).__name__
        problem = toy_problem(learner)
        bags = _named(problem.bags)
        yield Case(name, clone(learner).fit(bags, problem.y), bags)
        if "sum" in learner._rules:
            if learner._accepts_sparse:
                yield _sparse(name, learner, problem)
            continue
        three = toy_problem(learner, n_classes=3)
        yield Case(f"{name}-three", clone(learner).fit(*three), three.bags)
        if "count" not in learner._rules:
            texts = np.array(["inert", "potent"], dtype=object)[problem.y]
            yield Case(f"{name}-text", clone(learner).fit(problem.bags, texts), problem.bags)
        if learner._accepts_sparse:
            yield _sparse(name, learner, problem)


def _sparse(name, learner, problem):
    bags = problem.bags.with_instances(sparse.csr_array(problem.bags.instances))
    return Case(f"{name}-sparse", clone(learner).fit(bags, problem.y), bags)


def _settings():
    """Settings that put other types into the model."""
    fast = {"n_init": 2, "random_state": 0}
    for kernel in ("linear", "poly", "rbf"):
        for kind in (BagMarginSVC, InstanceMarginSVC, MIGraphSVC, SetKernelSVC):
            yield _fitted(f"{kind.__name__}-{kernel}", kind(kernel=kernel))
        svr, svc = AggregateSVR(kernel=kernel), AggregateSVC(kernel=kernel, **fast)
        yield _fitted(f"AggregateSVR-{kernel}", svr)
        yield _fitted(f"AggregateSVC-{kernel}", svc)
    for kind in (BagMarginSVC, InstanceMarginSVC):
        yield _fitted(f"{kind.__name__}-squared", kind(kernel="linear", loss="squared_hinge"))
        yield _fitted(f"{kind.__name__}-landmarks", kind(n_components=5, random_state=0))
        yield _fitted(f"{kind.__name__}-balanced", kind(class_weight="balanced"))
        yield _fitted(f"{kind.__name__}-weights", kind(class_weight={0: 1.0, 1: 2.0}))
    for features in ("linear", "rbf", "thresholded"):
        for kind in (ExactBagMarginSVC, LNPBoost, SparseBagMarginSVC, DPBoost):
            if kind is DPBoost and features == "linear":
                continue
            few = {"n_rounds": 3, "time_limit": 5.0}
            few = few if kind in (DPBoost, LNPBoost) else {"n_rounds": 2}
            model = kind(features=features, **few, **fast)
            yield _fitted(f"{kind.__name__}-{features}", model, n_bags=12)
    poolings = [
        pool.Max(),
        pool.LogSumExp(2.0),
        pool.LogMeanExp(3.0),
        pool.ISR(),
        pool.NoisyOr(),
        pool.OWA(0.3),
        pool.Mean(),
    ]
    for pooling in poolings:
        model = boost.PooledBoostingClassifier(pooling=pooling, n_rounds=5)
        yield _fitted(f"Pooled-{type(pooling).__name__}", model)
    for loss in (boost.ExponentialLoss(), boost.LogisticLoss()):
        for step in (boost.NewtonStep(), boost.PartitionStep(), boost.SignStep()):
            name = f"Pooled-{type(loss).__name__}-{type(step).__name__}"
            yield _fitted(name, boost.PooledBoostingClassifier(loss=loss, step=step, n_rounds=5))
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    yield _fitted("SBoost-tree", boost.SBoost(tree, n_rounds=5, random_state=0))
    base = DecisionTreeRegressor(max_depth=2, random_state=0)
    for kind in (boost.ExpRegBoost, boost.PooledBoostingClassifier):
        yield _fitted(f"{kind.__name__}-tree", kind(estimator=base, n_rounds=5))
    early = {"n_rounds": 20, "early_stopping": True, "validation_fraction": 0.3}
    yield _fitted("ExpRegBoost-early", boost.ExpRegBoost(**early, random_state=0))
    for pooling in ("any", "mean"):
        model = MILogisticRegression(pooling=pooling)
        yield _fitted(f"MILogisticRegression-{pooling}", model)
    for distance in ("minimal", "maximal", "average"):
        yield _fitted(f"CitationKNN-{distance}", CitationKNN(distance=distance))
    for kind in (AggregateKNeighborsClassifier, AggregateKNeighborsRegressor):
        for setting in ({"weights": "distance"}, {"metric": "manhattan"}):
            (value,) = setting.values()
            yield _fitted(f"{kind.__name__}-{value}", kind(**setting))
    for kind in (AggregateMLPClassifier, AggregateMLPRegressor):
        model = kind(hidden=3, solver="adam", max_iter=5, random_state=0)
        yield _fitted(f"{kind.__name__}-adam", model)
    for estimator in (ExactBagMarginSVC(**fast), LNPBoost(n_rounds=3, **fast)):
        labelled = toy_problem(estimator, n_bags=10)
        single = labelled.bags.instances[:4][:, None]
        bags = Bags.from_list([*(labelled.bags[i] for i in range(10)), *single])
        y = np.r_[labelled.y, [-1] * len(single)]
        model = TransductiveClassifier(estimator).fit(bags, y)
        yield Case(f"Transductive-{type(estimator).__name__}", model, bags)
    seeded = BagMarginSVC(kernel="linear", random_state=np.random.RandomState(0))
    yield _fitted("BagMarginSVC-RandomState", seeded)


def _wrapped():
    """Wrappers around scikit-learn's estimators, alone and in pipelines."""
    learner = MILogisticRegression()
    bags, y = toy_problem(learner)
    bags = _named(bags)
    gaps = bags.instances.copy()
    gaps[::7, 1] = np.nan
    gappy = bags.with_instances(gaps, bags.feature_names)
    for model in (
        StandardScaler(),
        MinMaxScaler(),
        MaxAbsScaler(),
        RobustScaler(),
        QuantileTransformer(n_quantiles=10),
        PCA(2),
        VarianceThreshold(),
        SelectKBest(k=2),
        SimpleImputer(strategy="median"),
    ):
        name = type(model).__name__
        data = gappy if isinstance(model, SimpleImputer) else bags
        steps = make_pipeline(InstanceWise(model), clone(learner))
        yield Case(f"InstanceWise-{name}", steps.fit(data, y), data)
    codes = bags.with_instances(np.round(bags.instances[:, :1]))
    onehot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_pipeline(InstanceWise(onehot), clone(learner))
    yield Case("InstanceWise-OneHotEncoder", steps.fit(codes, y), codes)
    classifiers = [
        LogisticRegression(),
        SVC(),
        SVC(kernel="linear", probability=False),
        LinearSVC(),
        GaussianNB(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(**SMALL),
        ExtraTreesClassifier(**SMALL),
    ]
    for i, model in enumerate(classifiers):
        name = f"{type(model).__name__}{i}"
        steps = make_pipeline(BagFeatures(), clone(model))
        yield Case(f"BagFeatures-{name}", steps.fit(bags, y), bags)
        for rule in ("any", "majority"):
            if hasattr(model, "decision_function") or hasattr(model, "predict_proba"):
                spread = SpreadLabels(clone(model), rule=rule).fit(bags, y)
                yield Case(f"SpreadLabels-{rule}-{name}", spread, bags)
    counted = AggregateSVC()
    cbags, counts = toy_problem(counted)
    for model in (LogisticRegression(), RandomForestClassifier(**SMALL)):
        spread = SpreadLabels(model, rule="mean").fit(cbags, counts)
        yield Case(f"SpreadLabels-count-{type(model).__name__}", spread, cbags)
    sbags, totals = toy_problem(AggregateSVR())
    regressors = Ridge(), SVR(), RandomForestRegressor(**SMALL), ExtraTreesRegressor(**SMALL)
    for model in regressors:
        spread = SpreadLabels(model, rule="mean").fit(sbags, totals)
        yield Case(f"SpreadLabels-sum-{type(model).__name__}", spread, sbags)
    search = GridSearchCV(MILogisticRegression(), {"C": [0.1, 1.0]}, cv=3).fit(bags, y)
    yield Case("GridSearchCV", search.best_estimator_, bags)
    series, labels = toy_problem(MARClassifier())
    windows = SlidingWindows(size=8, n_frequencies=3)
    steps = make_pipeline(windows, InstanceWise(StandardScaler()), clone(learner))
    yield Case("SlidingWindows", steps.fit(series, labels), series)


RULES = {
    "any": ["bag statistics + SVM", "spread labels + logistic", "MILogistic", "bag statistics + e"],
    "majority": ["bag statistics + SVM", "spread labels + logistic", "SBoost"],
    "count": ["spread counts + logistic", "AggregateTreeClassifier", "AggregateKNei"],
    "sum": ["spread totals + ridge", "AggregateSVR", "AggregateTreeRegressor"],
    "sequence": ["bag statistics + SVM", "windows + logistic", "MARClassifier"],
}


def _blends():
    """What `compare` and `fit` hand over, for every rule."""
    for rule, learners in RULES.items():
        problem = _of_rule(rule)
        bags = _named(problem.bags)
        result = compare(
            bags, problem.y, rule, learners=learners, folds=2, inner_folds=2, random_state=0
        )
        yield Case(f"compare-{rule}", result.model, bags)
        fitted = fit_best_setting(bags, problem.y, rule, learners[0])
        yield Case(f"fit-{rule}", fitted.model, bags)
    majority = toy_problem(boost.SBoost(), n_classes=3)
    names = np.array(["walk", "run", "sit"])
    result = compare(
        majority.bags,
        names[majority.y],
        "majority",
        learners=RULES["majority"][:2],
        folds=2,
        inner_folds=2,
    )
    yield Case("compare-majority-three", result.model, majority.bags)
    problem = toy_problem(AggregateSVC(), n_classes=3)
    learners = ["spread counts + logistic", "AggregateTree"]
    result = compare(problem.bags, problem.y, "count", learners=learners, folds=2, inner_folds=2)
    yield Case("compare-count-three", result.model, problem.bags)
    total = fit_best_setting(*_of_rule("sum"), "sum", "bag statistics + extra")
    yield Case("fit-sum-statistics", total.model, _of_rule("sum").bags)
    yield _from_text_table()


def _of_rule(rule):
    of = {
        "any": MILogisticRegression(),
        "majority": boost.SBoost(),
        "count": AggregateSVC(),
        "sum": AggregateSVR(),
        "sequence": MARClassifier(),
    }
    return toy_problem(of[rule], n_bags=24)


def _from_text_table():
    """A table with a column of text, gaps and labels in words, as the command line reads it."""
    rng = np.random.default_rng(0)
    rows = []
    for bag in range(24):
        for _ in range(3):
            colour = ["red", "green", "blue"][int(rng.integers(3))]
            x = rng.normal() + 2 * (bag % 2)
            rows.append([f"b{bag}", ["no", "yes"][bag % 2], colour, f"{x:.3f}", f"{-x:.3f}"])
    rows[4][3] = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([["bag", "label", "colour", "size", "depth"], *rows])
        data = read(path)
    fitted = fit_best_setting(data.bags, data.y, "any", "spread labels + logistic")
    return Case("fit-text-table", fitted.model, data.bags)


def _fitted(name, learner, n_bags=24):
    problem = toy_problem(learner, n_bags=n_bags)
    return Case(name, learner.fit(problem.bags, problem.y), problem.bags)


def _named(bags):
    names = [f"feature {j}" for j in range(bags.n_features)]
    return bags.with_instances(bags.instances, names)
