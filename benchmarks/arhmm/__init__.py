"""The paper on multiple instances in time series (ARHMM-MIL)."""
