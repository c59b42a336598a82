"""`mixedbag rates`: how each group answered, with limits, from counts or totals of bags."""

import json
import re
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Annotated

import numpy as np
import typer

from mixedbag._digits import in_digits
from mixedbag._files import drawn
from mixedbag._tables import plain
from mixedbag.cli import _options
from mixedbag.cli._tables import read_data, require_labels
from mixedbag.cli._terminal import say, shown, wide
from mixedbag.exceptions import InputError

_RATES = ("count", "proportion")
_DRAWN = (".png", ".svg", ".pdf")
_ROUNDED = 0.0006  # per cent are written with one decimal at least
_TOLD = 20  # bags, below which limits are a lower limit of what is not known
_FEW = 12  # numbers of more values are cut into quarters
_WIDEST = 32  # letters of a name in a picture, beside which there is room for limits


def command(
    table: _options.Table,
    by: Annotated[str, typer.Option(help="Column with the group of each row.")],
    bag: _options.Bag = None,
    label: _options.Label = None,
    rule: _options.Rule = "auto",
    exposure: _options.Exposure = None,
    drop: _options.Drop = None,
    query: _options.Query = None,
    draws: Annotated[int, typer.Option(min=20, help="Draws of the model's weights.")] = 400,
    seed: _options.Seed = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Also draw it: a file that ends in .png, .svg or .pdf.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
):
    """How each group answered: its rate (or mean value), with 95 % limits.

    Of two answers, the last; of more (--label no,yes,abstained), each. A linear model of counts or
    totals, with draws of its weights, judged by the bags that have many of a group. Of counts and
    shares of the rows, "certain" are the bounds that hold whatever happened, nothing is said beyond
    them, and estimates add up to what is known; where the rows are a sample of those counted,
    nothing is certain. With --exposure, a rate is the number of events by one unit of it.
    """
    from mixedbag.comparison import RULES, settle_rule
    from mixedbag.comparison._candidates import first_choice
    from mixedbag.comparison._compare import choose_setting
    from mixedbag.uncertainty import posterior

    if picture is not None and picture.suffix.lower() not in _DRAWN:
        raise InputError(f"{picture} ends in none of {', '.join(_DRAWN)}")
    if by == bag:
        raise InputError(f"{by!r} holds the bags: what is known of each is its label")
    reading = partial(read_data, table, bag, label, drop=drop or (), query=query)
    data = reading()
    values = _coded_in(data.bags, by)
    if values is None:  # left out of the features: names of too many values, or as asked
        values = reading(instance=by).instance_ids
    if values is None:
        raise InputError(f"{table} has no column {by!r}")
    data, _ = require_labels(replace(data, instance_ids=values), table)
    settled = settle_rule(rule, data.y, data.bags.sizes)
    if settled.rule not in (*_RATES, "sum", "mean"):
        raise InputError(
            f"rates are of counts, shares, totals or means, and the rule is {settled.rule!r} "
            f"({settled.reason}): say which with --rule; counts of more than the rows are --label "
            "yes/voters"
        )
    groups = named_groups(data.instance_ids)
    learner = first_choice(settled.rule, True, exposure)
    chosen = choose_setting(data.bags, data.y, settled, learner, seed, exposure=exposure)
    pipeline, bags = chosen.candidate.estimator.set_params(**chosen.setting), data.bags
    for _, step in pipeline.steps[:-1]:
        bags = step.fit_transform(bags)
    told: list[tuple] = []
    warned: list[tuple] = []
    for answer, y in _answers(np.asarray(data.y), label):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = pipeline.steps[-1][1].fit(bags, y)
            models = posterior(model, bags, y, n_draws=draws, random_state=seed)
            told.append((answer, models.rates(bags, groups)))
        warned += [(models.spread, answer, str(warning.message)) for warning in caught]
    certain: list[dict] = [{}] * len(told)
    if settled.rule in _RATES:
        told, certain = _that_add_up(told, data, groups, settled.rule)
    parts = zip(told, certain)
    lines = [line for (part, found), sure in parts for line in _lines(groups, part, found, sure)]
    meant = _meaning(settled.rule, exposure)
    if picture is not None:
        _draw(lines, by, picture, meant)
    few = f"of {len(bags)} bags, limits are too narrow rather than too wide: take more than {_TOLD}"
    notes = [
        *data.notes,
        *([few] if len(bags) < _TOLD else []),
        *_said_once(warned, len(told)),
    ]
    facts = {"learner": chosen.candidate.name, "rule": settled.rule, "notes": notes}
    if as_json:
        typer.echo(json.dumps({**facts, "groups": lines}, indent=2, default=str))
        return
    for note in notes:
        say(f"  {note}")
    say(f"  rule {settled.rule}: {RULES[settled.rule]} ({settled.reason})")
    say(f"{chosen.candidate.name} for the rule {settled.rule}: {meant} of each group")
    _show(lines)
    if picture is not None:
        say(f"drawn as {picture}")


