"""Bags and instances from one account: contradictions, and how good answers about instances are.

Problems whose instances are known, though no learner sees them: digits, bags with several rates of
witnesses, one where all instances of a bag are alike, and chest recordings cut into bags of several
activities. Every answer is out of fold. "Before" is what models of release 0.1.0 said of instances:
the mean of all members' calibrated scores, whatever they said of the bag.

Instances that repeat each other make 1 − Π(1 − q) count one piece of evidence many times. How much
that matters is measured on the member that explains bags best, from its instances alone, before
they are brought into agreement with anything: once taken as independent, once with the dependence
and the runs that the account fits.
"""

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score

from benchmarks._tables import Table, grouped
from mixedbag import Bags, compare, datasets
from mixedbag._account.any import InstanceOdds
from mixedbag._evidence import knows_instances
from mixedbag.pooling import bag_max, spread

ANY = [
    *("bag statistics + SVM", "spread labels + logistic", "spread labels + forest"),
    *("MILogisticRegression", "EMDD"),
]
IN_TIME = [
    *("bag statistics + SVM", "windows + logistic", "windows + MILogisticRegression"),
    "windows + forest",
]
PROBLEMS = (
    *("digits", "1 witness of 20", "4 of 20", "10 of 20", "18 of 20", "repeated witnesses"),
    *("all alike", "chest: walking"),
)


def cases():
    return [{"problem": problem, "seed": seed} for problem in PROBLEMS for seed in range(5)]


def run(case):
    """Out-of-fold answers about instances of the stack, before and now, and of its members."""
    problem, seed = case["problem"], case["seed"]
    bags, truth, groups = make(problem, seed)
    y = bag_max(truth, bags.offsets)
    in_time = problem.startswith("chest")
    result = compare(
        *(bags, y, "sequence" if in_time else "any"),
        learners=IN_TIME if in_time else ANY,
        folds=3 if in_time else 4,
        inner_folds=3,
        groups=groups,
        random_state=seed,
    )
    answers = result.out_of_fold()
    named = answers.instance_labels.astype(int)
    answered = answers.labels.astype(int)
    lines = [{"who": "stack, one account", **judged(truth, answers.instances[:, 1], named)}]
    lines[0]["contradictions"] = contradictions(bags, answered, named)
    before = answers_before(result, result.finished())
    lines.append({"who": "stack, before", **judged(truth, before, before >= 0.5)})
    lines[1]["contradictions"] = contradictions(bags, answered, before >= 0.5)
    alone, shifted = other_ways(result)
    lines.append({"who": "stack, its instances alone", **judged(truth, alone, alone >= 0.5)})
    lines[2]["contradictions"] = contradictions(bags, answered, alone >= 0.5)
    lines.append({"who": "stack, log-odds shifted", **judged(truth, shifted, shifted >= 0.5)})
    lines[3]["contradictions"] = contradictions(bags, answered, shifted >= 0.5)
    for candidate in result.finished():
        said = answers_before(result, [candidate])
        labels = result.out_of_fold(candidate).labels.astype(int)
        line = {"who": candidate.name, **judged(truth, said, said >= 0.5)}
        lines.append(line | {"contradictions": contradictions(bags, labels, said >= 0.5)})
    counted = overcount(result, truth, in_time)
    return {"bags": len(bags), "lines": lines, "counted": counted, "notes": result.model.notes}


