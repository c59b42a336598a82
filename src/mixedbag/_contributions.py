"""Why a bag got its answer: what the answer loses without an instance, or a feature of one.

The strength of an answer is the log-odds of the class that was answered, whichever it is, or the
amount itself; of several, which may add up to the bag, the last one. An instance contributes what
the strength loses when it is left out; a feature of an instance, what it loses when the feature
takes its typical value. Both ask the model about changed bags and nothing else, so they hold for
every model and mean the same for all.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mixedbag import _evidence
from mixedbag.bags import Bags

_ROWS = 100_000  # rows of changed bags that are asked about at a time
_MOST = 200  # so many changed bags an answer; more instances are left out in runs
_SAMPLED = 10_000  # instances are enough for a median
_FLOOR = 1e-9  # probabilities nearer to 0 or 1 than this say nothing more


@dataclass(frozen=True)
class Contributions:
    """What the instances of one bag did for its answer.

    Attributes
    ----------
    answer : label or None
        The class that the bag was given; None where the answer is an amount.
    strength : float
        Log-odds of that class, or the amount.
    values : array of shape (n_instances,)
        What the strength loses without the instance: negative where it speaks against the answer.
    run_length : int
        How many neighbours were left out together; then each has its run's share.
    amount : int or None
        Which amount it is, where there are several.
    """

    answer: Any
    strength: float
    values: np.ndarray
    run_length: int
    amount: int | None = None

    @property
    def unit(self) -> str:
        """What the numbers are, in words."""
        if self.answer is not None:
            return f"log-odds of {self.answer}"
        return "amount" if self.amount is None else f"amount {self.amount}"

    @property
    def caption(self) -> str:
        """What the values are, in words: for under a picture, or over a column."""
        if self.run_length == 1:
            return f"{self.unit} lost without it"
        return f"{self.unit} lost without its run of {self.run_length}, shared out"

    def ranking(self) -> np.ndarray:
        """Places of the instances, the one that did most for the answer first."""
        return np.argsort(-self.values, kind="stable")

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, for a page or a script."""
        answer = self.answer.item() if isinstance(self.answer, np.generic) else self.answer
        return {
            "answer": answer,
            "caption": self.caption,
            "strength": round(self.strength, 4),
            "run_length": self.run_length,
            "values": [float(f"{value:.4g}") for value in self.values],
        }


def of_instances(model, bag: Bags, most: int = _MOST) -> Contributions:
    """The contributions of the instances of one bag; parameters as in `of_many`."""
    return of_many(model, bag, most)[0]


def of_many(model, bags: Bags, most: int = _MOST) -> list[Contributions]:
    """The contributions of the instances of every bag, in few questions to the model.

    Parameters
    ----------
    model : fitted estimator
    bags : Bags
    most : int
        Larger bags are left out in this many runs of neighbours.
    """
    codes = answered(model, bags)
    strengths = _strength(model, bags, codes)
    plans = [_plan(bags, i, most) for i in range(len(bags))]
    left = _left_after(model, bags, codes, plans)
    last = None if codes is not None else _evidence.amount_evidence(model, bags[:1]).shape[1] - 1
    found = []
    for i, (run_length, n_runs) in enumerate(plans):
        n, strength = int(bags.sizes[i]), float(strengths[i])
        run = np.arange(n) // run_length
        # Of a single run nothing would be left.
        values = np.full(n, strength / n)
        if n_runs > 1:
            values = ((strength - left[i]) / np.bincount(run))[run]
        label = None if codes is None else model.classes_[codes[i]]
        found.append(Contributions(label, strength, values, run_length, last or None))
    return found


