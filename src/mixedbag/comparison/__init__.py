"""The main job: compare every learner that suits the labels, choose, and explain.

Read it as it runs: `_protocol` (the data and its folds), `_questions` (what is asked of them),
`_measures` (what decides) → `_candidates`, `_effort` (what they cost) → `_sequence` (the order of
work), `_schedule` (until the clock cuts it), `_workers` (who does it), `_trials` (what it does),
`_store` (where it is kept), `_counted` (what counts) → `_calibration` → `_stack`, `_models` →
`_leaderboard`, `_intervals` → `_result` → `checks` → `_outputs`.
"""

from mixedbag.comparison._compare import compare, fit_best_setting
from mixedbag.comparison._from_disk import fit_from_disk
from mixedbag.comparison._result import Comparison
from mixedbag.comparison._rules import RULES, Guess, guess_rule, settle_rule

__all__ = [
    "RULES",
    "Comparison",
    "Guess",
    "compare",
    "fit_best_setting",
    "fit_from_disk",
    "guess_rule",
    "settle_rule",
]


def __dir__():
    return __all__
