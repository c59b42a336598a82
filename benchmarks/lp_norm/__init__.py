"""The paper on boosting with generalised means (lp norms) of instances."""
