"""`mixedbag explain`: why a bag got its label: its instances, ranked."""

import json
from typing import Annotated

import numpy as np
import typer

from mixedbag._digits import in_digits
from mixedbag._tables import plain, short
from mixedbag.cli import _options
from mixedbag.cli._edge import load_model
from mixedbag.cli._terminal import say

_FEATURES = 3  # that an instance's line names
_ASKED = 40  # features that are tried


def command(
    model: _options.Model,
    table: Annotated[str, typer.Argument(help="The table or folder with the bag.")],
    name: Annotated[str, typer.Argument(metavar="BAG", help="The bag's id.")],
    bag: _options.Bag = None,
    time: _options.Time = None,
    query: _options.Query = None,
    top: Annotated[int, typer.Option(min=1, help="How many instances to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
):
    """Show what the model says of one bag, and which instances made it say so.

    Instances are ranked by what the answer loses without them, features by what it loses when they
    take their typical value.
    """
    from mixedbag import _contributions
    from mixedbag.cli._answers import (
        asking,
        bag_answers,
        instance_answers,
        needed_features,
        remembered,
    )
    from mixedbag.cli._tables import read_bag
    from mixedbag.tables._unknown import about_unknown

    fitted = load_model(model)
    with asking(model):
        features = needed_features(fitted)
        bag, time = remembered(fitted, "bag", bag), remembered(fitted, "time", time)
    data = read_bag(table, name, bag, features, time, query, remembered(fitted, "instance"))
    for note in about_unknown(data.notes):
        say(note, error=True)
    found = data.bags
    names = np.arange(found.n_instances) if data.instance_ids is None else data.instance_ids
    with asking(model):
        verdict = {name: plain(values[0]) for name, values in bag_answers(fitted, found).items()}
        answers = instance_answers(fitted, found)
        contributions = _contributions.of_instances(fitted, found)
        typical = _typical(fitted, found)
        ranked = []
        for place, i in enumerate(contributions.ranking().tolist()):
            line = {
                "instance": plain(names[i]),
                "contribution": float(f"{contributions.values[i]:.4g}"),
                **{name: plain(values[i]) for name, values in answers.items()},
                **_place(data.coords, i),
            }
            if place < top:
                line["because of"] = _because(fitted, found, i, typical)
            ranked.append(line)
    facts = {"bag": name, **verdict, "contributions": contributions.caption}
    if as_json:
        typer.echo(json.dumps({**facts, "instances": ranked}, indent=2, default=str))
    else:
        _show({**facts, "instances": ranked}, top)


def _place(coords, i):
    """Where an instance lies, where that is known."""
    if coords is None or np.isnan(coords[i]).any():
        return {}
    return {axis: int(v) if v.is_integer() else v for axis, v in zip("xy", coords[i].tolist())}


def _typical(model, bags):
    """Typical values of features: those of the training data, or of the bag itself."""
    from mixedbag import _contributions

    origin = getattr(model, "origin", None)
    return _contributions.typical_values(bags) if origin is None else origin.typical


def _because(model, bags, i, typical):
    """The features that did most for the answer, with their values and contributions."""
    from mixedbag import _contributions

    values = _contributions.of_features(model, bags, i, typical, most=_ASKED)
    X = bags.instances[[i]].toarray()[0] if bags.is_sparse else bags.instances[i]
    names = bags.feature_names or [f"feature {j}" for j in range(bags.n_features)]
    best = [j for j in np.argsort(-values, kind="stable")[:_FEATURES] if values[j] > 0]
    return {
        names[j]: {"value": short(X[j]), "contribution": float(f"{values[j]:.3g}")} for j in best
    }


def _show(explanation, top):
    from rich.table import Table

    from mixedbag.cli._terminal import shown, wide

    console = wide()
    hidden = ("instances", "bag", "contributions")
    facts = {k: v for k, v in explanation.items() if k not in hidden}
    verdict = ", ".join(f"{k} {_value(v)}" for k, v in facts.items())
    console.print(shown(f"bag {explanation['bag']}: {verdict}"))
    console.print(shown(f"contribution: {explanation['contributions']}"))
    ranked = explanation["instances"]
    table = Table(box=None, header_style="bold")
    for column in ranked[0]:
        table.add_column(shown(column), justify="left" if column == "because of" else "right")
    for row in ranked[:top]:
        because = (f"{k} {_shown(fact['value'])}" for k, fact in row["because of"].items())
        table.add_row(
            *(shown(_value(v)) for v in {**row, "because of": ", ".join(because)}.values())
        )
    console.print(table)
    if len(ranked) > top:
        console.print(f"… and {len(ranked) - top} more; --top shows them", markup=False)


def _value(value):
    return in_digits(value) if isinstance(value, float) else str(value)


def _shown(value):
    return "missing" if value is None else f"{value:.10g}"