def make(problem, seed):
    """Bags, the truth of their instances, and what must not be cut."""
    if problem == "digits":
        data = datasets.load_digits_bags(n_bags=100, random_state=seed)
        return data.bags, data.instance_labels.astype(int), None
    if problem.startswith("chest"):
        return chest_pieces(seed)
    rng = np.random.default_rng(seed)
    n_bags, size = 100, 20
    y = np.arange(n_bags) % 2
    if problem == "all alike":
        centres = rng.normal(size=(n_bags, 5)) + 1.5 * y[:, None] / np.sqrt(5)
        return Bags.from_list(np.repeat(centres[:, None], size, axis=1)), np.repeat(y, size), None
    n_witnesses = 4 if problem.startswith("repeated") else int(problem.split()[0])
    direction = rng.normal(size=5)
    direction /= np.linalg.norm(direction)
    X, truth = rng.normal(size=(n_bags, size, 5)), np.zeros((n_bags, size), int)
    for i in np.flatnonzero(y):
        places = rng.permutation(size)[:n_witnesses]
        truth[i, places] = 1
        witnesses = rng.normal(size=(n_witnesses, 5))
        if problem.startswith("repeated"):  # one and the same, seen several times
            witnesses = witnesses[:1] + 0.1 * rng.normal(size=(n_witnesses, 5))
        X[i, places] = witnesses + 3.0 * direction
    return Bags.from_list(X), truth.ravel(), None


