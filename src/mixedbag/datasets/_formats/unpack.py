"""Compressed content, unpacked as it is needed and never beyond what its size makes plausible."""

import io
import os
import zlib

SMALL = 64 * 2**20  # bytes that any file may unpack to
RATIO = 50  # beyond that, times its size on disk; numbers written as text reach about 10


class TooLargeError(ValueError):
    """A small file that unpacks to a huge one."""


def limit(path):
    """How many bytes the file may unpack to."""
    return max(SMALL, RATIO * os.path.getsize(path))


def too_large(allowed):
    return TooLargeError(
        f"it unpacks to more than {allowed // 2**20} MB, which is implausible for its size; unpack "
        "it yourself if you trust it"
    )


class Capped(io.RawIOBase):
    """A stream that fails once more than `allowed` bytes have come out of it."""

    def __init__(self, stream, allowed):
        self._stream, self._allowed, self._count = stream, allowed, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        n = self._stream.readinto(buffer)
        self._count += n
        if self._count > self._allowed:
            raise too_large(self._allowed)
        return n


def inflate(data, allowed):
    """What a zlib stream holds, given that it is whole and of at most `allowed` bytes."""
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, max(allowed, 1))
        rest = stream.decompress(stream.unconsumed_tail, 1) if not stream.eof else b""
    except zlib.error as error:
        raise ValueError(f"damaged compression: {error}") from error
    if len(content) > allowed or rest:
        raise too_large(allowed)
    if not stream.eof:
        raise ValueError("damaged compression: it ends early")
    if stream.unused_data:
        raise ValueError("damaged compression: bytes are left over")
    return content
