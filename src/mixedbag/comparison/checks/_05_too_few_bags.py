"""Whether there are enough bags for the figures to mean anything."""

import numpy as np

TITLE = "Too few bags to tell"
LEVEL = "warning"
_FEWEST = 10  # of the rarest class, or a quarter of the amounts
_FOLDS = 10  # beyond which more of them tell hardly more
_WIDEST = 0.3  # of an interval between 0 and 1


def find(result):
    question, groups = result.question, result.protocol.groups
    what = "bags" if groups is None else "groups"
    unit = np.arange(len(result.bags)) if groups is None else groups
    n_units = len(np.unique(unit))
    if question.kind == "classes":
        counts = [len(np.unique(unit[question.codes == k])) for k in range(len(question.classes))]
        rare = int(np.argmin(counts))
        few = f"Only {counts[rare]} {what} have the label {str(question.classes[rare])!r}"
        too_few, most = counts[rare] < _FEWEST, counts[rare]
    else:
        few = f"There are only {n_units} {what}"
        too_few, most = n_units < 4 * _FEWEST, n_units
    advice = (
        "Take every figure with its interval, prefer simple learners, and collect more bags before "
        "you compare learners."
    )
    folds = min(_FOLDS, most)
    if len(result.splits) < folds:
        advice += f" More folds tell more, too: --folds {folds}."
    chosen, measure = result.chosen(), question.measure
    wide = False
    if chosen is not None and chosen.low is not None:
        wide = np.isfinite(measure.limits[0]) and chosen.high - chosen.low > _WIDEST
    if wide:
        interval = measure.shown_interval(chosen.low, chosen.high).replace("–", "to")
        return f"With {n_units} {what}, {measure.words} may be anything from {interval}.", advice
    return (f"{few}.", advice) if too_few else None
