"""
Is a model from a cluster the same model?
=========================================

Boosting needs sums over bags, and sums can be computed where the bags are. Here a Dask cluster
inside this process reads four files, and the model is compared with that of an ordinary fit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client

from mixedbag import Bags
from mixedbag.boosting import ExpRegBoost
from mixedbag.datasets import make_any
from mixedbag.engines import DistributedBags

data = make_any(n_bags=200, n_features=4, random_state=0)
named = Bags(data.bags.instances, data.bags.offsets, feature_names=["x0", "x1", "x2", "x3"])
here = ExpRegBoost(n_rounds=20).fit(named, data.y)

with tempfile.TemporaryDirectory() as folder:
    for part in range(4):
        bags = named[50 * part : 50 * part + 50]
        columns = dict(zip(bags.feature_names, bags.instances.T))
        columns["molecule"] = bags.bag_of + 50 * part
        columns["active"] = bags.spread(data.y[50 * part : 50 * part + 50])
        pq.write_table(pa.table(columns), Path(folder) / f"part-{part}.parquet")
    with Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
    ) as client:
        spread = DistributedBags.from_parquet(
            f"{folder}/*.parquet", bag="molecule", label="active", client=client
        )
        there = ExpRegBoost(n_rounds=20).fit(spread)

a, b = here.decision_function(named), there.decision_function(named)
print(f"largest difference of a score: {np.abs(a - b).max():.1e}")

# %%
# Every dot is a bag. Left, its score by the model fitted here and by the one fitted there; right,
# what is between them: the last digits that a computer keeps, as sums are added in another order.

figure, (scores, difference) = plt.subplots(1, 2, figsize=(8, 3.8))
for label, colour, name in ((0, "#3564c7", "negative bags"), (1, "#e8743b", "positive bags")):
    which = data.y == label
    scores.plot(a[which], b[which], ".", color=colour, alpha=0.7)
    difference.plot(a[which], (b - a)[which], ".", color=colour, alpha=0.7)
    scores.text(0, 1 - 0.08 * (2 - label), name, color=colour, transform=scores.transAxes)
scores.set(xlabel="score, fitted in this process", ylabel="score, fitted on the cluster")
difference.axhline(0, color="#c3cad6", lw=1, zorder=0)
difference.set(xlabel="score, fitted in this process", ylabel="difference of the two")
plt.show()
