"""What a fit costs and how good it is: the table from which `compare` makes its sequence of work.

Every learner meets problems of several shapes and those of the development collection with the
setting that `compare` tries first. Seconds, on the former, are those of the processor, so a busy
machine changes little. The law ``seconds = overhead + e^a · bags^b · instances^c · features^d`` (b,
c, d not negative) is fitted to them by least squares in logs, the overhead being most of the
shortest time; for counts of k classes the product has ``(k − 1)^e`` as well. Whoever takes sparse
tables has a second law for them, from texts of several sizes: what a feature costs is another thing
where most values are zero. The merit is how well
unseen bags of the collection, none of the ten sets that figures are reported on, are ordered (twice
the area under the ROC curve, less one) or R²: the half of a problem that was not learned from is
asked about. Where labels are drawn at random some learners take many times as long, as machines
that alternate do: the longest of several problems of few instances, against the same with labels
that can be learned, is in the table too (*longer*), and who takes much longer does not begin a
comparison. A fit that does not end within `LIMIT` seconds counts as no better than chance, and the
law may say that it takes longer than that, never less.
"""

import json
import signal
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import lsq_linear
from sklearn.datasets import load_digits
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks._tables import Table
from benchmarks.product._collection import of_rule
from mixedbag.bags import Bags
from mixedbag.comparison import _effort
from mixedbag.comparison._candidates import find_candidates
from mixedbag.comparison._protocol import make_protocol
from mixedbag.comparison._trials import fit, settings
from mixedbag.datasets import BagData, make_any, make_count, make_majority, make_sequences, make_sum
from mixedbag.learners import all_learners

LIMIT = 10
FEW = 8000  # instances, of problems that are learned with labels at random too
QUICK = 0.5  # seconds: fits that are longer at labels that can be learned begin no comparison
SHORT = 0.02  # seconds that fits may differ by without a cause
ROUNDS = 50  # of the search for what fits that did not end would have taken
SHAPES = [  # bags, instances a bag, features
    (40, 8, 8),
    (160, 8, 8),
    (40, 32, 8),
    (40, 8, 64),
    (400, 10, 10),
    (2000, 4, 10),
    (1000, 40, 20),
]
WIDE = (120, 6, 200)  # as descriptions of molecules and images are; for the rule that they have
CLASSES = [(160, 8, 8, 4), (160, 8, 8, 10), (120, 6, 200, 2), (1000, 5, 200, 10)]  # k the last
SCANS = [90, 1000]  # bags of five scanned digits, ten classes: real features hang together
TEXTS = [(40, 8, 500), (160, 8, 500), (40, 8, 5000), (40, 32, 2000), (200, 8, 20_000)]
WORDS = 30  # of a passage
LENGTHS = [(24, 60, 3), (96, 60, 3), (24, 240, 3), (24, 60, 9), (96, 240, 6), (200, 400, 3)]


def _made(make, shapes=SHAPES):
    return [
        lambda shape=shape: make(2 * shape[0], shape[1], n_features=shape[2], random_state=0)
        for shape in shapes
    ]


def _of_classes(n_bags, size, n_features, n_classes):
    shape = {"n_features": n_features, "n_classes": n_classes}
    return lambda: make_count(2 * n_bags, size, **shape, random_state=0)


def _scans(n_bags, size=5):
    """Scanned digits in 16 by 16 points, with noise, some of them several times."""
    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    rows = rng.integers(len(images), size=2 * n_bags * size)
    X = np.kron(images[rows].reshape(-1, 8, 8), np.ones((2, 2))).reshape(len(rows), -1)
    offsets = np.arange(0, len(rows) + 1, size)
    counts = np.add.reduceat(np.eye(10)[digits[rows]], offsets[:-1])
    return BagData(Bags(X + rng.normal(0, 1, X.shape), offsets), counts.astype(int))


def texts(n_bags, size, n_words):
    """Passages of words, frequent and rare; one of a positive text has words of a topic."""
    rng = np.random.default_rng(0)
    n_rows = 2 * n_bags * size
    words = (n_words ** rng.random((n_rows, WORDS))).astype(int) - 1
    y = np.arange(2 * n_bags) // 2 % 2
    words[np.flatnonzero(y) * size, :10] = rng.integers(100, 120, (y.sum(), 10))
    rows = np.repeat(np.arange(n_rows), WORDS)
    table = sparse.csr_array((np.ones(rows.size), (rows, words.ravel())), (n_rows, n_words))
    return BagData(Bags(table, np.arange(0, n_rows + 1, size)), y)


