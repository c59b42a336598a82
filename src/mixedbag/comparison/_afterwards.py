"""What comes after the last trial, and how many seconds of the budget are kept for it.

Models are fitted on all bags, answers about unseen bags are put together and checked, and whoever
writes a report asks the model about features and instances. None of it may begin before the trials
end, so the clock cuts the sequence of work early enough.
"""

import numpy as np

from mixedbag.comparison._candidates import for_bags, seconds_of_fit

_START = 1.3  # seconds to import what writes models and reports
_A_FOLD = 0.06, 4e-6  # for the account of a fold, and for each of its instances
_A_BAG, _AN_INSTANCE, _A_CELL = 2e-4, 1.5e-5, 2e-8  # tables, contributions; checks of features
_MOST_CONTRIBUTIONS = 2.0
_MARGIN = 1.2


def seconds_of_models(known, capacity):
    """What fitting the finalists on all bags will take some workers, at the pace of their folds."""
    growth, seconds = _growth(known), _fits(known)
    each = [growth(candidate) * seconds[candidate.name] for candidate in known.finalists()]
    return _MARGIN * max(max(each), sum(each) / capacity) if each else 0.0


def _growth(known):
    """How much longer a fit on all bags takes than one on the sample, where there is one.

    At least as much as bags become more: the table was measured on smaller data.
    """
    part, whole = known.bags, known.protocol.whole.bags
    if whole is part:
        return lambda candidate: 1.0

    def growth(candidate):
        larger = for_bags(candidate, whole)
        learned = (larger.max_bags or len(whole)) / (candidate.max_bags or len(part))
        return max(learned, seconds_of_fit(larger, whole) / seconds_of_fit(candidate, part))

    return growth


def seconds_of_report(known, pace=1.0):
    """What answers, checks, tables and the report will take one process."""
    bags, n_splits = known.bags, len(known.splits)
    importance = FOLDS_ASKED * sum(_fits(known).values()) if worth_asking(known) else 0.0
    own = (
        _START
        + n_splits * (_A_FOLD[0] + _A_FOLD[1] * bags.n_instances)
        + min(_MOST_CONTRIBUTIONS, _A_BAG * len(bags))
        + _AN_INSTANCE * bags.n_instances
        + _A_CELL * bags.n_instances * bags.n_features
    )
    return _MARGIN * (importance + float(np.clip(pace, 0.5, 5.0)) * own)


FOLDS_ASKED = 2  # whose members are fitted anew for the importance of features
_WORTH = 10.0  # expected seconds of these fits at most


def worth_asking(known):
    """Whether the members can be fitted anew in good time, by the table of efforts.

    By the table, not by the clock: a report must not hang on how busy a machine was.
    """
    expected = sum(seconds_of_fit(candidate, known.bags) for candidate in known.finalists())
    return FOLDS_ASKED * expected <= _WORTH


def _fits(known):
    """Seconds of one fit of each finalist."""
    found = {}
    for candidate in known.finalists():
        trials = known.trials(candidate).values()
        n_fits = known.protocol.inner_folds * max(t.n_settings for t in trials) + 1
        found[candidate.name] = float(np.mean([t.seconds for t in trials])) / n_fits
    return found
