"""The commands together, and how errors reach people: one clear line, never a traceback."""

import errno
import gc
import os
import sys
from typing import Annotated

import typer

from mixedbag._version import __version__
from mixedbag.cli import _compare, _datasets, _demo, _evaluate, _explain, _fit, _predict, _rates
from mixedbag.cli._later import later
from mixedbag.cli._signals import Terminated, heeded
from mixedbag.cli._terminal import say
from mixedbag.exceptions import InputError

app = typer.Typer(
    name="mixedbag",
    help="Learn from labels that belong to groups.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("compare")(_compare.command)
app.command("fit")(_fit.command)
app.command("predict")(_predict.command)
app.command("evaluate")(_evaluate.command)
app.command("explain")(_explain.command)
app.command("rates")(_rates.command)
app.add_typer(_datasets.app, name="datasets")
app.command("demo")(_demo.command)

# Exit codes: 0 done, 1 a defect of ours, 2 wrong input or usage, 3 the machine refused,
# 128 + n ended by signal n.
_DEFECT, _INPUT, _MACHINE, _INTERRUPTED = 1, 2, 3, 130


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
):
    if version:
        typer.echo(f"mixedbag {__version__}")
        raise typer.Exit()


def main() -> None:
    """Run the command line; the process exits with the code that describes what happened."""
    gc.set_threshold(100_000)  # else a fifth of a second goes by, looking for garbage in modules
    later("pandas", "scipy.stats", "scipy.optimize")  # which takes a second in all
    try:
        with heeded():
            app()
    except KeyboardInterrupt:
        _end("interrupted", _INTERRUPTED)
    except Terminated as error:
        _end(str(error), error.exit_code)
    except InputError as error:
        _end(str(error), _INPUT, error)
    except FileNotFoundError as error:
        _end(f"no file {error.filename}" if error.filename else str(error), _INPUT, error)
    except OSError as error:
        _end(_reason(error), _MACHINE, error)
    except MemoryError as error:
        _end("out of memory", _MACHINE, error)
    except Exception as error:
        message = f"{type(error).__name__}: {error}\nThis is a defect of mixedbag. "
        _end(message + "Run it again with MIXEDBAG_DEBUG=1 for the details.", _DEFECT, error)


def _reason(error):
    if error.errno == errno.ENOSPC:
        place = f" ({error.filename})" if error.filename else ""
        return f"the disk is full{place}: files written before are complete; free space, run again"
    return str(error)


def _end(message, code, error=None):
    if error is not None and os.environ.get("MIXEDBAG_DEBUG"):
        raise error
    say(f"mixedbag: {message}", error=True)
    sys.exit(code)