def _plan(bags, i, most):
    """How many neighbours of a bag are left out together, and how often."""
    n = int(bags.sizes[i])
    run_length = run_of(n, most)
    return run_length, -(-n // run_length)


def _left_after(model, bags, codes, plans):
    """Strengths of every bag without each of its runs, asked for in blocks of changed bags."""
    left: list = [np.empty(n_runs) for _, n_runs in plans]
    pairs = [(i, k) for i, (_, n_runs) in enumerate(plans) if n_runs > 1 for k in range(n_runs)]
    n_rows = np.cumsum([bags.sizes[i] for i, _ in pairs])
    cuts: Any = np.flatnonzero(np.diff(n_rows // _ROWS)) + 1 if len(pairs) else []
    for block in np.split(np.arange(len(pairs)), cuts):
        asked = [pairs[p] for p in block]
        if not asked:
            continue
        rows = [_without_run(bags, i, k, plans[i][0]) for i, k in asked]
        changed = _with_rows(bags, np.concatenate(rows), [len(part) for part in rows])
        of_bag = None if codes is None else codes[[i for i, _ in asked]]
        for (i, k), strength in zip(asked, _strength(model, changed, of_bag)):
            left[i][k] = strength
    return left


def _without_run(bags, i, k, run_length):
    rows = np.arange(bags.offsets[i], bags.offsets[i + 1])
    return np.delete(rows, slice(k * run_length, (k + 1) * run_length))


def run_of(n: int, most: int = _MOST) -> int:
    """How many neighbours of a bag of `n` instances are left out together."""
    return -(-n // most)


def n_rows_asked(sizes: np.ndarray) -> np.ndarray:
    """How many rows of changed bags `of_instances` asks about, for bags of these sizes."""
    return sizes.astype(np.int64) * np.minimum(sizes, _MOST)


def of_features(
    model, bag: Bags, instance: int, typical: np.ndarray, most: int | None = None
) -> np.ndarray:
    """What each feature of one instance does for the bag's answer.

    Parameters
    ----------
    model : fitted estimator
    bag : Bags
        Exactly one bag.
    instance : int
        The place of the instance in the bag.
    typical : array of shape (n_features,)
        The value that a feature takes in place of its own.
    most : int, optional
        Only so many features are asked about, those furthest from typical for their bag; the others
        have zero.
    """
    codes = answered(model, bag)
    strength = float(_strength(model, bag, codes)[0])
    n, d = bag.n_instances, bag.n_features
    own = _dense(bag.instances[[instance]])[0]
    differs = np.flatnonzero(~((own == typical) | (np.isnan(own) & np.isnan(typical))))
    if most is not None and len(differs) > most:
        distance = np.nan_to_num(np.abs(own - typical) / (np.abs(own) + np.abs(typical)))
        differs = differs[np.argsort(-distance[differs], kind="stable")[:most]]
    values = np.zeros(d)
    block = max(1, _ROWS // n)
    for start in range(0, len(differs), block):
        features = differs[start : start + block]
        X = bag.instances[np.tile(np.arange(n), len(features))]
        X = sparse.lil_array(X) if bag.is_sparse else X
        X[np.arange(len(features)) * n + instance, features] = typical[features]
        X = sparse.csr_array(X) if bag.is_sparse else X
        changed = Bags(X, n * np.arange(len(features) + 1), feature_names=bag.feature_names)
        same = None if codes is None else np.repeat(codes, len(features))
        values[features] = strength - _strength(model, changed, same)
    return values


def typical_values(bags: Bags) -> np.ndarray:
    """The median of every feature over the instances; of very many, over some of them."""
    X = bags.instances[:: max(1, bags.n_instances // _SAMPLED)]
    if not bags.is_sparse:
        typical = np.full(X.shape[1], np.nan)
        known = ~np.isnan(X).all(axis=0)
        typical[known] = np.nanmedian(X[:, known], axis=0)
        return typical
    columns = sparse.csc_array(X)
    # Where more than half of the values are zeros that are not stored, so is the median.
    full = np.flatnonzero(2 * np.diff(columns.indptr) >= X.shape[0])
    typical = np.zeros(X.shape[1])
    for j in full:
        typical[j] = np.median(_dense(columns[:, [j]]))
    return typical


def answered(model, bags: Bags) -> np.ndarray | None:
    """Codes of the classes that bags are given, or None where answers are amounts."""
    if _evidence.speaks_of_amounts(model):
        return None
    places = {label: code for code, label in enumerate(model.classes_.tolist())}
    return np.array([places[label] for label in np.asarray(model.predict(bags)).tolist()])


def _strength(model, bags, codes):
    """How strongly the model gives each bag its answer: log-odds of a class, or the amount."""
    if codes is None:
        return _evidence.amount_evidence(model, bags)[:, -1]
    rows = np.arange(len(bags))
    if hasattr(model, "predict_proba"):
        p = np.clip(model.predict_proba(bags)[rows, codes], _FLOOR, 1.0 - _FLOOR)
        return np.log(p) - np.log1p(-p)
    evidence = _evidence.class_evidence(model, bags)
    if evidence.shape[1] == 1:
        return np.where(codes == 1, evidence[:, 0], -evidence[:, 0])
    others = evidence.copy()
    others[rows, codes] = -np.inf
    return evidence[rows, codes] - others.max(axis=1)


def _with_rows(bags, rows, sizes):
    """Bags made of rows of others."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return Bags(bags.instances[rows], offsets, feature_names=bags.feature_names)


def _dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)
