"""Boosting beside rivals in one run: LightGBM's plain stumps, and Weka's MIBoost.

Both are optional: their rows appear when they are installed (for Weka: ``java``, and ``weka.jar``
in ``/usr/share/java`` or named by ``WEKA_JAR``).
"""

import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.boosting_speed import BOOSTERS, best_time, synthetic, warm_up
from benchmarks.common import Table


def run(quick):
    warm_up()
    return [
        against_weka(200 if quick else 5_000),
        against_lightgbm(20_000 if quick else 1_000_000),
    ]


def against_lightgbm(n):
    bags, y = synthetic(n // 10, 10, 50)
    # Ours first: the peak of memory counts from the start of the process.
    rows = [boosting_row("ExpReg", BOOSTERS["ExpReg"], bags, y)]
    try:
        reference = lightgbm_row(bags, y)
    except ImportError:
        reference = None
    if reference:
        for row in rows:
            row["× LightGBM"] = round(row["total (s)"] / reference["total (s)"], 2)
        rows.append(reference)
    return Table(
        f"{n:,} instances × 50 features in bags of ten, one thread, 255 bins",
        rows,
        "Seconds of processor time. Peak memory is what the process grew by beyond its earlier "
        "peak, over the size of the instances.",
    )


def boosting_row(label, booster, bags, y):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    one = best_time(lambda: booster(n_rounds=1).fit(bags, y), 1)
    total = best_time(lambda: booster(n_rounds=100).fit(bags, y), 1)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    a_round = (total - one) / 99
    return {
        "learner": label,
        "preparation (s)": round(one - a_round, 2),
        "100 rounds (s)": round(100 * a_round, 2),
        "total (s)": round(total, 2),
        "peak memory / data": round(grown / bags.instances.nbytes, 2),
    }


def lightgbm_row(bags, y):
    import lightgbm

    options = {"objective": "binary", "num_leaves": 2, "max_bin": 255}
    options |= {"num_threads": 1, "verbose": -1}
    data = lightgbm.Dataset(bags.instances, bags.spread(y).astype(float), params=options)
    prepared = best_time(data.construct, 1)
    trained = best_time(lambda: lightgbm.train(options, data, 100), 1)
    return {
        "learner": "LightGBM, stumps on spread labels",
        "preparation (s)": round(prepared, 2),
        "100 rounds (s)": round(trained, 2),
        "total (s)": round(prepared + trained, 2),
    }


def against_weka(n_bags):
    jar = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))
    bags, y = synthetic(n_bags, 10, 50)
    rounds = 10  # Weka's default
    rows = []
    for label, booster in BOOSTERS.items():
        call = booster(n_rounds=rounds).fit
        seconds = best_time(lambda fit=call: fit(bags, y), 3, time.perf_counter)
        rows.append({"learner": label, "seconds": round(seconds, 3)})
    if shutil.which("java") and jar.exists():
        seconds = weka_seconds(jar, bags, y, rounds)
        for row in rows:
            row["times faster"] = round(seconds / row["seconds"])
        rows.append({"learner": "Weka MIBoost, DecisionStump", "seconds": round(seconds, 2)})
    return Table(
        f"Weka: {n_bags} bags × 10 × 50, {rounds} rounds, preparation included",
        rows,
        "Wall-clock seconds; Weka's own 'time taken to build model', reading not included.",
    )


def weka_seconds(jar, bags, y, rounds):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bags.arff"
        path.write_text(relational_arff(bags, y))
        stump = "weka.classifiers.trees.DecisionStump"
        options = ["-t", path, "-no-cv", "-R", str(rounds), "-B", "0", "-W", stump]
        command = ["java", "-Xmx4g", "-cp", jar, "weka.classifiers.mi.MIBoost", *options]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"build model: ([\d.]+) seconds", output).group(1))


def relational_arff(bags, y):
    names = ",".join(f"b{i}" for i in range(len(bags)))
    lines = ["@relation bags", f"@attribute id {{{names}}}", "@attribute bag relational"]
    lines += [f"@attribute f{k} numeric" for k in range(bags.n_features)]
    lines += ["@end bag", "@attribute class {0,1}", "@data"]
    for i, bag in enumerate(bags):
        rows = "\\n".join(",".join(f"{x:.5f}" for x in row) for row in bag)
        lines.append(f'b{i},"{rows}",{y[i]}')
    return "\n".join(lines) + "\n"
