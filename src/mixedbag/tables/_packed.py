"""gzip and zstd files unpacked, with a bound on what may come out."""

import shutil
import tempfile
import zlib
from contextlib import suppress

from mixedbag.datasets._formats import unpack
from mixedbag.datasets.records import DataFormatError


def first_bytes(path):
    """The first bytes of a file; of one that gzip has packed and that is whole, those inside."""
    with open(path, "rb") as file:
        head = file.read(4096)
        if head.startswith(b"\x1f\x8b"):
            file.seek(0)
            with suppress(EOFError, OSError, zlib.error):
                head = _stream(file, "gzip").read(4096) or head
    return head


def unpacked(path, folder):
    """The path itself, or that of an unpacked copy in `folder`."""
    with open(path, "rb") as file:
        head = file.read(4)
        file.seek(0)
        if head.startswith(b"\x1f\x8b"):
            return _copy(path, folder, file, "gzip")
        if head == b"\x28\xb5\x2f\xfd":
            return _copy(path, folder, file, "zstd")
    return path


def _copy(path, folder, file, kind):
    import pyarrow as pa

    with tempfile.NamedTemporaryFile(dir=folder, suffix=".plain", delete=False) as copy:
        try:
            with _stream(file, kind) as stream:
                shutil.copyfileobj(unpack.Capped(stream, unpack.limit(path)), copy, 1 << 20)
        except unpack.TooLargeError as error:
            raise DataFormatError(path, str(error)) from error
        except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise DataFormatError(path, f"a damaged {kind} file ({error})") from error
    return copy.name


def _stream(file, kind):
    if kind == "gzip":
        import gzip

        return gzip.open(file)
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
