"""Which features matter: what a model loses when one of them comes from other bags."""

from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from mixedbag.bags import as_bags


def permutation_importance(
    estimator: Any,
    bags: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
    sample_weight: Any = None,
    features: Any = None,
) -> Bunch:
    """How much worse a model answers about bags when a feature comes from other bags.

    One feature at a time, every bag takes the values that the feature has in another bag, drawn at
    random: stretched or thinned to its size, in their order. So the feature keeps its distribution
    inside a bag, and loses what it says of this one. Importance is what the score falls by. Ask
    about bags that the model has not learned from: on its own it tells what was learned by heart.

    Parameters
    ----------
    estimator : fitted estimator
        Any model of bags.
    bags : Bags, or anything that `as_bags` reads
        Bags that it has not learned from.
    y : array of shape (n_bags,)
        The labels of the bags.
    scoring : str or callable, optional
        As in scikit-learn; by default the estimator's own ``score``.
    n_repeats : int
        How often each feature is permuted: what the spread is over.
    random_state : int or RandomState, optional
        Draws which bag lends to which; a number gives the same every time.
    sample_weight : array of shape (n_bags,), optional
        How much each bag counts in the score.
    features : sequence of int or of sequences of int, optional
        Only these columns, in this order; the columns of a sequence come from another bag together.
        Of many features ask about a few that promise something, and about the others as one group:
        every entry costs `n_repeats` passes over the bags.

    Returns
    -------
    Bunch
        ``importances_mean`` and ``importances_std`` of shape (n_features,), ``importances`` of
        shape (n_features, n_repeats), ``feature_names`` (a group's are joined), and ``baseline``,
        the score as it is.

    See Also
    --------
    WitnessDisplay : Which instances matter, in one bag.
    sklearn.inspection.permutation_importance : The same for plain rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.inspection import permutation_importance
    >>> data = make_any(n_bags=60, n_features=3, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags[:40], data.y[:40])
    >>> found = permutation_importance(model, data.bags[40:], data.y[40:], random_state=0)
    >>> found.importances_mean.shape
    (3,)
    """
    if hasattr(estimator, "fit"):  # models that `compare` hands over are fitted for good
        check_is_fitted(estimator)
    bags, random = as_bags(bags), check_random_state(random_state)
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats}")
    scorer = scoring if callable(scoring) else check_scoring(estimator, scoring)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    baseline = scorer(estimator, bags, y, **weights)
    asked = range(bags.n_features) if features is None else features
    columns = [np.atleast_1d(each) for each in asked]
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    importances = np.empty((len(columns), n_repeats))
    for repeat in range(n_repeats):
        for k, changed in enumerate(with_columns_of_others(bags, columns, random)):
            importances[k, repeat] = baseline - scorer(estimator, changed, y, **weights)
    return Bunch(
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        importances=importances,
        feature_names=[" + ".join(str(names[j]) for j in together) for together in columns],
        baseline=baseline,
    )


def with_columns_of_others(bags, columns, random):
    """The bags once for each column, or group of them, which comes from other bags, the same for
    all."""
    rows = _rows_of_other_bags(bags, random)
    return (_with_columns(bags, together, rows) for together in columns)


def _rows_of_other_bags(bags, random):
    """For every instance, the row of another bag that lends it a value."""
    lender = random.permutation(len(bags))
    place = np.arange(bags.n_instances) - bags.spread(bags.offsets[:-1])
    share = (place + 0.5) / bags.spread(bags.sizes)
    taken = np.floor(share * bags.spread(bags.sizes[lender])).astype(np.int64)
    return bags.spread(bags.offsets[:-1][lender]) + taken


def _with_columns(bags, columns, rows):
    """The bags with these columns taken from other rows."""
    X, columns = bags.instances, np.atleast_1d(columns)
    if not bags.is_sparse:
        X = np.array(X)
        X[:, columns] = bags.instances[rows[:, None], columns]
        return bags.with_instances(X, bags.feature_names)
    lent = np.isin(np.arange(bags.n_features), columns)
    own, other = X.copy(), X[rows]
    own.data = np.where(lent[own.indices], 0, own.data)
    other.data = np.where(lent[other.indices], other.data, 0)
    changed = own + other
    changed.eliminate_zeros()
    return bags.with_instances(changed, bags.feature_names)
