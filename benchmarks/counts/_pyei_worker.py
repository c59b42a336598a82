"""Fits PyEI's two-by-two model, inside of its own environment: ``python _pyei_worker.py FILE``.

FILE (JSON) holds ``group`` and ``answer`` (shares of a precinct) and ``people``; a line of JSON
comes back. The model is King's of 1999 with PyEI's own settings but fewer draws.
"""

import json
import sys
import time

import numpy as np


def main(path):
    from pyei.two_by_two import TwoByTwoEI  # of its own environment, not of the one that imports us

    with open(path) as file:
        told = {name: np.array(value) for name, value in json.load(file).items()}
    start = time.process_time()
    model = TwoByTwoEI("king99", lmbda=0.5)
    model.fit(
        *(told["group"], told["answer"], told["people"].astype(int)),
        draws=500,
        tune=500,
        chains=2,
        random_seed=0,
        progressbar=False,
    )
    low, high = np.transpose(model.credible_interval_95_mean_voting_prefs)
    found = {
        "estimate": np.ravel(model.posterior_mean_voting_prefs).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "seconds": time.process_time() - start,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
