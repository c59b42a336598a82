"""Counts, shares and totals: which learner, how to choose without instance labels, how sure."""
