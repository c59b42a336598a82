"""A target with every fault there is, to see that the harness counts each."""

import os
import signal
import time

CASES = ("accepted", "refused", "crash", "memory", "accepted", "exception", "hang", "lost: a row")


def cases(seed):
    return ((f"{k}", case.encode()) for k, case in enumerate(CASES))


def run(content):
    if content == b"crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if content == b"memory":
        return f"accepted{bytearray(2**40)}"
    if content == b"exception":
        raise OverflowError("a number too large")
    if content == b"hang":
        time.sleep(1000)
    return content.decode()
