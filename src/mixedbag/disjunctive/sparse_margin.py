"""1-norm MI-SVM: local search over the witnesses of the disjunctive program."""

from mixedbag.disjunctive._base import DisjunctiveClassifier
from mixedbag.disjunctive._local_search import iterated_search, local_search
from mixedbag.disjunctive._master import RestrictedMaster

__all__ = ["SparseBagMarginSVC"]


class SparseBagMarginSVC(DisjunctiveClassifier):
    r"""1-norm MI-SVM: the widest margin that few features can give.

    A positive bag says that *at least one* of its instances is positive; a negative bag that none
    is. The classifier f(x) = Σ w_k h_k(x) + b minimises

    .. math::

        \lVert w \rVert_1 + C n \Bigl( \tfrac12 \operatorname{mean}_{i\,\text{positive bag}}
        [1 - \max_{x \in X_i} f(x)]_+ + \tfrac12
        \operatorname{mean}_{x\,\text{in negative bags}} [1 + f(x)]_+ \Bigr)

    over n bags. The 1-norm sets most weights to exactly zero. For given *witnesses* (the one
    instance of each positive bag that makes its label) this is a linear program; given a
    classifier, the best witness is the instance of highest score. The search alternates the two
    from several starts, each a disturbed copy of the best solution so far, and keeps the best.

    With bags of one instance this is the 1-norm support vector machine.

    Parameters
    ----------
    C : float, default 1.0
        Price of margin violations against the size of the weights. Small values give few features.
    features : {"linear", "rbf", "thresholded"}, default "linear"
        h_k: the inputs themselves; radial basis functions around every training instance;
        or balls around them (+1 inside, -1 outside) of `n_thresholds` radii.
    gamma : float or "scale", default "scale"
        Width of the radial basis functions exp(-gamma ‖x - c‖²). "scale" is
        1 / (n_inputs · variance).
    n_thresholds : int, default 5
        Radii a centre, for thresholded features.
    feature_selection : bool, default False
        Let features in a few at a time, those of best price first (LPBoost columns), and stop when
        they hardly lower the objective: fewer features, and a milder fit.
    features_per_round, n_rounds, selection_tol : int, int, float, defaults 2, 50, 1e-4
        How many features a round; how many rounds at most; the relative gain that ends it.
    class_weight : "balanced", dict or None, default "balanced"
        Share the loss equally between the classes, as in the formula; None charges C for every
        positive bag and for every instance of a negative bag, a dict that times the factor of its
        bag's label.
    fit_intercept : bool, default True
        Whether f has a bias b. (The thesis prints its program without one; its accuracies need it.)
    intercept_scaling : float or None, default None
        None leaves the bias free of charge. A number s makes it the weight of a constant feature s.
    n_init : int, default 5
        Number of local searches.
    time_limit : float or None, default None
        Seconds for a fit. When they run out, the best classifier so far is kept, with a warning.
    random_state : int, RandomState or None, default None
        Seed of the disturbances.

    Attributes
    ----------
    coef_ : array
        Weights: one for each input (linear), or for each kept feature of `feature_map_`.
    intercept_ : float
    support_ : int array
        Which features have a weight, as indices into all the features of the training set.
    witness_ : int array
        Row of `bags.instances` that makes the label of each positive training bag.
    upper_bound_, lower_bound_, gap_ : float
        The objective reached; what the optimum is proven to exceed; their relative difference.
    history_ : array of shape (n, 3)
        Seconds, lower and upper bound, each time one of them improved.
    n_cuts_ : int
        Cutting planes used (0 here).

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag import Bags
    >>> from mixedbag.disjunctive import SparseBagMarginSVC
    >>> rng = np.random.default_rng(0)
    >>> bags = [rng.normal(size=(4, 10)) for _ in range(40)]
    >>> y = np.arange(40) % 2
    >>> for bag, label in zip(bags, y):
    ...     bag[:, 3] = -2.0
    ...     bag[0, 3] = 2.0 if label else -2.0   # one instance decides, by one feature
    >>> model = SparseBagMarginSVC().fit(Bags.from_list(bags), y)
    >>> model.support_
    array([3])
    >>> model.score(Bags.from_list(bags), y)
    1.0
    """

    def __init__(
        self,
        C=1.0,
        *,
        features="linear",
        gamma="scale",
        n_thresholds=5,
        feature_selection=False,
        features_per_round=2,
        n_rounds=50,
        selection_tol=1e-4,
        class_weight="balanced",
        fit_intercept=True,
        intercept_scaling=None,
        n_init=5,
        time_limit=None,
        random_state=None,
    ):
        self.C = C
        self.features = features
        self.gamma = gamma
        self.n_thresholds = n_thresholds
        self.feature_selection = feature_selection
        self.features_per_round = features_per_round
        self.n_rounds = n_rounds
        self.selection_tol = selection_tol
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.n_init = n_init
        self.time_limit = time_limit
        self.random_state = random_state

    def _search(self, program, incumbent, starts):
        columns = [] if self.feature_selection else None
        master = RestrictedMaster(program, incumbent.clock, columns)
        master.settle()
        incumbent.raise_lower(master.lower_bound(incumbent.upper))
        if self.feature_selection:
            self._select_features(master, incumbent, starts)
        iterated_search(master, incumbent, starts, self.n_init)
        if not program.ambiguous.size:
            incumbent.raise_lower(master.lower_bound(incumbent.upper))

    def _select_features(self, master, incumbent, starts):
        """Algorithm 7.2 with the search for witnesses as its inner step.

        (The box takes the best feature already in; it must be the best one not yet in.)
        """
        witness = starts.first()
        before = float("inf")
        for _ in self._iterations(self.n_rounds):
            witness = local_search(master, incumbent, witness)
            if before - master.value < self.selection_tol * before and len(master.active):
                break
            before = master.value
            if not master.price_in(self.features_per_round):
                break
