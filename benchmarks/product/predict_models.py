"""`mixedbag predict` with models that take their time, beside their bare scores.

A model is fitted on a small table; the scores of a large one are computed at once in memory
(`decision_function`, in one thread), and by the command line, in blocks and threads.
"""

import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import timed
from benchmarks._tables import Table
from benchmarks.product._process import measured
from benchmarks.product.predict_stream import COMMAND, FEATURES, NAMES, SIZE, write
from mixedbag import Bags
from mixedbag.boosting import ExpRegBoost
from mixedbag.comparison import fit_best_setting
from mixedbag.datasets import make_any
from mixedbag.io import load, save
from mixedbag.margin import BagMarginSVC

TINY = {"learner": "ExpRegBoost", "rows": 20_000}
LEARNERS = ("bag statistics + extra", "ExpRegBoost", "BagMarginSVC, rbf", "ExpRegBoost of fit")


def cases():
    return [{"learner": name, "rows": 1_000_000} for name in LEARNERS]


def run(case):
    data = make_any(n_bags=100, size=SIZE, n_features=FEATURES, random_state=0)
    bags = data.bags.with_instances(data.bags.instances, NAMES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save(fitted(case["learner"], bags, data.y), folder / "model.skops")
        model = load(folder / "model.skops")
        write(folder / "table.parquet", case["rows"], False)
        write(folder / "few.csv", 100, False)
        rows = np.random.default_rng(0).uniform(-2, 2, size=(case["rows"], FEATURES))
        many = Bags(rows, np.arange(0, len(rows) + 1, SIZE), feature_names=NAMES)
        score = getattr(model, "decision_function", getattr(model, "predict_proba", None))
        score(many[:100])  # compiles kernels
        _, bare = timed(lambda: score(many))
        options = ["--bag", "bag", "--out", folder / "answers.csv"]
        command = [*COMMAND, folder / "model.skops"]
        seconds, memory, _ = measured(*command, folder / "table.parquet", *options)
        start, _, _ = measured(*command, folder / "few.csv", *options)
    return {
        "bare, s": bare,
        "predict, s": seconds,
        "of which start, s": start,
        "ratio without start": (seconds - start) / bare,
        "peak memory (MB)": memory,
    }


def fitted(name, bags, y):
    if name == "ExpRegBoost":
        return ExpRegBoost().fit(bags, y)
    if name == "BagMarginSVC, rbf":
        return BagMarginSVC(kernel="rbf").fit(bags, y)
    learner = "bag statistics + extra" if name == LEARNERS[0] else "ExpRegBoost"
    return fit_best_setting(bags, y, "any", learner).model


def table(rows):
    notes = (
        "Bags of 10 instances of 5 features in a Parquet file; predictions of bags. The start is "
        "the whole command on a table of 100 rows. The first and the last are models of `fit`, "
        "with calibration and marks of what is outside; the others are bare learners."
    )
    return [Table("mixedbag predict with slow models", rows, notes)]