def chest_pieces(seed, n_bags=84, n_pieces=6, length=50):
    """Bags of several activities of one person: pieces of a second or two, one after the other."""
    chest = datasets.load("chest")
    rng = np.random.default_rng(seed)
    step = 2
    bags, truth, groups = [], [], []
    for i in range(n_bags):
        person = i % len(chest.bags)
        series = chest.bags[person][::step]
        first, last = chest.bags.offsets[person : person + 2]
        activity = chest.instance_labels[first:last][::step]
        walking = rng.permutation(n_pieces)[: rng.integers(1, 4)] if (i // 6) % 2 else []
        parts = []
        for piece in range(n_pieces):
            wanted = [4] if piece in walking else [1, 3, 7]
            places = np.flatnonzero(np.isin(activity[:-length], wanted))
            start = rng.choice(places)
            parts.append((series[start : start + length], activity[start : start + length] == 4))
        bags.append(np.vstack([part for part, _ in parts]))
        truth.append(np.concatenate([own for _, own in parts]).astype(int))
        groups.append(person)
    return Bags.from_list(bags), np.concatenate(truth), np.array(groups)


def answers_before(result, candidates):
    """The probability of instances as 0.1.0 gave it: calibrated as bags are, and averaged."""
    stack, rows = result.stack_of(candidates), places(result.bags)
    answer = np.empty(result.bags.n_instances)
    for split in result.splits:
        where = np.concatenate([rows[i] for i in split.test])
        answer[where] = sum(
            weight
            * stack.calibrated.calibrator(candidate, split)(
                stack.calibrated.store.get(candidate, split).instances
            )[:, 1]
            for candidate, weight in stack.members(split)
        )
    return answer


def other_ways(result):
    """What the same members say of instances before they agree with the bag's answer, and when
    all log-odds of a bag move by one shift until 1 − Π(1 − q) is that answer."""
    stack, rows = result.stack_of(result.finished()), places(result.bags)
    alone, shifted = np.empty((2, result.bags.n_instances))
    for split in result.splits:
        where = np.concatenate([rows[i] for i in split.test])
        witnesses, account = stack.witnesses(split)
        evidence = [result.trials(c)[split.name].instances[:, -1] for c in witnesses]
        odds = [of_member[0] for of_member in account.odds]
        parts = [w * expit(o(e)) for w, o, e in zip(account.weights, odds, evidence)]
        alone[where] = np.clip(sum(parts), 1e-12, 1 - 1e-12)
        answer = np.clip(stack.answer(split)[:, 1], 1e-9, 1 - 1e-9)
        offsets, z = result.bags[split.test].offsets, logit(alone[where])
        low, high = np.full(len(answer), -60.0), np.full(len(answer), 60.0)
        for _ in range(60):
            middle = (low + high) / 2
            hazard = np.add.reduceat(np.logaddexp(0, z + spread(middle, offsets)), offsets[:-1])
            enough = -np.expm1(-hazard) >= answer
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        shifted[where] = expit(z + spread(high, offsets))
    return alone, shifted


def overcount(result, truth, in_time):
    """What P(bag) is worth when instances count as independent, and with what the account fits."""
    bags, question = result.bags, result.question
    positive, rows = question.codes == 1, places(bags)
    able = [c for c in result.finished() if knows_instances(c.estimator)]
    ways = {"independent": {"dependence": 1.0}, "as the account does": {"in_time": in_time}}
    lines = []
    for who, how in ways.items():
        p, q, fitted = np.empty(len(bags)), np.empty(bags.n_instances), []
        for split in result.splits:
            trials = [result.trials(candidate)[split.name] for candidate in able]
            best = min(trials, key=lambda trial: trial.loss)
            offsets = bags[split.train].offsets
            odds = InstanceOdds.fit(
                best.inner_instances[:, -1], offsets, positive[split.train], **how
            )
            scores = best.instances[:, -1]
            p[split.test] = np.exp(odds.bag_log_probability(scores, bags[split.test].offsets))
            q[np.concatenate([rows[i] for i in split.test])] = expit(odds(scores))
            fitted.append([odds.dependence, odds.run_length])
        dependence, run_length = np.mean(fitted, axis=0)
        lines.append(
            {
                "instances": who,
                "dependence r": float(dependence),
                "run length": float(run_length),
                "log loss of bags": log_loss(positive, np.clip(p, 1e-6, 1 - 1e-6)),
                "positive instances, said": float(q.mean()),
                "positive instances, true": float(truth.mean()),
                "log loss of instances": log_loss(truth, np.clip(q, 1e-6, 1 - 1e-6)),
            }
        )
    return lines


def places(bags):
    """The rows of every bag."""
    return np.split(np.arange(bags.n_instances), bags.offsets[1:-1])


def judged(truth, probability, named):
    return {
        "balanced accuracy": balanced_accuracy_score(truth, named),
        "log loss": log_loss(truth, np.clip(probability, 1e-6, 1 - 1e-6)),
        "calibration error": calibration_error(truth, probability),
        "AUC": roc_auc_score(truth, probability),
    }


def calibration_error(truth, probability, n_bins=10):
    """The mean distance of forecast and share, over bins of equal width."""
    bins = np.minimum((probability * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, truth - probability, n_bins)
    return float(np.abs(gaps).sum() / len(truth))


def contradictions(bags, answered, named):
    """Bags whose answer and whose named instances cannot both be right."""
    return int((bag_max(named.astype(int), bags.offsets) != answered).sum())


def table(rows):
    tables = []
    for (problem,), some in grouped(rows, "problem").items():
        lines = []
        for who in [line["who"] for line in some[0]["lines"]]:
            same = [line for row in some for line in row["lines"] if line["who"] == who]
            figures = [key for key in same[0] if key != "who"]
            means = {key: float(np.mean([line[key] for line in same])) for key in figures}
            lines.append({"who": who, **means})
        said = sorted({note for row in some for note in row["notes"]})
        bags = sum(row["bags"] for row in some)
        above = sum(row["lines"][0]["AUC"] >= row["lines"][1]["AUC"] for row in some)
        notes = (
            f"Means over {len(some)} draws, {bags} bags together; the AUC is not below that of "
            f"before in {above} of them."
        )
        tables.append(Table(problem, lines, " ".join([notes, *(f"It says: {s}." for s in said)])))
    counted = [
        {"problem": row["problem"], **line} for row in rows for line in row.get("counted", [])
    ]
    if counted:
        tables.append(Table("Instances that repeat each other", counted))
    return tables


def check(rows):
    """No contradictions, and on no problem are instances ranked worse than before."""
    for (problem,), some in grouped(rows, "problem").items():
        now, before = zip(*(row["lines"][:2] for row in some))
        assert all(line["contradictions"] == 0 for line in now), problem
        areas = [float(np.mean([line["AUC"] for line in lines])) for lines in (now, before)]
        assert areas[0] >= areas[1], (problem, areas)