def _coded_in(bags, by):
    """The values of a column, from the features that it has become; None if it is none of them."""
    names = bags.feature_names or []
    coded = [j for j, name in enumerate(names) if name == by or name.startswith(f"{by}=")]
    if not coded:
        return None
    X = bags.instances[:, coded]
    X = X.toarray() if bags.is_sparse else X
    if names[coded[0]] == by:
        return X[:, 0]
    words = [None, *(names[j].removeprefix(f"{by}=") for j in coded)]  # none, where it was empty
    return np.array(words, dtype=object)[(X @ np.arange(1, len(words))).astype(int)]


def named_groups(values: np.ndarray) -> np.ndarray:
    """The group of each row as text; numbers of many values by quarters, none as "unknown"."""
    known = np.array([value is not None and value == value for value in values.tolist()])
    numbers = _numbers(values[known])
    names = np.full(len(values), "unknown", dtype=object)
    if numbers is None or len(np.unique(numbers)) <= _FEW:
        names[known] = [
            f"{value:g}" if isinstance(value, float) else str(value)
            for value in values[known].tolist()
        ]
        return names.astype(str)
    edges = np.unique(np.quantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0]))
    part = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    width = len(str(len(edges)))
    names[known] = [f"{k + 1:0{width}d}: {edges[k]:g} to {edges[k + 1]:g}" for k in part]
    return names.astype(str)


def _numbers(values):
    """Values as numbers, or None where one is none."""
    try:
        return values.astype(np.float64)
    except ValueError:
        return None


def _answers(y, label):
    """Of two answers, the last; of more, each in turn: its name, and counts with it as the last."""
    if y.ndim == 1 or y.shape[1] <= 2:
        return [({}, y)]
    classes = np.arange(y.shape[1])
    names = [name.strip() for name in label.partition("/")[0].split(",")]
    return [({"answer": names[k]}, y[:, [*classes[classes != k], k]]) for k in classes]


def _said_once(warned, n_answers):
    """Warnings, each once: of those that differ in figures alone, that of the largest spread.

    Answers are named, unless all have the same figures.
    """
    alike: dict = {}
    for _, answer, message in sorted(warned, key=lambda one: -one[0]):
        words = re.sub(r"[\d.]+", "", message)
        alike.setdefault(words, {}).setdefault(answer.get("answer"), message)
    for said in alike.values():
        (answer, message), *others = said.items()
        if len(said) == n_answers and len(set(said.values())) == 1:
            yield message
        elif others:
            yield f"for {answer} most, also {', '.join(name for name, _ in others)}: {message}"
        else:
            yield f"for {answer}: {message}"


