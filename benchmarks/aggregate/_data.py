"""The paper's six data sets, their folds, and how single rows are judged."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mixedbag.datasets import load

DATA = {
    "regression": ("auto-mpg", "housing", "cpu-small"),
    "classification": ("breast-cancer-wisconsin", "dermatology", "ionosphere"),
}


def read(name):
    """Rows and targets of a data set as the paper uses it."""
    data = load(name)
    X, y = data.X, data.y
    if name == "cpu-small":
        kept = np.random.default_rng(0).choice(len(y), 300, replace=False)
        X, y = X[kept], y[kept]
    elif name == "dermatology":  # psoriasis or not, complete rows
        kept = ~np.isnan(X).any(axis=1)
        X, y = X[kept], (y[kept] == 1).astype(int)
    elif name in DATA["classification"]:
        y = (y == np.unique(y)[1]).astype(int)
    return X, y


def folds(name):
    """Standardised training and test parts of five folds; missing values take the mean."""
    X, y = read(name)
    is_regression = name in DATA["regression"]
    splitter = KFold if is_regression else StratifiedKFold
    for train, test in splitter(5, shuffle=True, random_state=0).split(X, y):
        prepare = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train])
        y_train, y_test = y[train], y[test]
        if is_regression:
            centre, scale = y_train.mean(), y_train.std()
            y_train, y_test = (y_train - centre) / scale, (y_test - centre) / scale
        yield prepare.transform(X[train]), y_train, prepare.transform(X[test]), y_test


def measure(model, X, y):
    """Mean squared error, or accuracy, on single rows."""
    predicted = model.predict_instances(X)
    if y.dtype.kind == "f":
        return float(np.mean((predicted - y) ** 2))
    if predicted.dtype.kind == "f":  # a regression on proportions
        predicted = predicted > 0.5
    return float(np.mean(predicted == y))
