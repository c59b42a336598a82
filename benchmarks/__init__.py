"""One module a table, figure or rival: ``python -m benchmarks NAME``."""
