"""When did it happen? NDCG@n of the samples' scores, in visits to web pages with known events.

The measure of MILLET's WebTraffic study: of a bag with an event, its n samples in the event should
have the n highest scores. Learners see labels of whole series only. One kind of event at a time
against all others and none; half of the bags to learn from, half to ask; settings fixed beforehand.
"""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import ndcg_score, roc_auc_score

from benchmarks._tables import Table, grouped
from benchmarks.arhmm._fixed import methods, on_states
from benchmarks.arhmm._purity import purity
from mixedbag.datasets import make_traffic
from mixedbag.datasets.traffic import EVENTS
from mixedbag.sequence import MARClassifier

N_BAGS, DAYS = 200, 4
SEEDS = (0,)
FIGURES = ("NDCG@n", "bag AUC", "instance AUC")
TINY = {"event": "cutoff", "seed": 0}


class Chance:
    """Scores that know nothing."""

    settings = ({},)

    def fit(self, bags, y, setting):
        return self

    def scores(self, bags):
        rng = np.random.default_rng(0)
        return rng.uniform(size=len(bags)), rng.uniform(size=bags.n_instances)


def cases():
    return [{"event": event, "seed": seed} for seed in SEEDS for event in EVENTS]


def run(case):
    data = make_traffic(N_BAGS, DAYS, case["event"], random_state=case["seed"])
    train, test = np.arange(0, N_BAGS, 2), np.arange(1, N_BAGS, 2)
    truth = data.instance_labels.reshape(N_BAGS, -1)[test]
    found = {"places": float(truth[data.y[test] == 1].mean())}
    others = {"chance": Chance(), "MARMIL": on_states(MARClassifier)}
    for name, method in methods(**others).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            method.fit(data.bags[train], data.y[train], method.settings[0])
            bags, samples = method.scores(data.bags[test])
        figures = (
            localisation(truth, samples.reshape(truth.shape)),
            roc_auc_score(data.y[test], bags),
            roc_auc_score(truth.ravel(), samples),
        )
        found[name] = dict(zip(FIGURES, map(float, figures)))
    return found


def localisation(truth, scores):
    """Mean NDCG@n over the bags that have an event, n being its samples."""
    has = truth.any(axis=1)
    return np.mean(
        [ndcg_score(t[None], s[None], k=int(t.sum())) for t, s in zip(truth[has], scores[has])]
    )


def table(rows):
    names = [key for key in rows[0] if key not in ("event", "seed", "places")]
    overall = [{"method": name} | {f: mean(rows, name, f) for f in FIGURES} for name in names]
    for line in overall:
        best = [max(names, key=lambda n: row[n]["NDCG@n"]) for row in rows]
        line["best in"] = f"{best.count(line['method'])} of {len(rows)}"
    by_event = [
        {"event": event, "samples in it": f"{np.mean([r['places'] for r in mine]):.0%}"}
        | {"purity": purity([{"event": event}])}
        | {name: mean(mine, name, "NDCG@n") for name in names}
        for (event,), mine in grouped(rows, "event").items()
    ]
    title = f"All events, purity {purity([{'event': row['event']} for row in rows])}"
    return [Table(title, overall, NOTES), Table("NDCG@n by event", by_event)]


def mean(rows, name, figure):
    return float(np.mean([row[name][figure] for row in rows]))


NOTES = (
    f"`make_traffic`: {N_BAGS} series of {DAYS} days (144 samples a day), half of them with the "
    f"event in question. NDCG@n over the test bags that have the event, by the "
    "scores of single samples (windows of 50 samples give theirs to the samples in them). 'best "
    "in': problems in which a method has the highest NDCG@n. Nothing was chosen for any method "
    "or event."
)