SHAPED = {
    "any": _made(make_any, [*SHAPES, WIDE]),
    "majority": _made(make_majority),
    "count": _made(make_count)
    + [_of_classes(*shape) for shape in CLASSES]
    + [lambda n=n: _scans(n) for n in SCANS],
    "sum": _made(make_sum),
    "sequence": [
        lambda shape=shape: make_sequences(2 * shape[0], shape[1], shape[2], random_state=0)
        for shape in LENGTHS
    ],
}
TINY = {"rule": "sum", "learner": "AggregateRidgeRegressor"}


def cases():
    pairs = [{"rule": rule, "learner": name} for rule in SHAPED for name in learners(rule)]
    return pairs + [pair | {"labels": "at random"} for pair in pairs]


def learners(rule):
    """All that `compare` may try, those of packages that are not installed last."""
    names = [candidate.name for candidate in _everybody(rule)]
    more = [kind for kind in all_learners(installed=False) if rule in kind._rules]
    return names + [k.__name__ for k in more if k._compared and k.__name__ not in names]


def _everybody(rule, data=None):
    """All learners, whatever the table that is there expects of them."""
    bags = Bags.from_list([np.eye(2)] * 4) if data is None else data.bags[np.arange(2)]
    found, _ = find_candidates(rule, bags)
    return [replace(candidate, max_bags=None) for candidate in found]


def run(case):
    """Seconds and quality on every problem, and the merit; or how far seconds hang on labels."""
    if case.get("labels") == "at random":
        met = [data for make in SHAPED[case["rule"]] if (data := make()).bags.n_instances <= FEW]
        told = [times for data in met if (times := _longer(case, data)) is not None]
        return {"longer": max([1.0, *told]) if told else None}
    shaped = [_met(case, make()) for make in SHAPED[case["rule"]]]
    met = {name: _met(case, make()) for name, make in of_rule(case["rule"]).items()}
    told = {
        "merit": round(float(np.mean([point["quality"] for point in met.values()])), 3),
        "points": [*shaped, *met.values()],
    }
    if case["rule"] == "any" and case["learner"] in _takers_of_sparse():
        texts = [texts(*shape) for shape in TEXTS]
        able = [text for text in texts if case["learner"] in _names(_everybody("any", text))]
        told["sparse"] = [_met(case, text) for text in able]
    return told


def _takers_of_sparse():
    found, _ = find_candidates("any", Bags(sparse.csr_array(np.eye(8)), np.arange(0, 9, 2)))
    return _names(found)


def _names(candidates):
    return [candidate.name for candidate in candidates]


def _longer(case, data):
    """How many times as long a quick fit takes where labels are drawn at random, else None."""
    law, bags = _effort.known(case["rule"], case["learner"]).law, data.bags
    if law.seconds(len(bags) / 2, bags.n_instances / 2, bags.n_features) > 4 * QUICK:
        return None
    order = np.random.default_rng(0).permutation(len(data.y))
    seconds = []
    for some in (data, replace(data, y=np.asarray(data.y)[order])):
        seconds.append(_met(case, some)["seconds"])
        if seconds[0] > QUICK:
            return None
        if max(seconds) <= QUICK:  # else it is no matter of a few milliseconds
            seconds[-1] = min(seconds[-1], _met(case, some)["seconds"])
    return round((seconds[1] + SHORT) / (seconds[0] + SHORT), 2)


def _met(case, data):
    """One problem: learn from every other bag, ask about the rest."""
    train, test = np.arange(0, len(data.y), 2), np.arange(1, len(data.y), 2)
    _, protocol = make_protocol(data.bags, data.y, case["rule"])
    candidate = next(c for c in _everybody(case["rule"], data) if c.name == case["learner"])
    first = settings(candidate)[0]
    few = np.sort(np.concatenate([np.flatnonzero(_kinds(data.y) == k)[:4] for k in (0, 1)]))
    question, part = protocol.question, data.bags[train]
    quality = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(ValueError):
            fit(protocol, candidate, first, few)  # compiles
    with warnings.catch_warnings(), suppress(_OverError, ValueError), _at_most(LIMIT) as over:
        warnings.simplefilter("ignore")
        start = time.process_time()
        model = fit(protocol, candidate, first, train)
        evidence = question.evidence(model, data.bags[test])
        question.evidence_of_instances(model, data.bags[test])
        quality = _quality(question, evidence, test)
    seconds = LIMIT if over else time.process_time() - start
    shape = {"bags": len(part), "instances": part.n_instances, "features": part.n_features}
    if np.ndim(data.y) == 2:
        shape["classes"] = data.y.shape[1]
    return shape | {"seconds": round(seconds, 5), "quality": round(max(0.0, quality), 3)}


