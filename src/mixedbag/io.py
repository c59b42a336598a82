"""Save and load models safely.

Models are stored with skops: loading a file never runs code from it, and refuses types that neither
mixedbag nor scikit-learn, NumPy or SciPy own.
"""

import importlib.metadata
import json
import os
import uuid
import zipfile
from pathlib import Path

from mixedbag._version import __version__

_STAMP = "mixedbag.json"
_TRUSTED = ("mixedbag.", "sklearn.", "numpy.", "scipy.")


class UntrustedModelError(ValueError):
    """The file holds types that a mixedbag model has no business with."""


def save(model, path):
    """Write `model` to `path`.

    The file is complete or not there: it is written beside its final place and then moved, so a
    failed write leaves the old file as it was.
    """
    from skops import io as skops_io

    path = Path(path)
    content = skops_io.dumps(model)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(draft, "xb") as file:
            file.write(content)
        with zipfile.ZipFile(draft, "a") as archive:
            archive.writestr(_STAMP, json.dumps(_stamp(model)))
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def load(path, trusted=()):
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path
    trusted : sequence of str
        Full names of further types to accept, such as your own transformer's
        ``"mypackage.MyTransformer"``.

    Raises
    ------
    UntrustedModelError
        When the file holds other types; the message lists them.
    """
    from skops import io as skops_io

    path = Path(path)
    stamp = read_stamp(path)
    if _release(stamp["mixedbag"]) > _release(__version__):
        raise ValueError(
            f"{path} was saved by mixedbag {stamp['mixedbag']}, this is {__version__}: update "
            "mixedbag to load it"
        )
    unknown = skops_io.get_untrusted_types(file=path)
    refused = [t for t in unknown if not t.startswith(_TRUSTED) and t not in trusted]
    if refused:
        raise UntrustedModelError(
            f"{path} holds types that are not trusted: {', '.join(sorted(refused))}. If you know "
            "where the file comes from, name them in `trusted`."
        )
    return skops_io.load(path, trusted=unknown)


def _stamp(model):
    versions = {name: importlib.metadata.version(name) for name in ("scikit-learn", "numpy")}
    return {"mixedbag": __version__, "model": type(model).__name__, **versions}


def read_stamp(path):
    """What `save` noted about a model: its class and the versions that made it."""
    try:
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read(_STAMP))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a model saved by mixedbag") from error


def _release(version):
    """The numbers of a version, for comparison: 1.10 comes after 1.9."""
    numbers = []
    for part in version.split(".")[:3]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return numbers
