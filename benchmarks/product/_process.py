"""A command in a process of its own: how long it took, and its peak memory."""

import json
import subprocess
import sys

_RUN = """
import json, resource, subprocess, sys, time

start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
out, err = child.communicate()
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
told = {"seconds": time.perf_counter() - start, "peak": peak, "code": child.returncode}
print(json.dumps(told | {"out": out, "err": err[-2000:]}))
"""


def measured(*command):
    """Seconds, peak memory in MB and output of a command of this Python; errors are raised.

    Started by a small process: the peak of a child counts that of the process it was forked from.
    """
    whole = [sys.executable, "-c", _RUN, sys.executable, *map(str, command)]
    done = json.loads(subprocess.run(whole, capture_output=True, text=True, check=True).stdout)
    if done["code"]:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done['err']}")
    return done["seconds"], done["peak"], done["out"]
