"""Settings that make checks quick, and the checks that a learner cannot pass, with the reason."""

# Constructor arguments for tests, by class name.
FAST: dict[str, dict] = {
    "ExpBinBoost": {"n_rounds": 20},
    "ExpRegBoost": {"n_rounds": 20},
    "ISRBoost": {"n_rounds": 20},
    "NoisyOrBoost": {"n_rounds": 20},
    "OWABoost": {"n_rounds": 20},
    "PooledBoostingClassifier": {"n_rounds": 20},
    "SparseBagMarginSVC": {"random_state": 0, "n_init": 2},
}

# Class name → {check name: why it cannot hold}. Names are those of scikit-learn's checks and ours.
EXCLUSIONS: dict[str, dict[str, str]] = {}


def expected_failed_checks(estimator):
    """The exclusions of an estimator, in the form that scikit-learn's checks take."""
    return EXCLUSIONS.get(type(estimator).__name__, {})