def _that_add_up(told, data, groups, rule):
    """The answers, with rates of every group that add up to one, and what is certain of each.

    Where the rows of a bag are all that were counted, rates agree with what is known of every bag;
    else nothing is certain.
    """
    rates = np.column_stack([found.estimate for _, found in told])
    rates = rates if len(told) > 1 else np.hstack([1.0 - rates, rates])
    rates = rates / rates.sum(axis=1, keepdims=True)
    margins = _margins(data.bags, np.asarray(data.y), groups, rule)
    certain: list[dict] = [{}] * len(told)
    if margins is not None:
        agreed = margins.agreeing(rates)
        rates = agreed.district
        limits = list(zip(agreed.low.T, agreed.high.T))[-len(told) :]
        certain = [{"low": low, "high": high} for low, high in limits]
    columns = rates.T[-len(told) :]
    told = [(part, replace(found, estimate=rate)) for (part, found), rate in zip(told, columns)]
    return told, certain


def _lines(groups, answer, found, certain):
    """What is told of every group, inside what is certain; limits hold the estimate."""
    least, most = certain.get("low", -np.inf), certain.get("high", np.inf)
    estimate = np.clip(found.estimate, least, most)
    low, high = np.minimum(found.low, estimate), np.maximum(found.high, estimate)
    told = {"estimate": estimate, "low": np.maximum(low, least), "high": np.minimum(high, most)}
    told |= {f"certain {part}": limit for part, limit in certain.items()}
    return [
        {
            "group": plain(name),
            **answer,
            "instances": int(np.count_nonzero(groups == name)),
            **{part: float(values[k]) for part, values in told.items()},
        }
        for k, name in enumerate(found.names)
    ]


def _margins(bags, y, groups, rule):
    """The groups and answers of every bag; None where the rows are some of those counted."""
    from mixedbag.ecological import RowByColumn

    counts = (y.T * bags.sizes).T if rule == "proportion" else y
    broken = np.abs(counts - np.round(counts)).T
    if (broken > np.maximum(0.06, _ROUNDED * bags.sizes)).any():
        return None
    if counts.ndim == 1:  # a table, that counts of which none is above one are not read as shares
        counts = np.column_stack([bags.sizes - counts, counts])
    return RowByColumn.from_bags(bags, groups, counts)


def _meaning(rule, exposure):
    """What is told of a group."""
    if exposure is not None:
        return f"events by {exposure}"
    return "rate" if rule in _RATES else "mean value"


def _draw(lines, by, path, meant):
    """Estimates with limits, on what is certain, a row a group."""
    from matplotlib.figure import Figure

    names = [
        fill(": ".join(str(line[key]) for key in ("answer", "group") if key in line), _WIDEST)
        for line in lines
    ]
    a_name = 0.2 + 0.2 * max(name.count("\n") + 1 for name in names)
    figure = Figure(figsize=(7, 1.2 + a_name * len(lines)), layout="constrained")
    axes = figure.subplots()
    axes.use_sticky_edges = False  # a bar that begins at the frame looks cut off
    place = np.arange(len(lines))
    estimate, low, high = (
        np.array([line[part] for line in lines]) for part in ("estimate", "low", "high")
    )
    if "certain low" in lines[0]:
        least, most = (
            np.array([line[f"certain {end}"] for line in lines]) for end in ("low", "high")
        )
        axes.barh(place, most - least, left=least, height=0.5, color="0.9", label="certain limits")
    reach = np.maximum([estimate - low, high - estimate], 0.0)
    axes.errorbar(estimate, place, xerr=reach, fmt="o", capsize=3, label="estimate, 95 % limits")
    axes.set_yticks(place, [*map(drawn, names)])
    axes.invert_yaxis()
    axes.set(ylabel=drawn(by), xlabel=drawn(meant))
    axes.grid(axis="x", alpha=0.4)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=150)


def _show(lines):
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in lines[0]:
        table.add_column(name, justify="left" if name in ("group", "answer") else "right")
    written = in_digits if min(line["estimate"] for line in lines) < 0.01 else "{:.3f}".format
    for line in lines:
        cells = (written(v) if isinstance(v, float) else v for v in line.values())
        table.add_row(*map(shown, cells))
    wide().print(table)
