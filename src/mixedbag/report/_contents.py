"""What a report says: a dictionary of plain values, for the page to draw."""

import numpy as np

from mixedbag import _contributions
from mixedbag.comparison import RULES
from mixedbag.comparison._outputs import circumstances
from mixedbag.comparison.checks._09_members_disagree import agreement
from mixedbag.report import _curves as curves
from mixedbag.report._importance import importance
from mixedbag.report._maps import map_of
from mixedbag.report._views import view_of

_RIVALS = 3
_MOST_BAGS = 300
_MOST_INSTANCES = 60
_MOST_ASKED = 200_000  # rows of changed bags, to tell what instances contribute
_MEASURES = 2  # shown beside the one that decides
_TOLD = ("command", "versions", "random_state", "work", "units", "left_undone")


def contents(result, data=None, title="", command=None):
    """Everything the page shows."""
    answers = result.out_of_fold()
    measure = result.question.measure
    others = [m for m in result.figures.measures if m is not measure][:_MEASURES]
    known = {
        "title": title or "Comparison",
        "kind": result.question.kind,
        "measure": measure.about(),
        "why_measure": result.why_metric,
        "others": [other.about() for other in others],
        "data": _data(result, data),
        "classes": _class_names(result),
        "checks": [finding._asdict() for finding in result.checks()],
        "board": [_row(row) for row in result.leaderboard()],
        "splits": len(result.splits),
        "failures": {name: failure.message for name, failure in result.failures.items()},
        "skipped": dict(result.skipped),
        "notes": list(result.notes),
        "circumstances": _brief(circumstances(result, command)),
    }
    if answers is None:
        return known
    known["chosen"] = _row(result.chosen())
    known["constant"] = _row(result.constant())
    known["confusion"] = _confusion(result)
    charts = _class_charts if result.question.kind == "classes" else _amount_charts
    known["charts"] = charts(result, answers)
    known["members"] = _members(result)
    known["importance"] = importance(result)
    view = view_of(result, data)
    known["view"] = view.about
    known["bags"] = _bags(result, answers, view, data)
    known["bags_in_all"] = len(result.bags)
    return known


def _row(row):
    """A row of the leaderboard with the digits that a page can show."""
    facts = row.as_dict()
    for name in ("mean", "low", "high", "p_value", "p_constant", "seconds"):
        facts[name] = _rounded(facts[name])
    facts["scores"] = {name: _rounded(value) for name, value in facts["scores"].items()}
    return facts


def _rounded(value, digits=5):
    return None if value is None or not np.isfinite(value) else float(f"{value:.{digits}g}")


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
    """The classes in the words of the data, the positive one of two last."""
    if result.question.kind != "classes":
        return []
    return [str(label) for label in result.question.classes.tolist()]


def _brief(facts):
    return {k: v for k, v in facts.items() if k in _TOLD}


def _confusion(result):
    table = result.confusion()
    return None if table is None else [[_rounded(v, 4) for v in row] for row in table.tolist()]


def _members(result):
    """Who the model is made of, how much each counts, and how often two answer alike."""
    model = result.model
    if model is None:
        return None
    shares = dict(zip(model.names, model.weights))
    members = [c for c in result.finalists() if shares.get(c.name, 0) > 0]
    if len(members) < 2:
        return None
    return {
        "names": [member.name for member in members],
        "weights": [round(float(shares[member.name]), 3) for member in members],
        "agreement": agreement(result, members).round(3).tolist(),
    }


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
    return [(row.name, result.unseen_bags([by_name[row.name]])[:, 1]) for row in rows[:_RIVALS]]


def _amount_charts(result, answers):
    true = result.y if result.y.ndim == 1 else result.y[:, -1]
    predicted = answers.bags[:, -1]
    halves = np.asarray(true, dtype=float) > np.median(true)
    of_instances = answers.instances[:, -1]
    label_of = result.bags.spread(halves)
    groups = [("small labels", of_instances[~label_of]), ("large labels", of_instances[label_of])]
    groups = [(name, values) for name, values in groups if len(values)]
    return {
        "of": f", class {result.y.shape[1] - 1}" if result.y.ndim == 2 else "",
        "scatter": [
            [_rounded(float(a), 4), _rounded(float(b), 4)] for a, b in zip(true, predicted)
        ][:2000],
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
    asked = np.cumsum(_contributions.n_rows_asked(result.bags.sizes[hardest])) <= _MOST_ASKED
    explained = hardest[:0] if result.rule == "sequence" else hardest[asked]
    gains = _gains(result, answers, explained)
    return [_bag(result, answers, view, data, int(i), gains.get(int(i))) for i in hardest]


def _bag(result, answers, view, data, i, gain):
    bags, question = result.bags, result.question
    start, stop = bags.offsets[i], bags.offsets[i + 1]
    said = int(question.answered(answers.bags[i : i + 1])[0]) if question.kind == "classes" else -1
    score = _instance_scores(question, answers, said, slice(start, stop))
    in_order = view.about["kind"] == "series"
    order = score if gain is None else np.abs(gain)
    rows = np.arange(len(score)) if in_order else np.argsort(-order, kind="stable")
    shown = rows if in_order else rows[:_MOST_INSTANCES]
    names = getattr(data, "instance_ids", None)
    truth = getattr(data, "instance_labels", None)
    bag = {
        "id": str(i if bags.ids is None else bags.ids[i]),
        "label": _words(result.y[i]),
        "predicted": _words(answers.labels[i]),
        "answered": said,
        "wrong": bool(question.kind == "classes" and answers.quality[i] == 0),
        "value": _rounded(float(answers.bags[i, said]), 4),
        "size": int(stop - start),
        "scores": [_rounded(float(score[r]), 4) for r in shown],
        "names": [str(r if names is None else names[start + r]) for r in shown],
        **view.show(bags[i], shown),
    }
    if gain is not None:
        bag["gains"] = [_rounded(float(gain[r]), 3) for r in shown]
        bag["run"] = _contributions.run_of(len(gain))
    coords = getattr(data, "coords", None)
    if coords is not None:
        n_shown = min(len(bags), _MOST_BAGS)
        bag |= map_of(coords[start:stop], score if gain is None else gain, shown, n_shown)
    if in_order and question.kind == "classes":
        step = bag["step"]
        bag["shares"] = answers.instances[start:stop][::step].round(3).T.tolist()
    if truth is not None:
        bag["truth"] = [str(truth[start + r]) for r in shown]
    return bag


def _instance_scores(question, answers, said, rows):
    """What the page calls the answer of an instance: the positive class of two, the class that
    the bag was given of more, or the amount."""
    values = answers.instances[rows]
    if question.kind == "classes" and values.shape[1] > 2:
        return values[:, said]
    return values[:, -1]


def _gains(result, answers, rows):
    """What each instance does for the answers about some bags, as the model handed over sees it.

    Nothing is said of bags that this model, which has seen them, answers differently.
    """
    if not len(rows):
        return {}
    found = _contributions.of_many(result.model, result.bags[rows])
    return {
        int(i): one.values
        for i, one in zip(rows, found)
        if one.answer is None or str(one.answer) == str(answers.labels[i])
        if np.isfinite(one.values).all()
    }


def _words(label):
    """A label as people read it: numbers with few digits, words as they are."""
    if isinstance(label, np.ndarray) and label.ndim:
        return ", ".join(_words(value) for value in label.tolist())
    if isinstance(label, (float, np.floating)):
        return f"{label:.4g}"
    return str(label)