def _kinds(y):
    """Two kinds of labels, so that a few bags have both."""
    values = np.unique(y, return_inverse=True)[1]
    return (values > np.median(values)) if len(np.unique(values)) > 2 else values


def _quality(question, evidence, rows):
    if question.kind != "classes":
        return r2_score(np.asarray(question.y)[rows], evidence)
    codes = question.codes[rows]
    if evidence.shape[1] == 1:
        return 2 * roc_auc_score(codes, evidence[:, 0]) - 1
    areas = [roc_auc_score(codes == k, evidence[:, k]) for k in np.unique(codes)]
    return 2 * float(np.mean(areas)) - 1


class _OverError(BaseException):
    """No `Exception`: a learner must not catch it."""


@contextmanager
def _at_most(seconds):
    """Ends what is inside after so many seconds of the processor; yields a list that then has an
    entry."""
    over = []

    def end(*_):
        over.append(True)
        raise _OverError

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield over
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _law(row, points=None):
    """The law, from the problems of several shapes; what did not end takes at least the limit."""
    points = points or row["points"][: len(SHAPED[row["rule"]])]
    shapes = [[p["bags"], p["instances"], p["features"], p.get("classes", 2) - 1] for p in points]
    design = np.column_stack([np.ones(len(points)), np.log(shapes)])
    if row["rule"] != "count":
        design = design[:, :-1]
    seconds = np.maximum([point["seconds"] for point in points], 1e-4)
    overhead = 0.8 * seconds.min()
    least, most = [-np.inf, 0, 0, 0, 0], [np.inf, 2, 2, 1.5, 3]
    bounds = least[: design.shape[1]], most[: design.shape[1]]
    measured = logs = np.log(seconds - overhead)
    for _ in range(ROUNDS):
        found = lsq_linear(design, logs, bounds)
        logs = np.where(seconds < LIMIT, measured, np.maximum(measured, design @ found.x))
    return [round(float(value), 4) for value in (overhead, *found.x)]


def _longer_of(rows):
    """How many times as long at random labels, by rule and learner."""
    return {(row["rule"], row["learner"]): row["longer"] for row in rows if "longer" in row}


def table(rows):
    longer, rows = _longer_of(rows), [row for row in rows if "merit" in row]
    lines = [
        {
            "rule": row["rule"],
            "learner": row["learner"],
            "merit": row["merit"],
            "longer": longer.get((row["rule"], row["learner"])),
            **dict(zip(("bags^", "instances^", "features^", "classes^"), _law(row)[2:])),
            **{
                f"{n} bags, s": f"{_effort.Law(*_law(row)).seconds(n, 10 * n, 20):.2g}"
                for n in (100, 10_000)
            },
        }
        for row in rows
    ]
    lines.sort(key=lambda line: (line["rule"], -line["merit"]))
    return [Table("what a fit costs, and how good it is", lines, NOTES)]


def publish(rows, folder):
    """The table that the package holds."""
    longer, rows = _longer_of(rows), [row for row in rows if "merit" in row]
    learners: dict = {}
    for row in rows:
        rule, name = row["rule"], row["learner"]
        line = [row["merit"], longer.get((rule, name))]
        learners.setdefault(rule, {})[name] = [*line, *_law(row)]
        if row.get("sparse"):
            law = _law(row, row["sparse"])
            learners.setdefault(_effort.SPARSE, {})[name] = [*line, *law]
    when = datetime.now(UTC).date().isoformat()
    Path(_effort.TABLE).write_text(_written({"measured": when, "learners": learners}))


def _written(table):
    """JSON with a line a learner."""
    rules = [
        f"    {json.dumps(rule)}: {{\n"
        + ",\n".join(f"      {json.dumps(n)}: {json.dumps(v)}" for n, v in some.items())
        + "\n    }"
        for rule, some in table["learners"].items()
    ]
    learners = ",\n".join(rules)
    return f'{{\n  "measured": "{table["measured"]}",\n  "learners": {{\n{learners}\n  }}\n}}\n'


NOTES = (
    "Seconds of one fit and its answers by the fitted law, for bags of ten instances with twenty "
    "features. Longer: how many times as long a fit takes where labels are drawn at random, the "
    "largest of several problems; empty where fits are not quick. 10,000 bags are far outside "
    "what was measured: read the order of magnitude."
)
