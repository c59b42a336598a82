"""Whether the model knows more than how frequent the labels are."""

TITLE = "No better than the same answer for every bag"
LEVEL = "warning"
_SURE = 0.05


def _clearly(result, level):
    """Whether the bags alone, however few the folds, speak against a level."""
    answers = result.out_of_fold()
    return result.question.measure.interval(result.figures.cases, answers.bags)[1] > level


def find(result):
    chosen, constant = result.chosen(), result.constant()
    if chosen is None or chosen.mean is None or constant.mean is None:
        return None
    measure = result.question.measure
    both = f"{measure.words} {measure.shown(chosen.mean)} against {measure.shown(constant.mean)}"
    better = chosen.mean > constant.mean
    if better and (chosen.p_constant is None or chosen.p_constant < _SURE):
        return None
    if better and _clearly(result, constant.mean):
        return None
    how = "hardly better" if better else "no better"
    p = "" if chosen.p_constant is None else f", p = {chosen.p_constant:.2f}"
    return (
        f"The chosen model is {how} than always giving the same answer ({both}{p}).",
        "Do not act on its answers: look for features that bear on the label, another rule "
        "(--rule), or more bags.",
    )
