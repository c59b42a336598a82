"""ARHMM-MIL: sequences with bag labels, explained by an autoregressive hidden Markov model."""

from mixedbag.sequence._chain import Chain
from mixedbag.sequence._classifier import SequenceClassifier

__all__ = ["ARHMMClassifier"]


class ARHMMClassifier(SequenceClassifier):
    """Classify sequences, and every sample in them, from labels of whole sequences (ARHMM-MIL).

    For when a label such as "walking" belongs to a stretch of a time series of which it holds only
    partly. A hidden state rules each sample; it stays or switches as a Markov chain, and predicts
    the next sample from the last few (an autoregression). A sample in state j is positive with
    probability theta_j. With N of a bag's n samples positive the bag is positive with probability
    ``N e^w / (N e^w + n - N)``: for w = 0 the share of positive samples, for large w as soon as one
    is. States, theta and w maximise the posterior density of series and labels, by EM.

    A bag is one sequence, its instances the samples in the order of time; bags may differ in
    length. Scores are log-odds: of the label given the series for bags, of the sample's own label
    given the series for instances. The first ``order`` samples of a bag have no full past; they
    take the score of the first sample that has one.

    Missing values (NaN) are allowed: as at the beginning of a bag, a sample that lacks a value, or
    a full past, says nothing of its state, which follows from the samples around it.

    Parameters
    ----------
    n_states : int, default=10
        Number of hidden states, each with an autoregression of its own. Several states may belong
        to one activity.
    order : int, default=3
        How many past samples predict the next. A bag needs at least ``order + 1`` samples. An
        autoregression tells motions apart; 0 makes the states plain Gaussians, which tell levels
        (postures) apart.
    level : float, default=0.0
        The power of each state's own level, a Gaussian of its samples, beside its autoregression. 0
        is the paper's model, which tells motions apart; above 0 levels (postures) count, too, and
        the likelihood is a composite one.
    omega : float, optional
        Steepness of the link from samples to bags, if it is known: 0 for the share of positive
        samples, 4, say, where a bag is positive as soon as a small part of it is. By default it is
        learned, and hardly leaves 0, from where the labels of a few dozen bags do not move it.
    stretch : int, optional
        Samples in a row that a bag is judged by: its score is then the log-odds of the best stretch
        of so many samples, for labels that hold in one short part of a long series. By default the
        score follows from all samples, as the model says. Learning is the same.
    max_iter : int, default=30
        Most iterations of EM on states and labels together.
    n_init : int, default=2
        Starts for the states: the first clusters windows of the series and needs no chance, the
        others draw random segments or clusters. The most likely one goes on.
    n_models : int, default=1
        Models whose probabilities are averaged, each from `n_init` starts of its own. The density
        has many peaks of about the same height that tell the labels very differently; the mean of
        ten models does better than the highest of ten (``python -m benchmarks arhmm/development``).
    tol : float, default=1e-4
        EM stops when an iteration raises the log posterior by less than this a bag.
    precision : float, default=1e-6
        Relative error allowed in P(label | series). Labels are tied to counts of positive samples;
        replacing 1/x by a short sum of exponentials makes inference linear in the length, at this
        price (certified, see ``evidence_error_``).
    n_jobs : int, optional
        Threads that work on blocks of bags.
    random_state : int, RandomState instance or None
        Draws the starts after the first.

    Attributes
    ----------
    theta_ : array of shape (n_states,)
        Probability that a sample is positive, by state.
    omega_ : float
        Steepness of the link from the share of positive samples to the bag's label.
    coefficients_ : array of shape (n_states, order * n_features + 1, n_features)
        Autoregressions on standardised channels ``(x - center_) / scale_``; the rows are the past
        samples, latest first, then the intercept.
    covariances_ : array of shape (n_states, n_features, n_features)
        Covariance of each state's noise.
    levels_, level_covariances_ : arrays (n_states, n_features), (n_states, n_features, n_features)
        Levels of the states on standardised channels, and the covariance about them, if `level` is
        above 0.
    initial_, transition_ : arrays of shape (n_states,) and (n_states, n_states)
        Probabilities of the first state, and of the next given the last.
    others_ : list of learners
        The other models, if there are several; all attributes here are those of the first.
    objective_ : array of shape (n_iter_,)
        Log posterior density after each iteration; it never falls.
    evidence_error_ : float
        Certified bound on the relative error of P(label | series) in any training bag.

    See Also
    --------
    MARClassifier : Without memory of the last state: faster, usually less accurate.
    StateWindows : The same states, read by any learner of bags behind them.
    SlidingWindows : Makes windows of a series, for any learner of bags behind it.

    References
    ----------
    Guan, Raich, Wong. "Efficient multi-instance learning for activity recognition from time series
    data using an auto-regressive hidden Markov model." ICML 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from mixedbag.sequence import ARHMMClassifier
    >>> rng = np.random.default_rng(0)
    >>> calm, shaky = rng.normal(size=(2, 20, 60, 1)) * np.array([0.1, 1.0])[:, None, None, None]
    >>> half_shaky = np.concatenate([shaky[:10, :40], calm[:10, :20]], axis=1)
    >>> series = np.concatenate([calm, half_shaky])
    >>> moving = np.repeat([False, True], [20, 10])
    >>> model = ARHMMClassifier(n_states=2, order=1, random_state=0).fit(series, moving)
    >>> model.score(series, moving)
    1.0
    >>> model.predict_instances(series[-1:])[[10, 50]]  # moving in the first 40 samples only
    array([ True, False])
    """

    _dynamics = Chain

    def _store_dynamics(self, chain):
        self.initial_, self.transition_ = chain.initial, chain.transition

    def _stored_dynamics(self):
        return Chain(self.initial_, self.transition_)
