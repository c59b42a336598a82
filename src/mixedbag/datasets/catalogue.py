"""`load`: the public data sets by name, from files already on this machine."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mixedbag.datasets._home import data_homes, verify
from mixedbag.datasets.records import BagData, Recordings, Table

if TYPE_CHECKING:
    from mixedbag.datasets._entries import Entry


def load(
    name: str, data_home: str | Path | None = None, verify_files: bool = True
) -> BagData | Table | Recordings:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `list_names`.
    data_home : path, optional
        The folder that holds the files; by default the one that the environment variable
        ``MIXEDBAG_DATA`` names, then mixedbag's folder in the user's cache.
    verify_files : bool, default=True
        Compare the files' SHA-256 checksums with those of the published files.

    Returns
    -------
    BagData, Table or Recordings
        `bags` and `y` for bags; `X` and `y` for plain tables; whole recordings with the activity of
        every sample, to cut into bags with `Recordings.bags_of`, for time series.

    Raises
    ------
    FileNotFoundError
        Naming the file, where to put it, and where it is published.

    See Also
    --------
    list_names : The names.
    info : What is known of a data set, without its files.
    read : A file of your own.

    Examples
    --------
    >>> from mixedbag.datasets import load
    >>> try:
    ...     load("musk1", data_home="nowhere")
    ... except FileNotFoundError as error:
    ...     print(str(error).partition(".")[0])
    data set 'musk1' needs the file ...
    """
    entry = info(name)
    data = entry.load(paths(name, data_home, verify_files))
    return replace(data, notes=(f"{entry.description} ({entry.published})", *data.notes))


def paths(name: str, data_home: str | Path | None = None, verify_files: bool = False) -> list[Path]:
    """The files of a data set on this machine.

    Parameters
    ----------
    name : str
        One of `list_names`.
    data_home : path, optional
        The folder that holds the files; by default as in `load`.
    verify_files : bool, default=False
        Compare the files' SHA-256 checksums with those of the published files.

    Returns
    -------
    list of pathlib.Path
        The files, in the order of the catalogue.

    See Also
    --------
    load : What is in them.
    info : Where they are published.

    Examples
    --------
    >>> from mixedbag.datasets import paths
    >>> try:
    ...     paths("musk1", data_home="nowhere")
    ... except FileNotFoundError as error:
    ...     print("published at" in str(error))
    True
    """
    entry = info(name)
    homes = data_homes(data_home)
    found = []
    for file in entry.files:
        path = next((home / file for home in homes if (home / file).is_file()), None)
        if path is None:
            raise FileNotFoundError(
                f"data set {name!r} needs the file {file}. Put it at "
                f"{' or '.join(str(home / file) for home in homes)}; it is published at {entry.url}"
            )
        if verify_files:
            verify(path, file)
        found.append(path)
    return found


def list_names() -> list[str]:
    """The names that `load` knows.

    Returns
    -------
    list of str
        In the order of the catalogue.

    See Also
    --------
    info : What is known of one of them.
    load : The data itself.

    Examples
    --------
    >>> from mixedbag.datasets import list_names
    >>> "musk1" in list_names()
    True
    """
    from mixedbag.datasets._entries import ENTRIES

    return list(ENTRIES)


def info(name: str) -> "Entry":
    """What the catalogue knows of a data set: description, size, files, publication.

    Parameters
    ----------
    name : str
        One of `list_names`.

    Returns
    -------
    Entry
        With `description`, `published`, `url` and `files`, among others.

    See Also
    --------
    load : The data itself.
    paths : Its files on this machine.

    Examples
    --------
    >>> from mixedbag.datasets import info
    >>> info("musk1").published
    'Dietterich, Lathrop & Lozano-Pérez, Solving the multiple instance problem (1997)'
    """
    from mixedbag.datasets._entries import ENTRIES

    if name not in ENTRIES:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(ENTRIES)}")
    return ENTRIES[name]
