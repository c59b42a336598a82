"""EM-DD: diverse density in which one instance a bag, the most likely cause, explains its label."""

from mixedbag.classics.diverse_density import DiverseDensity
from mixedbag.pooling import Max

__all__ = ["EMDD"]


class EMDD(DiverseDensity):
    """EM-DD (Zhang and Goldman, 2001), with the concept chosen on training bags only.

    Assumes what `DiverseDensity` assumes, that a bag is positive when some instance is close to one
    unknown concept point, but lets only the nearest instance of a bag speak for it::

        minimise  Σ_{i: positive} d_i − Σ_{i: negative} log(1 − exp(−d_i)),
        d_i = min_j Σ_k s_k² (x_ijk − c_k)²

    over the point ``c`` and the scales ``s``, with a penalty on scales. The original alternates:
    choose the nearest instances (E), fit the concept to them (M). Here every evaluation of the
    objective chooses them anew, so each quasi-Newton step is a small M-step with a fresh E-step;
    the objective never rises, and it ends lower than with the alternation, which stops when a
    negative bag's nearest instance changes for the worse.

    Parameters
    ----------
    n_init : int or None
        Number of starting points: the instances of positive bags that explain the labels best
        before any fitting. None starts from all of them.
    alpha : float
        Strength of the penalty ``½ α Σ_k (s_k/s_0)²`` on scales, where ``s_0`` is the scale of all
        features at the start. It matters where features are many, as in text: without it the
        concept learns the training bags by heart. 0 is the original method.
    max_iter : int
        Most quasi-Newton steps.
    tol : float
        A start has converged when a step lowers its objective by less than this share.
    random_state : int, RandomState or None
        Draws the candidates for starts when positive bags hold more than a thousand instances.

    Attributes
    ----------
    concept_, scale_ : arrays of shape (n_features,)
        The concept point, and how much each feature matters.
    objective_ : array
        The penalised objective after each step, of the start that won. The winner has the lowest
        objective on the training bags; the published method looked at the test bags to choose it.
    start_objectives_ : array
        Objective that every start had reached when it ended; every 20 steps the worse half ends.
    witness_ : array
        Row of the instance that speaks for the bag, one for each positive training bag.

    See Also
    --------
    DiverseDensity : Lets all instances of a bag speak for it, not only the nearest.
    DDSVM : Many concept points, where one is not enough.

    Examples
    --------
    >>> from mixedbag.classics import EMDD
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=60, random_state=0)
    >>> model = EMDD().fit(data.bags, data.y)
    >>> bool((model.objective_[1:] <= model.objective_[:-1]).all())
    True
    """

    _pooling = Max()
