"""Save and load models safely.

The file format is that of skops. Loading runs no code of the file's choosing: every type must be in
the register of what a model may hold (`mixedbag._saved`), arrays must be what they claim, and all
of this is checked before the first object is built.
"""

import importlib.metadata
import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mixedbag import _saved
from mixedbag._files import written_whole
from mixedbag._version import __version__
from mixedbag.exceptions import InputError

__all__ = ["UntrustedModelError", "load", "read_stamp", "save"]

_STAMP = "mixedbag.json"


class UntrustedModelError(InputError):
    """The file holds types that a mixedbag model has no business with.

    See Also
    --------
    mixedbag.load : Raises it; its `trusted` names further types to accept.

    Examples
    --------
    >>> from mixedbag.exceptions import InputError
    >>> from mixedbag.io import UntrustedModelError
    >>> issubclass(UntrustedModelError, InputError)
    True
    """


def save(model: Any, path: str | Path) -> None:
    """Write `model` to `path`.

    The file is complete or not there: it is written beside its final place and then moved, so a
    failed write leaves the old file as it was.

    Parameters
    ----------
    model : fitted learner, pipeline or model of a comparison
        What to write.
    path : str or path
        The file to write it to.

    See Also
    --------
    load : Reads it again.
    mixedbag.io.read_stamp : Tells what a file holds without building it.

    Examples
    --------
    >>> from mixedbag import load, save
    >>> from mixedbag.classics import MILogisticRegression
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=30, random_state=0)
    >>> model = MILogisticRegression().fit(data.bags, data.y)
    >>> save(model, "binding.skops")
    >>> bool((load("binding.skops").predict(data.bags) == model.predict(data.bags)).all())
    True
    """
    from skops import io as skops_io

    content = _with_stable_names(skops_io.dumps(model), _stamp(model))
    with written_whole(path) as file:
        file.write(content)


def load(path: str | Path, trusted: Iterable[str] = ()) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : sequence of str
        Full names of further types to accept, such as your own transformer's
        ``"mypackage.MyTransformer"``.

    Returns
    -------
    estimator
        The model as it was saved, ready to predict.

    Raises
    ------
    UntrustedModelError
        When the file holds other types; the message lists them.
    ValueError
        When it is no model, is damaged, or was saved by a later version.

    See Also
    --------
    save : Writes it.
    mixedbag.io.read_stamp : Tells what a file holds without building it.

    Examples
    --------
    >>> from mixedbag import load, save
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.datasets import make_any
    >>> data = make_any(n_bags=20, random_state=0)
    >>> save(CitationKNN().fit(data.bags, data.y), "model.skops")
    >>> load("model.skops")
    CitationKNN()
    """
    from mixedbag._model_archive import Archive
    from mixedbag._model_file import Reader

    path = Path(path)
    with open(path, "rb") as file:
        archive = _understood(path, lambda: Archive(file))
        stamp = _understood(path, lambda: _checked_stamp(archive.json(_STAMP)))
        if _release(stamp["mixedbag"]) > _release(__version__):
            raise ValueError(
                f"{path} was saved by mixedbag {stamp['mixedbag']}, this is {__version__}: update "
                "mixedbag to load it"
            )
        reader = Reader(archive, trusted)
        build = _understood(path, lambda: reader.plan(archive.json("schema.json")))
    if reader.refused:
        raise UntrustedModelError(
            f"{path} holds types that are not trusted: {', '.join(sorted(reader.refused))}. If you "
            "know where the file comes from, name them in `trusted`."
        )
    particular = bool(trusted) or not _saved.PARTICULAR.isdisjoint(reader.names)
    return _understood(path, lambda: _checked(build(), particular))


def _checked(model, particular):
    from sklearn.base import BaseEstimator

    from mixedbag._model_checks import audit, rehearse

    if not isinstance(model, BaseEstimator):
        raise ValueError("it holds no model")
    audit(model)
    rehearse(model, particular)
    return model


def _understood(path, step):
    """The result of a step of reading; whatever a damaged file makes it raise is a `ValueError`."""
    try:
        return step()
    except MemoryError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if type(error) is not ValueError else str(error)
        raise ValueError(
            f"{path} is not a model saved by mixedbag, or is damaged: {reason}"
        ) from error


def _with_stable_names(content, stamp):
    """A file of skops with the names of the register, sparse arrays unpacked, and our stamp."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "schema.json":
                schema = json.loads(part)
                _rename(schema)
                part = json.dumps(schema).encode()
            elif name.endswith(".npz"):
                part = _unpacked(part)
            new.writestr(name, part)
        new.writestr(_STAMP, json.dumps(stamp))
    return target.getvalue()


def _rename(node):
    """Give every type in a tree of nodes its stable name, in place."""
    if isinstance(node, list):
        for part in node:
            _rename(part)
    elif isinstance(node, dict):
        if isinstance(node.get("__module__"), str) and isinstance(node.get("__class__"), str):
            name = _saved.name_to_save(f"{node['__module__']}.{node['__class__']}")
            node["__module__"], _, node["__class__"] = name.rpartition(".")
        for part in node.values():
            _rename(part)


def _unpacked(content):
    """An archive without compression: a model takes no more room in memory than on disk."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return target.getvalue()


def _stamp(model):
    versions = {name: importlib.metadata.version(name) for name in ("scikit-learn", "numpy")}
    run = getattr(getattr(model, "origin", None), "run", "")
    origin = {"run": run} if run else {}
    return {"mixedbag": __version__, "model": type(model).__name__, **versions, **origin}


def read_stamp(path: str | Path) -> dict[str, str]:
    """What `save` noted about a model: its class and the versions that made it.

    Parameters
    ----------
    path : str or path
        A file that `save` wrote.

    Returns
    -------
    dict of str to str
        The class of the model under "model", and the versions of mixedbag, scikit-learn and numpy.

    See Also
    --------
    mixedbag.load : Reads the model itself.

    Examples
    --------
    >>> from mixedbag import save
    >>> from mixedbag.classics import CitationKNN
    >>> from mixedbag.datasets import make_any
    >>> from mixedbag.io import read_stamp
    >>> data = make_any(n_bags=20, random_state=0)
    >>> save(CitationKNN().fit(data.bags, data.y), "model.skops")
    >>> read_stamp("model.skops")["model"]
    'CitationKNN'
    """
    from mixedbag._model_archive import Archive

    with open(path, "rb") as file:
        return _understood(path, lambda: _checked_stamp(Archive(file).json(_STAMP)))


def _checked_stamp(stamp):
    if not isinstance(stamp, dict) or not all(isinstance(v, str) for v in stamp.values()):
        raise ValueError("its stamp is none")
    if not stamp.keys() >= {"mixedbag", "model"}:
        raise ValueError("its stamp is none")
    return stamp


def _release(version):
    """The numbers of a version, for comparison: 1.10 comes after 1.9."""
    numbers = []
    for part in version.split(".")[:3]:
        digits = "".join(c for c in part if c.isdigit())
        numbers.append(int(digits or 0))
    return numbers


def __dir__():
    return __all__
