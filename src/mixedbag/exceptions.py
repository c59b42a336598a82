"""What went wrong, by whose hand: errors that a caller may want to tell apart."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """What the user gave cannot be used; the message says what it is and where.

    Any other `ValueError` or `TypeError` that leaves the command line is a defect of mixedbag.
    """


@contextmanager
def reading_input() -> Iterator[None]:
    """Inside, where only the user's input is read, every `ValueError` is an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
