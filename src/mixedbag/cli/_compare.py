"""`mixedbag compare`: from a table to a leaderboard, a model and a report."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time
from typing import Annotated

import numpy as np
import typer

from mixedbag import _nursery
from mixedbag.cli import _options
from mixedbag.cli._runs import refuse_file, refuse_other_run, remember, sign
from mixedbag.cli._tables import read_data, require_labels, seconds, shape
from mixedbag.cli._terminal import say, shown, wide
from mixedbag.exceptions import InputError

_ASKED = ("metric", "cost", "positive")


def _not_zero(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("0 processes do no work: 1 or more, or -1 for all cores")
    return value


def command(
    table: _options.Table,
    bag: _options.Bag = None,
    label: _options.Label = None,
    labels: _options.Labels = None,
    positive: _options.Positive = None,
    rule: _options.Rule = "auto",
    metric: Annotated[
        str | None,
        typer.Option(help="What decides: accuracy, balanced_accuracy, roc_auc, f1, r2, …"),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(help="What mistakes cost, missed:false alarm, such as 10:1; or a table."),
    ] = None,
    time: _options.Time = None,
    instance: _options.Instance = None,
    group: _options.Group = None,
    weight: _options.Weight = None,
    exposure: _options.Exposure = None,
    drop: _options.Drop = None,
    query: _options.Query = None,
    images: Annotated[str | None, typer.Option(help="Instances are images, such as 8x8.")] = None,
    time_budget: Annotated[str, typer.Option(help="90s, 10m, 1h or none.")] = "10m",
    work: Annotated[
        str | None, typer.Option(help="Do just as much as an earlier run says it did.")
    ] = None,
    max_bags: Annotated[
        int | None,
        typer.Option(min=1, help="Compare on so many bags at most; the model learns from all."),
    ] = None,
    learners: Annotated[
        str | None, typer.Option(help="Only learners named like these: svm,forest.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Outer folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="How often to cut anew.")] = 1,
    jobs: Annotated[
        int, typer.Option(callback=_not_zero, help="Worker processes; -1 for all cores.")
    ] = -1,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers do the work.")
    ] = None,
    seed: _options.Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over the results of another run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    open_report: Annotated[bool, typer.Option("--open", help="Open the report.")] = False,
):
    """Compare every learner that suits the labels; leave the best model and a report.

    Interrupted with Ctrl-C it keeps finished folds; the same command goes on.
    """
    began = monotonic() - process_time()  # imports and reading are in the time budget too
    budget = seconds(time_budget)
    if budget == 0:
        raise InputError("--time-budget leaves no time: write 90s, 10m, 1h or none")
    out = out or Path(f"mixedbag-{Path(table).name.split('.')[0]}")
    refuse_file(out)
    refuse_other_run(out, overwrite)
    if cluster is None:
        _nursery.begin()
    data = read_data(table, bag, label, time, drop or (), instance, group, weight, query, labels)
    data, others = require_labels(data, table, positive)
    if images is not None:
        data = replace(data, image_shape=checked_shape(images, data.bags))
    run(
        data,
        title=Path(table).name,
        out=out,
        columns={
            **{"bag": bag, "label": label, "time": time, "instance": instance},
            **{"group": group, "weight": weight},
        },
        rule=rule,
        in_time=time is not None,
        budget=budget,
        as_json=as_json,
        open_report=open_report,
        metric=metric,
        cost=cost,
        positive=positive,
        exposure=exposure,
        learners=None if learners is None else [n.strip() for n in learners.split(",")],
        folds=folds,
        repeats=repeats,
        max_bags=max_bags,
        n_jobs=jobs,
        client=cluster,
        random_state=seed,
        work=work,
        began=began,
        others=others,
    )


def checked_shape(text, bags):
    """An image shape that fits the features."""
    height, width = shape(text)
    if height * width != bags.n_features:
        raise InputError(
            f"images of {height}x{width} have {height * width} pixels, the rows have "
            f"{bags.n_features} features"
        )
    return height, width


def run(
    data,
    title,
    out,
    budget,
    rule,
    in_time=False,
    as_json=False,
    open_report=False,
    columns=None,
    others=None,
    **settings,
):
    """Compare on `data`, show it live, and fill the folder `out`; `others` are bags to predict."""
    from mixedbag.cli._live import answer, check_lines, leaderboard, troubles
    from mixedbag.comparison import settle_rule

    console = wide(quiet=as_json)
    settled = settle_rule(rule, data.y, data.bags.sizes, in_time)
    tell_understood(console, data, title, settled, hint="; --rule overrides" * (rule == "auto"))
    refuse_unknown(data, settled.rule, **{k: settings.get(k) for k in _ASKED})
    out.mkdir(parents=True, exist_ok=True)
    sign(out)
    result = compare_live(data, settled, out / "folds", budget, as_json, settings)
    compared = monotonic()
    with console.status("putting answers about unseen bags together, and checking them"):
        result.checks()
    # Shown before anything is written: a full disk must not take the answer away.
    console.print()
    console.print(leaderboard(result, over=True))
    console.print()
    for line in (*answer(result), *check_lines(result), *troubles(result)):
        console.print(line)
    if result.model is not None:
        remember(result.model, settings.get("positive"), **(columns or {}))
        for note in result.model.notes:
            console.print(shown(f"  {note}"))
    with console.status("writing the results and the report"):
        files = write_folder(result, out, data, title, others)
    if as_json:
        typer.echo(json.dumps(summary(result, files), indent=2))
    console.print()
    for file in files:
        console.print(shown(f"  {file}"))
    if settings.get("began") is not None:
        console.print(_times(settings["began"], compared, budget), style="dim")
    if result.chosen() is None:
        raise InputError("no learner finished: give it more time with --time-budget")
    if open_report:
        typer.launch(str(files[-1].resolve()))


def _times(began, compared, budget):
    """Where the time went, beside the budget."""
    trials, later = compared - began, monotonic() - compared
    within = f" of {budget:.0f} s" if budget else ""
    return (
        f"  {trials + later:.1f} s{within}: {trials:.1f} s for trials and models, {later:.1f} s "
        "for checks, tables and the report"
    )


def refuse_unknown(data, rule, metric, cost, positive):
    """Refuse a measure, costs or a positive label that do not suit, before anything is written."""
    from mixedbag.comparison._questions import ask

    weight = np.ones(len(data.bags)) if data.weight is None else data.weight
    ask(rule, data.y, data.bags.sizes, weight, metric, cost, positive)


def tell_understood(console, data, title, settled, hint=""):
    """What was read, what was left out, and the rule."""
    from mixedbag.comparison import RULES

    console.print(shown(title, "bold"))
    for note in data.notes:
        console.print(shown(f"  {note}"))
    rule, reason = settled
    console.print(f"  rule [bold]{rule}[/bold]: {RULES[rule]} ({reason}{hint})")


def compare_live(data, rule, folder, budget, quiet, settings):
    """The comparison, with a live table; whatever ends it early, the leaderboard so far is left."""
    from mixedbag.cli._live import watching
    from mixedbag.comparison import compare

    latest: list = []
    try:
        with watching(budget, quiet) as show:

            def watch(result):
                latest[:] = [result]
                show(result)

            return compare(
                *(data.bags, data.y, rule),
                groups=data.groups,
                sample_weight=data.weight,
                time_budget=budget,
                folder=folder,
                watch=watch,
                reported=True,
                **settings,
            )
    except BaseException:
        if latest:
            leave_leaderboard(latest[0], folder)
        raise


def leave_leaderboard(result, folder):
    """Write the leaderboard as far as it goes, then say what is kept: nobody may be listening."""
    from mixedbag.comparison._outputs import leaderboard_table, write_table

    kept = len(list(folder.glob("*/*.npz")))  # also those that wait for one before them to count
    names, rows = leaderboard_table(result)
    path = write_table(folder.parent / "leaderboard", names, rows, parquet=False)
    say(f"\n{kept} finished trials are kept in {folder}; the same command goes on", error=True)
    say(f"the leaderboard so far is in {path}", error=True)


def write_folder(result, out, data, title, others=None):
    """Everything a comparison leaves; the report comes last."""
    from mixedbag.cli._predict import write_answers
    from mixedbag.comparison._outputs import write_outputs
    from mixedbag.report import write_report

    typed = shlex.join(["mixedbag", *sys.argv[1:]])
    if result.protocol.taken is not None:
        data = data.part(np.isin(np.arange(len(data.bags)), result.protocol.taken))
    files = write_outputs(result, out, typed, data.instance_ids)
    if others is not None and result.model is not None:
        files.append(out / "unlabelled.csv")
        write_answers(result.model, others, files[-1])
    write_report(result, out / "report.html", data, title, typed)
    return [*files, out / "report.html"]


def summary(result, files):
    """The outcome for scripts."""
    chosen = result.chosen()
    return {
        "rule": result.rule,
        "reason": result.reason,
        "metric": result.metric,
        "measure": result.measure,
        "why_metric": result.why_metric,
        "classes": class_words(result),
        "positive": class_words(result)[-1] if len(class_words(result)) == 2 else None,
        "bags": len(result.bags),
        "instances": result.bags.n_instances,
        "features": result.bags.n_features,
        "chosen": None if chosen is None else chosen.as_dict(),
        "leaderboard": [row.as_dict() for row in result.leaderboard()],
        "confusion": None if chosen is None else confusion_lists(result),
        "checks": [finding._asdict() for finding in result.checks()],
        "skipped": result.skipped,
        "work": str(result.work),
        "units": result.progress.n_units,
        "left_undone": result.left_undone(),
        "notes": result.notes,
        "files": [str(file) for file in files],
    }


def class_words(result):
    """The classes in the words of the data, the positive one of two last."""
    return result.question.classes.tolist() if result.question.kind == "classes" else []


def confusion_lists(result):
    table = result.confusion()
    return None if table is None else table.round(6).tolist()
