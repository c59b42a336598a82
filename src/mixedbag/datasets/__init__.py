"""Data: files of every usual format, public data sets by name, and generators with known truth."""

import importlib

_HOMES = {
    "BagData": "records",
    "DataFormatError": "records",
    "Format": "readers",
    "Recordings": "records",
    "Rows": "_formats.rows",
    "Table": "records",
    "aggregate": "protocols",
    "info": "catalogue",
    "list_names": "catalogue",
    "load": "catalogue",
    "load_aggregates": "builtin",
    "load_digits_bags": "builtin",
    "load_sessions": "builtin",
    "make_any": "generators",
    "make_count": "generators",
    "make_false_frequency": "assumptions",
    "make_majority": "generators",
    "make_sequences": "generators",
    "make_sessions": "protocols",
    "make_single_concept": "assumptions",
    "make_sum": "generators",
    "make_threshold": "assumptions",
    "make_traffic": "traffic",
    "paths": "catalogue",
    "read": "readers",
    "read_blocks": "streaming",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(f"mixedbag.datasets.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mixedbag.datasets' has no attribute {name!r}")


def __dir__():
    return __all__
