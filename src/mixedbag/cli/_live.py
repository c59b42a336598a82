"""The leaderboard on the screen, alive while trials finish."""

import time
from contextlib import contextmanager
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mixedbag.cli._terminal import shown, wide

_STYLES = {"stack": "bold green", "choice": "green", "constant": "yellow", "learner": ""}
_OTHERS = 2  # measures shown beside the one that decides
_NAME = 12  # columns that a learner's name keeps on the narrowest screen
_WIDEST = 1000
_EVERY = 1.0  # seconds between two tables


@contextmanager
def watching(budget, quiet=False):
    """Yields a watcher for `compare`: a live table on a terminal, lines elsewhere, or nothing."""
    console = wide(stderr=True)
    if quiet:
        yield lambda result: None
    elif not console.is_terminal:
        lines = _Lines(console)
        try:
            yield lines
        finally:
            lines.tell()
    else:
        screen = _Screen(budget)
        with Live(screen, console=console, refresh_per_second=4, transient=True):
            yield screen


class _Screen:
    """The leaderboard as it was a moment ago, over a clock that goes on.

    Those who do the work only leave what is known here; the table is made by who draws it.
    """

    def __init__(self, budget):
        self._budget = budget
        self._start = time.monotonic()
        self._latest = self._drawn = None
        self._next = 0.0
        self._table = ""

    def __call__(self, result):
        self._latest = result

    def __rich__(self):
        now, latest = time.monotonic(), self._latest
        if latest is not self._drawn and now >= self._next:
            self._table, self._drawn = leaderboard(latest), latest
            # However long a table takes, most of the time is left for the work.
            self._next = time.monotonic() + max(_EVERY, 4 * (time.monotonic() - now))
        spent = now - self._start
        clock = f"{spent:.0f} s" + (f" of {self._budget:.0f} s" if self._budget else "")
        return Group(self._table, Text(f" {clock}", style="dim"))


class _Lines:
    """One line for every learner that is through, for logs."""

    def __init__(self, console):
        self._console = console
        self._told = set()
        self._latest: Any = None
        self._next = 0.0

    def __call__(self, result):
        self._latest = result
        if time.monotonic() >= self._next:
            self.tell()
            self._next = time.monotonic() + _EVERY

    def tell(self):
        """Lines about those who got through since the last time."""
        result = self._latest
        if result is None:
            return
        for candidate in result.candidates:
            over = candidate.name in result.failures
            done = not over and len(result.trials(candidate)) == len(result.splits)
            if candidate.name in self._told or not (over or done):
                continue
            self._told.add(candidate.name)
            row = next(r for r in result.leaderboard() if r.name == candidate.name)
            figure = f"{result.measure} {result.question.measure.shown(row.mean)}"
            told = figure if done else f"{row.status}: {row.note}"
            self._console.print(shown(f"{candidate.name}: {told}"))


def leaderboard(result, over=False):
    """The leaderboard for a screen of any width; learners that have not begun are one line."""
    return Padding(_Board(result, over), (0, 0, 0, 2))


