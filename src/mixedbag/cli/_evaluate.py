"""`mixedbag evaluate`: how good a saved model is on bags whose labels are known."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from mixedbag._digits import in_digits
from mixedbag.cli import _options
from mixedbag.cli._edge import at_the_edge, load_model
from mixedbag.cli._runs import refuse_other_run, refuse_out
from mixedbag.cli._tables import refuse_unlabelled
from mixedbag.cli._terminal import say
from mixedbag.exceptions import InputError

_WORST = 20  # bags that the page lists


def command(
    model: _options.Model,
    table: Annotated[str, typer.Argument(help="A file with labels, or a folder of bags.")],
    bag: _options.Bag = None,
    label: _options.Label = None,
    labels: _options.Labels = None,
    time: _options.Time = None,
    weight: _options.Weight = None,
    instance_label: Annotated[
        str | None, typer.Option(help="Column with the true label or value of each row.")
    ] = None,
    query: _options.Query = None,
    out: Annotated[Path | None, typer.Option(help="HTML file for a report.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over the report if it is there.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
):
    """Measure a model on bags with known labels, which it should not have learned from.

    The model remembers the columns it learned from. With --instance-label its answers about
    instances are measured too.
    """
    from mixedbag.cli._answers import asking, needed_features, remembered
    from mixedbag.tables._unknown import about_unknown

    if out is not None:
        refuse_out(out, model, table, *([] if labels is None else [labels]))
        refuse_other_run(out, overwrite)
    fitted = load_model(model)
    with asking(model):
        roles = {
            role: remembered(fitted, role, given)
            for role, given in (("bag", bag), ("label", label), ("time", time), ("weight", weight))
        }
        features = needed_features(fitted)
    data = read_labelled(table, features, instance_label, query, labels, **roles)
    for note in about_unknown(data.notes):
        say(note, error=True)
    with asking(model):
        facts = evaluate(fitted, data)
    facts = {"model": str(model), "table": str(table), **facts}
    if out is not None:
        from mixedbag.report._evaluation import write_evaluation

        write_evaluation(facts, out)
        facts["report"] = str(out)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, default=str))
    else:
        _show(facts)


@at_the_edge
def read_labelled(table, features, instance_label, query, labels, bag, label, time, weight):
    """The table with its labels; those of instances are where names of instances would be."""
    from mixedbag import datasets

    roles = {"time": time, "weight": weight, "instance": instance_label, "query": query}
    data = datasets.read(table, bag, label, features=features, labels=labels, **roles)
    refuse_unlabelled(data, table)
    return data.by_label()[0]


def evaluate(model, data):
    """What there is to say of the answers of a model: plain values by name."""
    from mixedbag import _evidence
    from mixedbag.cli._answers import outside

    facts = {"bags": len(data.bags), "instances": data.bags.n_instances}
    marks = outside(model, data.bags).get("outside")
    if marks is not None:
        facts["far outside of what was learned from"] = int((marks != "").sum())
    judged = _amounts if _evidence.speaks_of_amounts(model) else _classes
    return facts | judged(model, data)


def _classes(model, data):
    from mixedbag.cli._figures import class_figures
    from mixedbag.comparison._cases import Cases, confusion

    words = [str(label) for label in model.classes_.tolist()]
    truth = _codes(words, data.y, "label")
    weight = np.ones(len(truth)) if data.weight is None else data.weight
    answer = _probabilities(model, data.bags, "predict_proba")
    decided = _codes(words, model.predict(data.bags), "answer")
    chance = answer[np.arange(len(truth)), truth]
    worst = np.argsort(chance, kind="stable")[:_WORST]
    figures, intervals = class_figures(truth, answer, decided, weight)
    cases = Cases("classes", truth, weight, len(words), decided=decided)
    facts = {
        "classes": words,
        "of bags": figures,
        "95 % intervals": intervals,
        "confusion": confusion(cases, answer).tolist(),
        "least right": [
            {
                "bag": str(i if data.bags.ids is None else data.bags.ids[i]),
                "label": words[truth[i]],
                "answered": words[decided[i]],
                "probability of the label": round(float(chance[i]), 4),
            }
            for i in worst
        ],
    }
    if data.instance_ids is not None:
        true = _codes(words, data.instance_ids, "instance label")
        named = _codes(words, model.predict_instances(data.bags), "answer")
        q = _probabilities(model, data.bags, "predict_proba_instances")
        facts["of instances"], _ = class_figures(true, q, named, data.bags.spread(weight))
    return facts


def _amounts(model, data):
    from mixedbag import _evidence
    from mixedbag.cli._figures import amount_figures
    from mixedbag.comparison._models import AmountModel

    answer = _evidence.amount_evidence(model, data.bags)
    truth = np.asarray(data.y, dtype=np.float64).reshape(len(data.bags), -1)
    if isinstance(model, AmountModel):
        truth = model.in_own_words(data.bags, truth, answer.shape[1])
    if truth.shape != answer.shape:
        raise InputError(f"{truth.shape[1]} labels a bag, the model has {answer.shape[1]}")
    weight = np.ones(len(truth)) if data.weight is None else data.weight
    rule = getattr(getattr(model, "origin", None), "rule", "")
    sizes = {"count": data.bags.sizes, "proportion": np.ones(len(truth))}.get(rule)
    figures, intervals = amount_figures(truth, answer, weight, sizes)
    facts = {"of bags": figures, "95 % intervals": intervals}
    if data.instance_ids is not None:
        values = _evidence.amount_evidence_of_instances(model, data.bags)
        if values.shape[1] > 1 and sizes is not None:  # a column a class, by its number or name
            true = np.eye(values.shape[1])[_classes_of(model, data.instance_ids, values.shape[1])]
        else:
            true, values = np.asarray(data.instance_ids, dtype=np.float64)[:, None], values[:, -1:]
        ones = None if sizes is None else np.ones(len(true))
        told = true, values, data.bags.spread(weight), ones
        facts["of instances"], _ = amount_figures(*told)
    return facts


def _classes_of(model, labels, n_classes):
    """Numbers of the classes of instances, which may have the names of the columns of counts."""
    from mixedbag.cli._answers import remembered

    names = (remembered(model, "label") or "").partition("/")[0].split(",")
    words = [name.strip() for name in names]
    if len(words) != n_classes or not {str(label) for label in labels} <= {*words}:
        words = [str(k) for k in range(n_classes)]
    return _codes(words, labels, "instance label")


def _probabilities(model, bags, method):
    """Probabilities, or for a model that has none, certainty in what it says."""
    if hasattr(model, method):
        return np.asarray(getattr(model, method)(bags))
    named = getattr(model, "predict" + method.removeprefix("predict_proba"))(bags)
    return (np.asarray(named)[:, None] == model.classes_).astype(np.float64)


def _codes(words, labels, what):
    """Codes of labels in the words of the model; 1 and 1.0 are the same word."""
    places = {word: k for k, word in enumerate(words)}
    places |= {_number(word): k for word, k in places.items() if _number(word) is not None}
    found = [places.get(str(v), places.get(_number(str(v)))) for v in np.asarray(labels).tolist()]
    if None in found:
        strange = np.asarray(labels).tolist()[found.index(None)]
        raise InputError(f"{what} {strange!r} is none of the model's classes: {', '.join(words)}")
    return np.array(found, dtype=np.int64)


def _number(word):
    try:
        return float(word)
    except ValueError:
        return None


def far_words(n_far, n_bags):
    """The finding of the check that is asked when a model meets new bags."""
    from mixedbag.comparison.checks import _10_far_from_training as far

    return f"10 {far.TITLE}: {far.says(n_far, n_bags)} {far.ADVICE}"


def _show(facts):
    from rich.table import Table

    from mixedbag.cli._terminal import shown, wide

    console = wide()
    console.print(shown(f"{facts['model']} on {facts['table']}", "bold"))
    console.print(f"  {facts['bags']} bags, {facts['instances']} instances")
    n_far = facts.get("far outside of what was learned from")
    if n_far:
        console.print(shown(f"  ! {far_words(n_far, facts['bags'])}", "bold yellow"))
    levels = [name for name in ("of bags", "of instances") if name in facts]
    table = Table(box=None, header_style="bold")
    table.add_column("")
    for level in levels:
        table.add_column(level, justify="right")
        if level == "of bags":
            table.add_column("95 % interval", justify="right")
    for name, value in facts["of bags"].items():
        ends = facts["95 % intervals"].get(name)
        cells = [in_digits(value), "" if ends is None else " – ".join(map(in_digits, ends))]
        if len(levels) > 1:
            of_instances = facts["of instances"].get(name)
            cells.append("" if of_instances is None else in_digits(of_instances))
        table.add_row(name, *cells)
    console.print(table)
    if "confusion" in facts:
        table = Table(box=None, header_style="bold")
        for column in ("true \\ answered", *facts["classes"]):
            table.add_column(shown(column), justify="right")
        for word, row in zip(facts["classes"], facts["confusion"]):
            table.add_row(shown(word), *(f"{value:g}" for value in row))
        console.print(table)
    if "report" in facts:
        console.print(shown(f"  {facts['report']}"))
