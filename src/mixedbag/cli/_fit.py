"""`mixedbag fit`: one learner, its setting chosen by cross-validation, on all bags."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mixedbag.cli import _options
from mixedbag.cli._runs import refuse_other_run, refuse_out, remember
from mixedbag.cli._tables import fits_in_memory, read_data, require_labels, spool_bags
from mixedbag.cli._terminal import say
from mixedbag.exceptions import InputError


def command(
    table: _options.Table,
    bag: _options.Bag = None,
    label: _options.Label = None,
    labels: _options.Labels = None,
    positive: _options.Positive = None,
    rule: _options.Rule = "auto",
    time: _options.Time = None,
    instance: _options.Instance = None,
    group: _options.Group = None,
    weight: _options.Weight = None,
    exposure: _options.Exposure = None,
    drop: _options.Drop = None,
    query: _options.Query = None,
    learner: Annotated[
        str | None, typer.Option(help="Name of the learner; by default one that suits the rule.")
    ] = None,
    seed: _options.Seed = 0,
    from_disk: Annotated[
        bool | None,
        typer.Option(
            "--from-disk/--in-memory",
            help="Learn from the table in blocks on disk; by default where it does not fit.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to save the model.")] = Path("model.skops"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over the model of another run.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
):
    """Fit one learner and save it; `mixedbag compare` tells which one to take."""
    from mixedbag.comparison import RULES, fit_best_setting, fit_from_disk, settle_rule
    from mixedbag.datasets._folders import is_folder
    from mixedbag.io import save

    refuse_out(out, table, *([] if labels is None else [labels]))
    refuse_other_run(out, overwrite)
    columns = {"bag": bag, "label": label, "time": time, "instance": instance}
    columns |= {"group": group, "weight": weight}
    if from_disk is None:
        from_disk = labels is None and not fits_in_memory(table)
    if from_disk and (labels is not None or is_folder(table)):
        raise InputError(f"{table}: --from-disk is for tables; folders of bags need it not")
    if from_disk:
        left_out = (*(drop or ()), *([] if instance is None else [instance]))
        source = spool_bags(table, bag, label, time, left_out, group, weight, query, positive)
        notes, n_bags = source.notes, len(source)
    else:
        data = read_data(
            table, bag, label, time, drop or (), instance, group, weight, query, labels
        )
        data, _ = require_labels(data, table, positive)
        notes, n_bags = data.notes, len(data.bags)
    if not as_json:
        for note in notes:
            say(f"  {note}")
    if from_disk:
        rule = "sequence" if rule == "auto" and time is not None else rule
        fitted = fit_from_disk(source, rule, learner, seed, positive, exposure)
    else:
        settled = settle_rule(rule, data.y, data.bags.sizes, time is not None)
        if not as_json:
            say(f"  rule {settled.rule}: {RULES[settled.rule]} ({settled.reason})")
        fitted = fit_best_setting(
            *(data.bags, data.y, settled, learner, seed, data.weight, data.groups),
            positive=positive,
            exposure=exposure,
        )
    remember(fitted.model, positive, **columns)
    save(fitted.model, out)
    done = {
        "learner": fitted.name,
        "rule": fitted.rule,
        "setting": fitted.setting,
        "bags": n_bags,
        "notes": list(notes),
        "model": str(out),
    }
    if as_json:
        typer.echo(json.dumps(done, default=str))
    else:
        setting = ", ".join(f"{k.removeprefix('learner__')}={v}" for k, v in fitted.setting.items())
        say(f"{fitted.name} ({setting or 'no settings to choose'}) for the rule {fitted.rule}")
        for note in fitted.model.notes:
            say(f"  {note}")
        say(f"saved as {out}")
