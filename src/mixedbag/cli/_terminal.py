"""What reaches the terminal: text whose control characters are shown, not obeyed."""

import sys
from contextlib import suppress

import typer

from mixedbag._files import printable


def say(message: object, error: bool = False) -> None:
    """Print a message; its lines stay lines. Nobody may be there to read what went wrong."""
    text = printable(message, keep="\n")
    if not error:
        typer.echo(text)
        return
    # Not through rich: a message may hold brackets, and stderr may be closed.
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def wide(**options):
    """A console that keeps tables whole where there is no terminal to ask for its width."""
    from rich.console import Console

    console = Console(highlight=False, **options)
    if not console.is_terminal:
        console.width = 110
    return console


def shown(value, style=""):
    """Text for a console: brackets are no markup, control characters are spelled out."""
    from rich.text import Text

    return Text(printable(value), style=style)
