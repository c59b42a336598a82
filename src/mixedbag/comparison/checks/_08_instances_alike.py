"""Whether anything can be said about single instances."""

import numpy as np

from mixedbag.pooling import bag_max

TITLE = "Instances cannot be told apart"
LEVEL = "note"
_ALIKE = 0.02  # of the spread of all instance answers
_MOST = 0.5  # of the bags


def find(result):
    bags, question = result.bags, result.question
    several = bags.sizes > 1
    if not several.any():
        return "Every bag holds one instance.", "The bag's answer is its instance's answer."
    if question.kind == "counts" and len(np.unique(_shares(question).round(9), axis=0)) == 1:
        return (
            "The same share of instances is positive in every bag: labels say nothing of which.",
            "Answers about instances mean nothing here; bags with different shares are needed.",
        )
    same = _spread(np.asarray(bags.instances.todense()) if bags.is_sparse else bags.instances, bags)
    same = (same == 0).all(axis=1)[several].mean()
    if same > _MOST:
        return (
            f"{100 * same:.0f} % of the bags hold copies of one instance.",
            "Answers about instances repeat the bag's; check how the table was made.",
        )
    answers = result.out_of_fold()
    if answers is None:
        return None
    asked = several & _should_differ(result)
    if not asked.any():
        return None
    values = answers.instances[:, -1:]
    whole = np.ptp(values)
    alike = (_spread(values, bags)[asked, 0] < _ALIKE * whole).mean() if whole > 0 else 1.0
    if alike <= _MOST:
        return None
    return (
        f"In {100 * alike:.0f} % of {_asked_words(result)}, instances get much the same answer.",
        "Do not read a ranking into it: the labels of bags do not tell these instances apart.",
    )


def _should_differ(result):
    """Bags in which instances have different labels, as far as the rule tells.

    Where one instance is enough, all may be alike in a bag that has none; and a majority may be
    all.
    """
    question = result.question
    if question.kind != "classes":
        return np.ones(len(result.bags), dtype=bool)
    if result.rule == "majority" or len(question.classes) > 2:
        return np.zeros(len(result.bags), dtype=bool)
    return question.codes == question.positive


def _asked_words(result):
    question = result.question
    if question.kind != "classes":
        return "the bags"
    return f"the bags labelled {str(question.classes[question.positive])!r}"


def _shares(question):
    return question.cases.truth / np.asarray(question.cases.sizes)[:, None]


def _spread(values, bags):
    values = np.nan_to_num(np.asarray(values, dtype=np.float64))
    return bag_max(values, bags.offsets) + bag_max(-values, bags.offsets)
