"""What a report says: a dictionary of plain values, for the page to draw."""

import numpy as np

from mixedbag.comparison import RULES
from mixedbag.comparison._outputs import circumstances
from mixedbag.report import _curves as curves
from mixedbag.report._views import view_of

_RIVALS = 3
_MOST_BAGS = 300
_MOST_INSTANCES = 60


def contents(result, data=None, title="", command=None):
    """Everything the page shows."""
    answers = result.out_of_fold()
    known = {
        "title": title or "Comparison",
        "kind": result.question.kind,
        "measure": result.measure,
        "data": _data(result, data),
        "board": [row.as_dict() for row in result.leaderboard()],
        "splits": len(result.splits),
        "failures": {name: failure.message for name, failure in result.failures.items()},
        "skipped": result.skipped,
        "circumstances": _brief(circumstances(result, command)),
    }
    if answers is None:
        return known
    chosen = result.chosen()
    known["chosen"] = chosen.as_dict()
    known["classes"] = _class_names(result)
    charts = _class_charts if result.question.kind == "classes" else _amount_charts
    known["charts"] = charts(result, answers)
    view = view_of(result, data)
    known["view"] = view.about
    known["bags"] = _bags(result, answers, view, data)
    known["bags_in_all"] = len(result.bags)
    return known


def _data(result, data):
    bags = result.bags
    return {
        "bags": len(bags),
        "instances": bags.n_instances,
        "features": bags.n_features,
        "rule": result.rule,
        "rule_says": RULES[result.rule],
        "reason": result.reason,
        "notes": list(getattr(data, "notes", ())),
        "labels": _label_counts(result),
        "sizes": curves.sizes(bags),
    }


def _label_counts(result):
    if result.question.kind != "classes":
        return []
    counts = np.bincount(result.question.codes).tolist()
    return [[str(label), n] for label, n in zip(result.question.classes.tolist(), counts)]


def _class_names(result):
    if result.question.kind != "classes":
        return []
    return [str(label) for label in result.question.classes.tolist()]


def _brief(facts):
    return {k: v for k, v in facts.items() if k in ("command", "versions", "random_state")}


# Charts -------------------------------------------------------------------------------------------


def _class_charts(result, answers):
    """Curves of the chosen model; with two classes, of its closest rivals too."""
    question = result.question
    names = _class_names(result)
    if len(names) == 2:
        positive = question.codes == 1
        scores = [(answers.name, answers.bags[:, 1]), *_rivals(result)]
        lines = [curves.ranking_curves(name, positive, s, question.weight) for name, s in scores]
        of_second = answers.instances[:, 1]
    else:
        lines = [
            curves.ranking_curves(name, question.codes == k, answers.bags[:, k], question.weight)
            for k, name in enumerate(names)
        ]
        positive = answers.bags.argmax(axis=1) == question.codes
        of_second = answers.instances.max(axis=1)
    forecast = answers.bags[:, 1] if len(names) == 2 else answers.bags.max(axis=1)
    label_of = result.bags.spread(question.codes)
    groups = [(name, of_second[label_of == k]) for k, name in enumerate(names)]
    return {
        "curves": lines,
        "calibration": curves.calibration(positive, forecast, question.weight),
        "instances": curves.distributions(groups),
    }


def _rivals(result):
    """Name and out-of-fold probability of the best single learners."""
    rows = [r for r in result.leaderboard() if r.kind == "learner" and r.status == "done"]
    if len(rows) == 1:  # it is the chosen one
        return []
    by_name = {candidate.name: candidate for candidate in result.candidates}
    return [(row.name, result.out_of_fold(by_name[row.name]).bags[:, 1]) for row in rows[:_RIVALS]]


def _amount_charts(result, answers):
    true = result.y if result.y.ndim == 1 else result.y[:, -1]
    predicted = answers.bags[:, -1]
    halves = np.asarray(true, dtype=float) > np.median(true)
    of_instances = answers.instances[:, -1]
    label_of = result.bags.spread(halves)
    groups = [("small labels", of_instances[~label_of]), ("large labels", of_instances[label_of])]
    groups = [(name, values) for name, values in groups if len(values)]
    return {
        "scatter": [[float(a), round(float(b), 4)] for a, b in zip(true, predicted)][:2000],
        "errors": curves.distributions([("error", predicted - np.asarray(true, dtype=float))]),
        "instances": curves.distributions(groups),
    }


# Bags ---------------------------------------------------------------------------------------------


def _bags(result, answers, view, data):
    """The bags, those most wrongly answered first; of very many, the hardest and every n-th."""
    loss = result.question.loss(answers.bags, np.arange(len(result.bags)))
    hardest = np.argsort(-loss, kind="stable")
    if len(hardest) > _MOST_BAGS:
        rest = hardest[_MOST_BAGS // 2 :]
        step = len(rest) / (_MOST_BAGS - _MOST_BAGS // 2)
        picked = rest[np.arange(0, len(rest), step).astype(int)]
        hardest = np.concatenate([hardest[: _MOST_BAGS // 2], picked])
    return [_bag(result, answers, view, data, int(i)) for i in hardest]


def _bag(result, answers, view, data, i):
    bags, question = result.bags, result.question
    start, stop = bags.offsets[i], bags.offsets[i + 1]
    score = _instance_scores(question, answers, i, slice(start, stop))
    in_order = view.about["kind"] == "series"
    rows = np.arange(len(score)) if in_order else np.argsort(-score, kind="stable")
    shown = rows if in_order else rows[:_MOST_INSTANCES]
    names = getattr(data, "instance_ids", None)
    truth = getattr(data, "instance_labels", None)
    label = result.y[i]
    bag = {
        "id": str(i if bags.ids is None else bags.ids[i]),
        "label": str(label if result.y.ndim == 1 else label.tolist()),
        "predicted": _predicted(question, answers, i),
        "wrong": bool(question.kind == "classes" and answers.quality[i] == 0),
        "value": round(float(answers.bags[i, -1]), 4),
        "size": int(stop - start),
        "scores": [round(float(score[r]), 4) for r in shown],
        "names": [str(r if names is None else names[start + r]) for r in shown],
        **view.show(bags[i], shown),
    }
    if truth is not None:
        bag["truth"] = [str(truth[start + r]) for r in shown]
    return bag


def _instance_scores(question, answers, i, rows):
    """How much each instance speaks for the bag's label: for the second class, or the predicted."""
    values = answers.instances[rows]
    if question.kind == "classes" and values.shape[1] > 2:
        return values[:, answers.bags[i].argmax()]
    return values[:, -1]


def _predicted(question, answers, i):
    label = answers.labels[i]
    if question.kind == "classes":
        return str(label)
    return np.array2string(np.asarray(label), precision=3)
