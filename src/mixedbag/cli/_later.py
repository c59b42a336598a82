"""Libraries that other libraries import, and that many commands never ask for anything."""

import importlib
import sys
import threading
from importlib.util import find_spec
from types import ModuleType

_LOCK = threading.RLock()


def later(*names: str) -> None:
    """Import modules when something of them is asked for, and not before.

    As `importlib.util.LazyLoader`, which fails before Python 3.12 where two threads ask at once.
    """
    for name in names:
        if name not in sys.modules and (spec := find_spec(name)) is not None:
            sys.modules[name] = _Later(name)
            sys.modules[name].__spec__ = spec


class _Later(ModuleType):
    """Stands for a module until it is asked for anything."""

    def __getattr__(self, name):
        with _LOCK:
            if sys.modules[self.__name__] is self:
                del sys.modules[self.__name__]
                importlib.import_module(self.__name__)
        return getattr(sys.modules[self.__name__], name)
