"""Whether bags to be answered are like those that were learned from: asked when predicting.

A comparison has no new bags, so `find` has nothing to say; `says` has the words for who predicts.
"""

TITLE = "Features far from the training data"
LEVEL = "warning"
ADVICE = "The model never saw the like: check units and columns, and do not trust these answers."


def find(result):
    return None


def says(n_far, n_bags, feature=None, value=None, low=None, high=None):
    """The sentence: how many bags, and the feature that is furthest outside."""
    told = f"{n_far} of {n_bags} bags hold values far outside those learned from"
    if feature is None:
        return f"{told}."
    usual = f"{value:.4g}, where training had {low:.4g} to {high:.4g}"
    return f"{told}, most of all {feature!r} ({usual})."
