"""Systems that the papers name, beside what is printed of them, and a test of the rule "any"."""
