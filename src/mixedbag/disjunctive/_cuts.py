"""Lift-and-project cuts (thesis section 7.4.3)."""


class Cut:
    """A valid inequality α·(b, ξ, w⁺, w⁻) ≥ β, with the multipliers that prove it.

    Attributes
    ----------
    features : (2 n_features,) coefficients of the signed features.
    fixed : (1 + n_examples,) coefficients of the bias and of the slacks.
    beta : float
    bag : int
        The positive bag whose disjunction it comes from.
    proof : list of (instance, rows, multipliers), one for each instance x of the bag
        Where x is the witness, the cut is implied by the margin row of x (last multiplier) and
        these rows of the master (instances or earlier cuts; the other multipliers).
    """

    def __init__(self, features, fixed, beta, bag, proof):
        self.features = features
        self.fixed = fixed
        self.beta = beta
        self.bag = bag
        self.proof = proof
