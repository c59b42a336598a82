"""The edge where a user's files and options are read.

What is wrong with them is a `ValueError` of whoever reads them, and becomes an `InputError` here.
The same error from anywhere else is a defect of mixedbag.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from mixedbag.exceptions import InputError, reading_input


def at_the_edge(read: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates what reads for the user: a function, or a generator of blocks."""

    @wraps(read)
    def reading(*arguments, **options):
        with reading_input():
            return read(*arguments, **options)

    @wraps(read)
    def reading_blocks(*arguments, **options):
        with reading_input():
            blocks = read(*arguments, **options)
        while True:
            with reading_input():
                block = next(blocks, None)
            if block is None:
                return
            yield block

    return reading_blocks if inspect.isgeneratorfunction(read) else reading


@at_the_edge
def load_model(path: str | Path) -> Any:
    """A saved model that the user points at."""
    from mixedbag.io import load

    if Path(path).is_dir():
        raise InputError(f"{path} is a folder: name the model in it, such as model.skops")
    return load(path)
