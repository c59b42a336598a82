"""Data: files of every usual format, public data sets by name, and generators with known truth."""

import importlib

_HOMES = {
    "BagData": "records",
    "DataFormatError": "records",
    "Recordings": "records",
    "Table": "records",
    "info": "catalogue",
    "list_names": "catalogue",
    "load": "catalogue",
    "paths": "catalogue",
    "read": "readers",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name in _HOMES:
        return getattr(importlib.import_module(f"mixedbag.datasets.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'mixedbag.datasets' has no attribute {name!r}")


def __dir__():
    return __all__
