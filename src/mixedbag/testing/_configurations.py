"""Settings that make checks quick, and the checks that a learner cannot pass, with the reason."""

from sklearn.ensemble import ExtraTreesClassifier

from mixedbag.base import BagEstimator
from mixedbag.disjunctive import LNPBoost
from mixedbag.learners import all_learners

# Constructor arguments for tests, by class name.
FAST: dict[str, dict] = {
    "ARHMMClassifier": {"n_states": 3, "order": 1, "max_iter": 4, "n_init": 1, "random_state": 0},
    "MARClassifier": {"n_states": 3, "order": 1, "max_iter": 4, "n_init": 1, "random_state": 0},
    "AttentionClassifier": {
        **{"random_state": 0, "hidden": 8, "attention_size": 4, "learning_rate": 0.05},
        **{"max_epochs": 30, "patience": 30, "held_out": 0.0, "device": "cpu"},
    },
    "TransformerClassifier": {
        **{"random_state": 0, "hidden": 8, "attention_size": 4, "learning_rate": 0.05},
        **{"max_epochs": 30, "patience": 30, "held_out": 0.0, "device": "cpu", "n_heads": 2},
    },
    "AggregateForestClassifier": {"random_state": 0, "n_estimators": 10},
    "AggregateForestRegressor": {"random_state": 0, "n_estimators": 10},
    # Which bags are left out in turn goes by their places, whatever their weights.
    "AggregateGradientBoostingClassifier": {"n_rounds": 10, "early_stopping": False},
    "AggregateGradientBoostingRegressor": {
        **{"n_rounds": 10, "learning_rate": 0.5},
        "early_stopping": False,
    },
    "AggregateMLPClassifier": {
        **{"random_state": 0, "hidden": 4, "alpha": 3.0, "tol": 1e-10},
        "n_networks": 2,
    },
    "AggregateMLPRegressor": {
        **{"random_state": 0, "hidden": 4, "alpha": 1.0, "max_iter": 30},
        "n_networks": 2,
    },
    "AggregateRBFClassifier": {"random_state": 0},
    "AggregateRBFRegressor": {"random_state": 0},
    "AnnealedBagMarginSVC": {"cooling": 0.1},
    "AnnealedInstanceMarginSVC": {"cooling": 0.1},
    # The rectangle holds all positive bags, outliers too: on classes that overlap, keep it tight.
    "AxisParallelRectangle": {"epsilon": 0.1},
    "DirichletMixtureClassifier": {"random_state": 0, "n_components": 3, "tol": 1e-8},
    "DissimilarityClassifier": {"random_state": 0},
    "FisherVectorClassifier": {"random_state": 0, "n_components": 6, "variance": 1.0, "C": 100.0},
    "MeanNetworkClassifier": {"random_state": 0, "hidden": 8, "n_init": 1},
    "PrototypeClassifier": {"random_state": 0},
    "VLADClassifier": {"random_state": 0},
    "VocabularyClassifier": {"random_state": 0, "n_words": 8},
    "DDSVM": {"random_state": 0, "n_init": 3, "max_iter": 10},
    "EdgeGraphSVC": {"tol": 1e-8},
    "InstanceAverageClassifier": {
        "estimator": ExtraTreesClassifier(10, random_state=0),
        "random_state": 0,
    },
    "MIForestClassifier": {"random_state": 0, "n_estimators": 4, "cooling": 0.05},
    "MILIS": {"tol": 1e-10},
    "MINetworkClassifier": {"random_state": 0, "hidden": 4, "alpha": 0.1, "n_init": 1},
    "MILES": {"random_state": 0, "tol": 1e-10},
    "MIGraphSVC": {"tol": 1e-8},
    "TwoLevelClassifier": {"random_state": 0, "n_estimators": 10},
    "SetKernelSVC": {"tol": 1e-8},
    "ExpBinBoost": {"n_rounds": 20},
    "ExpRegBoost": {"n_rounds": 20},
    "ISRBoost": {"n_rounds": 20},
    "NoisyOrBoost": {"n_rounds": 20},
    "OWABoost": {"n_rounds": 20},
    "PooledBoostingClassifier": {"n_rounds": 20},
    "SBoost": {"n_rounds": 5, "random_state": 0},
    # Balls around instances give ties between optima; smooth features have one optimum.
    "DPBoost": {"random_state": 0, "n_init": 1, "n_rounds": 2, "features": "rbf"},
    "ExactBagMarginSVC": {"random_state": 0, "n_init": 1},
    "LNPBoost": {"random_state": 0, "n_init": 1, "n_rounds": 2},
    "SparseBagMarginSVC": {"random_state": 0, "n_init": 1},
    "TransductiveClassifier": {"estimator": LNPBoost(random_state=0, n_init=1, n_rounds=2)},
}

# Class name → {check name: why it cannot hold}. Names are those of scikit-learn's checks and ours.
EXCLUSIONS: dict[str, dict[str, str]] = {
    "AggregateForestClassifier": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_order_of_bags_does_not_matter",
            "check_weight_two_is_a_duplicate",
        ),
        "the bootstrap draws bags by their position; with bootstrap=False all three hold",
    ),
    "AggregateForestRegressor": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_order_of_bags_does_not_matter",
            "check_weight_two_is_a_duplicate",
        ),
        "the bootstrap draws bags by their position; with bootstrap=False all three hold",
    ),
    **{
        name: dict.fromkeys(
            (
                "check_sample_weight_equivalence_on_dense_data",
                "check_order_of_bags_does_not_matter",
                "check_order_of_instances_does_not_matter",
                "check_weight_two_is_a_duplicate",
                "check_weight_zero_is_absence",
            ),
            "steps on batches of bags, drawn by their position, in single precision",
        )
        for name in ("AttentionClassifier", "TransformerClassifier")
    },
    "DPBoost": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "a search among local optima may end in another when rows are repeated: then the models "
        "that settle its probabilities differ",
    ),
    "SBoost": dict.fromkeys(
        (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ),
        "of stumps that part a few bags equally well, another may win when rows are repeated: then "
        "the models that settle its probabilities differ",
    ),
    "TransductiveClassifier": {
        "check_classifiers_classes": "it labels a class -1, which marks unlabelled examples here"
    },
}


def expected_failed_checks(estimator):
    """The exclusions of an estimator, in the form that scikit-learn's checks take."""
    return EXCLUSIONS.get(type(estimator).__name__, {})


def example_learners() -> list[BagEstimator]:
    """One quick instance of every learner, for tests.

    Returns
    -------
    list of learners
        Unfitted, with settings that fit quickly.

    See Also
    --------
    all_learners : The classes.

    Examples
    --------
    >>> from mixedbag.testing import all_learners, example_learners
    >>> len(example_learners()) == len(all_learners())
    True
    """
    return [learner(**FAST.get(learner.__name__, {})) for learner in all_learners()]
