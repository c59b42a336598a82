"""The main job: compare every learner that suits the labels, choose, and explain."""

from mixedbag.comparison.result import Comparison
from mixedbag.comparison.rules import RULES, Guess, guess_rule
from mixedbag.comparison.run import compare

__all__ = ["RULES", "Comparison", "Guess", "compare", "guess_rule"]
