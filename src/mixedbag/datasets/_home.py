"""Where data files live on this machine, and whether they are the ones that were published."""

import hashlib
import os
import sys
from functools import cache
from importlib import resources
from pathlib import Path


def data_homes(data_home: str | Path | None = None) -> list[Path]:
    """The folders searched for data, in order: the one given, `MIXEDBAG_DATA`, the cache folder."""
    if data_home is not None:
        return [Path(data_home)]
    named = os.environ.get("MIXEDBAG_DATA")
    return [Path(named), cache_folder()] if named else [cache_folder()]


def cache_folder() -> Path:
    """The folder for downloaded data that this platform's conventions give."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mixedbag"


@cache
def checksums() -> dict[str, str]:
    """SHA-256 of every file, by its path below the data folder."""
    text = resources.files("mixedbag.datasets").joinpath("SHA256SUMS").read_text("utf-8")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def verify(path: str | Path, file: str) -> None:
    """Raise when the file's content is not the published one."""
    with open(path, "rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != checksums()[file]:
        raise ValueError(
            f"{path} is not the file that was published: its SHA-256 is {digest}, expected "
            f"{checksums()[file]}. Fetch it again, or read it all the same with verify_files=False."
        )
