"""Whether the members of the model say the same about unseen bags."""

import numpy as np

TITLE = "The members of the model disagree"
LEVEL = "note"
_LEAST = {"classes": 0.75, "counts": 0.5, "amounts": 0.5}


def find(result):
    members = result.finalists()
    if len(members) < 2:
        return None
    table = agreement(result, members)
    between = table[np.triu_indices(len(members), 1)]
    kind = result.question.kind
    if between.mean() >= _LEAST[kind]:
        return None
    i, j = np.unravel_index(np.argmin(table), table.shape)
    if kind == "classes":
        says = f"Two members answer the same about {100 * between.mean():.0f} % of unseen bags"
        worst = f"{100 * table[i, j]:.0f} %"
    else:
        says = f"Answers of two members about unseen bags correlate by {between.mean():.2f}"
        worst = f"{table[i, j]:.2f}"
    return (
        f"{says} on average, {members[i].name} and {members[j].name} least ({worst}).",
        "An answer near the threshold depends on who is asked: look at the probabilities, not "
        "only at the class.",
    )


def agreement(result, members):
    """How often two members answer alike on unseen bags, or how answers on amounts correlate."""
    answers = [result.unseen_bags([member]) for member in members]
    if result.question.kind == "classes":
        weight = result.question.weight
        labels = [result.question.labels(answer) for answer in answers]
        return np.array([[np.average(a == b, weights=weight) for b in labels] for a in labels])
    table = np.array([answer[:, -1] for answer in answers])
    table = table - table.mean(axis=1, keepdims=True)
    scale = np.sqrt((table**2).sum(axis=1, keepdims=True))
    table = table / np.maximum(scale, 1e-12)
    return np.clip(table @ table.T, -1.0, 1.0)
