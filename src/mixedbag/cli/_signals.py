"""Ended from outside: a closed terminal and `kill` let the program tidy up, as Ctrl-C does."""

import signal
import threading
from contextlib import contextmanager

_NAMES = ("SIGTERM", "SIGHUP")  # not every system has the second


class Terminated(BaseException):
    """The process was told to end. No `Exception`: nothing but tidying up should stop it."""

    def __init__(self, number):
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.exit_code = 128 + number


@contextmanager
def heeded():
    """While inside, the first such signal raises `Terminated`; those after it change nothing.

    A signal that is ignored, as under ``nohup``, stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers}
    mine = [n for n, handler in before.items() if handler is not signal.SIG_IGN]

    def end(number, frame):
        for other in mine:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    for number in mine:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in mine:
            signal.signal(number, before[number] or signal.SIG_DFL)
