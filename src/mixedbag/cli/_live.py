"""The leaderboard on the screen, alive while trials finish."""

import time
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mixedbag.cli._terminal import shown, wide

_STYLES = {"stack": "bold green", "choice": "green", "learner": ""}


@contextmanager
def watching(budget, quiet=False):
    """Yields a watcher for `compare`: a live table on a terminal, lines elsewhere, or nothing."""
    console = wide(stderr=True)
    if quiet:
        yield lambda result: None
    elif not console.is_terminal:
        yield _Lines(console)
    else:
        screen = _Screen(budget)
        with Live(screen, console=console, refresh_per_second=4, transient=True):
            yield screen


class _Screen:
    """The leaderboard as it was after the last trial, over a clock that goes on."""

    def __init__(self, budget):
        self._budget = budget
        self._start = time.monotonic()
        self._table = ""

    def __call__(self, result):
        self._table = leaderboard(result)

    def __rich__(self):
        spent = time.monotonic() - self._start
        clock = f"{spent:.0f} s" + (f" of {self._budget:.0f} s" if self._budget else "")
        return Group(self._table, Text(f" {clock}", style="dim"))


class _Lines:
    """One line for every learner that is through, for logs."""

    def __init__(self, console):
        self._console = console
        self._told = set()

    def __call__(self, result):
        for candidate in result.candidates:
            over = candidate.name in result.failures
            done = not over and len(result.trials(candidate)) == len(result.splits)
            if candidate.name in self._told or not (over or done):
                continue
            self._told.add(candidate.name)
            row = next(r for r in result.leaderboard() if r.name == candidate.name)
            told = f"{result.measure} {row.mean:.3f}" if done else f"{row.status}: {row.note}"
            self._console.print(shown(f"{candidate.name}: {told}"))


def leaderboard(result):
    """The leaderboard as a rich table."""
    table = Table(header_style="bold", box=None)
    table.add_column("learner", no_wrap=True)
    table.add_column(result.measure, justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("p", justify="right")
    table.add_column("folds", justify="right")
    table.add_column("time", justify="right")
    table.add_column("")
    busy = result.running
    for row in result.leaderboard():
        failed = row.name in result.failures
        state = row.status if failed else "running" if row.name in busy else ""
        table.add_row(
            shown(row.name, _STYLES[row.kind]),
            number(row.mean),
            "" if row.low is None else f"{row.low:.3f} – {row.high:.3f}",
            number(row.p_value, 2),
            f"{row.folds}/{len(result.splits)}",
            f"{row.seconds:.1f} s" if row.seconds else "",
            Text(state, style="red" if failed else "dim"),
        )
    return table


def troubles(result):
    """A line for every learner that failed or could not take part, and what else went wrong."""
    lines = [f"  {note}" for note in result.notes]
    lines += [f"  {name}: {failure.message}" for name, failure in result.failures.items()]
    return lines + [f"  {name} left out: {reason}" for name, reason in result.skipped.items()]


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"
