"""The thesis on ambiguous examples: chapters 5 (2-norm) to 7 (disjunctive program)."""
