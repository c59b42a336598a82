"""What went wrong, by whose hand: errors that a caller may want to tell apart."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["InputError", "reading_input"]


class InputError(ValueError):
    """What the user gave cannot be used; the message says what it is and where.

    Any other `ValueError` or `TypeError` that leaves the command line is a defect of mixedbag.

    See Also
    --------
    mixedbag.datasets.DataFormatError : The one of files: it knows the line.
    reading_input : Makes one of every `ValueError` inside.

    Examples
    --------
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.exceptions import InputError
    >>> try:
    ...     MILogisticRegression().fit([[[1.0]], [[2.0]]], ["yes", "yes"])
    ... except InputError as error:
    ...     print(error)
    MILogisticRegression needs at least two classes; the bags contain one class only: 'yes'
    """


@contextmanager
def reading_input() -> Iterator[None]:
    """Inside, where only the user's input is read, every `ValueError` is an `InputError`.

    Yields
    ------
    None
        Nothing: what matters is what is raised.

    See Also
    --------
    InputError : What is raised.

    Examples
    --------
    >>> from mixedbag.exceptions import reading_input
    >>> with reading_input():
    ...     float("twelve")
    Traceback (most recent call last):
    mixedbag.exceptions.InputError: could not convert string to float: 'twelve'
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def __dir__():
    return __all__
