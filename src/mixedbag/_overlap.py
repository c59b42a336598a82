"""Reading, computing and writing at the same time, each in a thread of its own."""

import queue
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

_END = object()
_DEPTH = 2  # pieces that wait


def ahead(items):
    """The items of an iterator, fetched in another thread up to `_DEPTH` before they are needed."""
    waiting: queue.Queue = queue.Queue(_DEPTH)
    stop = threading.Event()

    def fetch():
        try:
            for item in items:
                if not _put(waiting, item, stop):
                    return
            _put(waiting, _END, stop)
        except BaseException as error:  # raised again where the items are used
            _put(waiting, error, stop)
        finally:
            if hasattr(items, "close"):
                items.close()

    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    try:
        while (item := waiting.get()) is not _END:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stop.set()
        thread.join()


def side_by_side(function, items, n_threads):
    """``function(item)`` of every item, in their order, several at a time."""
    with ThreadPoolExecutor(n_threads) as threads:
        under_way: deque = deque()
        try:
            for item in items:
                under_way.append(threads.submit(function, item))
                if len(under_way) > n_threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()


@contextmanager
def behind(write):
    """A function that hands items to `write` in another thread; all are written at the end."""
    waiting: queue.Queue = queue.Queue(_DEPTH)
    stop = threading.Event()
    failure: list = []

    def work():
        while not stop.is_set():
            try:
                item = waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            if item is _END:
                return
            try:
                write(item)
            except BaseException as error:
                failure.append(error)
                stop.set()

    def give(item):
        if not _put(waiting, item, stop):
            raise failure[0]

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield give
        _put(waiting, _END, stop)
        thread.join()
    finally:
        stop.set()
        thread.join()
    if failure:
        raise failure[0]


def _put(waiting, item, stop):
    """Put an item as soon as there is room; whether there was, before a stop."""
    while not stop.is_set():
        try:
            waiting.put(item, timeout=0.2)
            return True
        except queue.Full:
            continue
    return False
