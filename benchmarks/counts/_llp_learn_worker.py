"""Fits llp-learn's methods, inside of its own environment: ``python _llp_learn_worker.py IN OUT``.

IN holds ``X``, ``bag``, ``share`` and ``new`` (rows to answer), OUT gets ``METHOD`` (the chance of
each new row, or a score) and ``METHOD seconds``. llp-learn asks for versions of 2023; here it runs
on those of today. Three things are stubbed: torchvision, of which it imports the name of an image
network that no table needs; the bars of progress that it always prints; and `random.sample`, which
LLPFC calls with a set, as Python 3.11 no longer allows.

Networks are those of the package for tables, one hidden layer of 100 units with dropout. Rates and
passes, which have no default, are the best of those tried on ten development problems: a rate of
0.001 against 0.01 for DLLP, LLP-VAT and MixBag, 50 passes against 150 for LLP-VAT and MixBag (which
alone gained by 150), and for MixBag its own smoothing, which it was better without.
"""

import contextlib
import io
import random
import sys
import time
import types

import numpy as np
from sklearn.linear_model import LogisticRegression

NETWORK = {"model_type": "simple-mlp", "device": "cpu", "n_jobs": 0}


def methods(seed):
    """``{name: unfitted method}``."""
    _stub()
    from llp_learn.alter import alterSVM
    from llp_learn.dllp import DLLP
    from llp_learn.em import EM
    from llp_learn.llpfc import LLPFC
    from llp_learn.llpvat import LLPVAT
    from llp_learn.mixbag import MixBag

    net = NETWORK | {"random_state": seed}
    mixing = {"choice": "uniform", "confidence_interval": 0.005}
    return {
        "DLLP": lambda: DLLP(lr=1e-3, n_epochs=50, **net),
        "LLP-VAT": lambda: LLPVAT(lr=1e-3, n_epochs=50, xi=1e-6, eps=6.0, ip=1, **net),
        "MixBag": lambda: MixBag(lr=1e-3, n_epochs=150, consistency="none", **mixing, **net),
        "LLPFC": lambda: LLPFC(lr=1e-3, n_epochs=50, **net),
        "EM": lambda: EM(LogisticRegression(), init_y="majority", random_state=seed),
        "alter-SVM": lambda: alterSVM(num_exec=2, random_state=seed),
    }


def _stub():
    vision, models = types.ModuleType("torchvision"), types.ModuleType("torchvision.models")
    models.resnet18 = vision.models = None
    sys.modules |= {"torchvision": vision, "torchvision.models": models}
    import tqdm

    tqdm.tqdm = lambda *args, **settings: _Silent(*args)
    sample = random.sample
    random.sample = lambda some, k: sample(sorted(some), k)


class _Silent:
    """Passes on what it counts."""

    def __init__(self, counted):
        self.counted = counted

    def __iter__(self):
        return iter(self.counted)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def chance(method, X):
    """What a fitted method thinks of rows: a probability, or for machines a score."""
    if hasattr(method.model, "eval"):
        import torch

        method.model.eval()
        with torch.no_grad():
            return torch.softmax(method.model(torch.as_tensor(X)), dim=1)[:, 1].numpy()
    if hasattr(method.model, "predict_proba"):
        return method.model.predict_proba(X)[:, 1]
    return method.model.decision_function(X)


def main(source, target, seed, *wanted):
    import torch

    torch.set_num_threads(1)
    told = np.load(source)
    X, new = told["X"].astype(np.float32), told["new"].astype(np.float32)
    found = {}
    for name, make in methods(int(seed)).items():
        if wanted and name not in wanted:
            continue
        np.random.seed(int(seed))  # noqa: NPY002 (what it draws from)
        random.seed(int(seed))
        with contextlib.redirect_stdout(io.StringIO()):
            start = time.process_time()
            method = make()
            try:
                method.fit(X, told["bag"], told["share"])
            except ValueError:  # it found no answer, and says so
                continue
            found[f"{name} seconds"] = time.process_time() - start
            found[name] = chance(method, new)
    np.savez(target, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])
