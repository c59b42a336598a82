"""The mixed problems again: ARHMM-MIL by all samples of a bag, and by the bag's best stretch.

The length of a stretch was chosen on other problems (`development`), before the first run on these.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks._store import Store
from benchmarks._tables import RESULTS, Table, grouped
from benchmarks.arhmm import mixed
from benchmarks.arhmm._fixed import ORDER, STATES
from benchmarks.arhmm._purity import of_joined
from mixedbag.sequence import ARHMMClassifier

LENGTH = 25
MODELS = {
    "ARHMM-MIL": {"order": ORDER},
    "ARHMM-MIL, level 1": {"order": ORDER, "level": 1.0},
    "ARHMM-MIL of order 0": {"order": 0},
}
TINY = mixed.TINY


def cases():
    return mixed.cases()


def run(case):
    """Areas by bags as the link says and by stretches, and by samples; three folds."""
    bags, y, truth = mixed.joined(case)
    folds = StratifiedKFold(mixed.N_FOLDS, shuffle=True, random_state=0)
    found = {}
    for name, setting in MODELS.items():
        areas = []
        for train, test in folds.split(y, y):
            model = ARHMMClassifier(STATES, max_iter=6, n_init=1, random_state=0, **setting)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(bags[train], y[train])
            by_link = model.decision_function(bags[test])
            by_stretch = model.set_params(stretch=LENGTH).decision_function(bags[test])
            samples = np.concatenate([truth[i] for i in test])
            scores = model.decision_function_instances(bags[test])
            pairs = ((y[test], by_link), (y[test], by_stretch), (samples, scores))
            areas.append([roc_auc_score(*pair) for pair in pairs])
        means = np.mean(areas, axis=0)
        found[name] = dict(zip(("bags", "bags, by stretches", "samples"), map(float, means)))
    return found


def table(rows):
    overall = [
        {"method": name} | {figure: mean(rows, name, figure) for figure in rows[0][name]}
        for name in MODELS
    ]
    by_mixture = [
        {"own stretches": mixture, "activity": mixed.ACTIVITIES[activity]}
        | {"purity": of_joined(mine)}
        | {f"{name}{end}": mean(mine, name, f"bags{end}") for name in MODELS for end in ENDS}
        for (mixture, activity), mine in grouped(rows, "mixture", "activity").items()
    ]
    return [
        Table(
            f"Area under the curve, all problems, purity {of_joined(rows)}",
            [*overall, *rivals(rows)],
            NOTES,
        ),
        Table("Bags by mixture", by_mixture),
    ]


ENDS = ("", ", by stretches")


def mean(rows, name, figure):
    return float(np.mean([row[name][figure] for row in rows]))


def rivals(rows):
    """The rows of `mixed` on the same problems, of methods that do not model the series."""
    keys = ("person", "activity", "mixture")
    wanted = {tuple(row[k] for k in keys) for row in rows}
    latest = Store(RESULTS / "arhmm.jsonl").latest("mixed").values()
    same = [row.result for row in latest if tuple(row.case[k] for k in keys) in wanted]
    names = [n for n in same[0]["bag AUC"] if not n.startswith("ARHMM-MIL")] if same else []
    return [
        {
            "method": name,
            "bags": float(np.mean([row["bag AUC"][name] for row in same])),
            "samples": float(np.mean([row["instance AUC"][name] for row in same])),
        }
        for name in names
    ]


NOTES = (
    "The problems, folds and settings of `mixed`, from which the rows of the other methods are. "
    f"By stretches: `stretch={LENGTH}`, a bag has the score of its best {LENGTH} samples in a row; "
    "learning is the same; `several` averages models. **Why forests on quantiles stay ahead** "
    "(`own_world` and `why` measure where the model is true). The labels can raise the objective "
    "by at most log 2 a bag, while more states raise it by many times that (`development` has the "
    "figure): states follow what varies most in the series, a forest what goes with the label. "
    "Giving the model what forests have did not help where it was tried (`development`): states "
    "over components of quantile windows, or over a forest's own scores, told samples apart worse "
    "than the forest. The other way round it helps: a forest over states of models (`states`). So "
    "it is not, as this page once argued, that an autoregression of a tenth of a second cannot "
    "see a step."
)