class _Board:
    """As many columns as the screen has room for: first the tests go, then other measures."""

    def __init__(self, result, over):
        self._result = result
        self._over = over
        self._fitting = {}

    def __rich_console__(self, console, options):
        width = options.max_width
        if width not in self._fitting:
            self._fitting[width] = self._made_for(width, console)
        yield self._fitting[width]

    def _made_for(self, width, console):
        unbound = console.options.update(width=_WIDEST)
        for n_others, tests in ((_OTHERS, True), (_OTHERS, False), (1, False), (0, False)):
            table = self._table(n_others, tests)
            if console.measure(table, options=unbound).maximum <= width:
                break
        return table

    def _table(self, n_others, tests):
        result = self._result
        measure = result.question.measure
        others = [m for m in result.figures.measures if m is not measure][:n_others]
        table = Table(header_style="bold", box=None, pad_edge=False)
        table.add_column("learner", min_width=_NAME)
        table.add_column(_header(measure), justify="right", style="bold", no_wrap=True)
        table.add_column("95 % interval", justify="right", no_wrap=True)
        for other in others:
            table.add_column(_header(other), justify="right", style="dim", no_wrap=True)
        for name in ("p\nbest", "p\nconstant") if tests else ():
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("folds", justify="right", no_wrap=True)
        table.add_column("time", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        waiting = 0
        for row in result.leaderboard():
            if row.status == "waiting" and row.name not in result.running:
                waiting += 1
                continue
            failed = row.name in result.failures
            state = row.status if failed else "running" if row.name in result.running else ""
            table.add_row(
                shown(row.name, _STYLES[row.kind]),
                measure.shown(row.mean),
                measure.shown_interval(row.low, row.high),
                *(other.shown(row.scores.get(other.name)) for other in others),
                *((p_value(row.p_value), p_value(row.p_constant)) if tests else ()),
                f"{row.folds}/{len(result.splits)}",
                f"{row.seconds:.1f} s" if row.seconds else "",
                Text(state, style="red" if failed else "dim"),
            )
        if waiting:
            what = "never began" if self._over else "wait"
            table.add_row(Text(f"{waiting} more {what}", style="dim"))
        return table


def _header(measure):
    """A word a line: the figures below are short."""
    return "\n".join(measure.words.split())


def answer(result):
    """What came out, in words: the figure beside the constant's, and the confusion matrix."""
    chosen, measure = result.chosen(), result.question.measure
    if chosen is None:
        return []
    constant = result.constant()
    told = Text("  ")
    told.append(f"{measure.words} {measure.shown(chosen.mean)}", style="bold")
    if chosen.low is not None:
        told.append(f" ({measure.shown_interval(chosen.low, chosen.high)})")
    told.append(f" by the {chosen.name}; {constant.name}: {measure.shown(constant.mean)}")
    lines = [told, Text(f"  decided by {measure.words} ({result.why_metric}); --metric chooses")]
    table = result.confusion()
    return lines if table is None else [*lines, "", Padding(_matrix(result, table), (0, 0, 0, 2))]


def _matrix(result, table):
    """Unseen bags by their class and the answer."""
    words = [str(label) for label in result.question.classes.tolist()]
    matrix = Table(header_style="bold", box=None, pad_edge=False)
    matrix.add_column("true class", no_wrap=True)
    for word in words[:12]:
        matrix.add_column(shown(f"answered {word}"), justify="right")
    for k, word in enumerate(words[:12]):
        cells = [Text(f"{value:.0f}") for value in table[k][:12]]
        if k < len(cells):
            cells[k].stylize("green")
        matrix.add_row(shown(word), *cells)
    return matrix


def check_lines(result):
    """A paragraph for every check that found something."""
    findings = result.checks()
    if not findings:
        return []
    lines: list = [""]
    for finding in findings:
        mark = {"warning": "!", "note": "·"}[finding.level]
        style = {"warning": "bold yellow", "note": "bold"}[finding.level]
        told = shown(f"  {mark} {finding.number:02d} {finding.title}: ", style)
        told.append_text(shown(finding.says))
        told.append_text(shown(f" {finding.advice}", "dim"))
        lines.append(told)
    return [*lines, ""]


def work_done(result):
    """How much of the work counts, how to repeat it, and what the clock cut."""
    cut = [f"{what}: {', '.join(names)}" for what, names in result.left_undone().items()]
    folds = len(result.splits) // result.protocol.repeats
    words = f'"{result.work}"' if result.work.without else str(result.work)
    some = "" if result.protocol.larger is None else f" --max-bags {len(result.bags)}"
    return [
        f"work {result.work} of {result.progress.n_units} units; the same options with "
        f"--work {words} --folds {folds}{some} give the same result on any machine",
        *cut,
    ]


def troubles(result):
    """Learners that failed, those that could not take part by reason, and what else went wrong."""
    lines = [f"  {note}" for note in result.notes]
    lines += [f"  {name}: {failure.message}" for name, failure in result.failures.items()]
    for reason in dict.fromkeys(result.skipped.values()):  # many names may share one
        names = [name for name, why in result.skipped.items() if why == reason]
        lines.append(f"  {', '.join(names)} left out: {reason}")
    lines += [f"  {line}" for line in work_done(result)]
    return [shown(line) for line in lines]


def p_value(value):
    if value is None:
        return ""
    return "<.001" if value < 0.001 else f"{value:.3f}"
