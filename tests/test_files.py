"""Files are complete or not there; text does no harm where it is shown."""

import csv
import io
import os
import subprocess
import sys
from contextlib import suppress

import pytest

from mixedbag._files import cell, printable, sweep, written_whole


def test_a_file_is_complete_or_as_it_was(tmp_path):
    path = tmp_path / "a.txt"
    with written_whole(path) as file:
        file.write(b"old")
    with suppress(RuntimeError), written_whole(path) as file:
        file.write(b"new")
        raise RuntimeError("halfway")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"no folder .*gone to write a.txt in"),
        written_whole(tmp_path / "gone" / "a.txt"),
    ):
        raise AssertionError("there is nothing to write to")


def test_a_folder_that_may_not_be_written_to_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # who runs as root may do anything
    with (
        pytest.raises(PermissionError, match=r"the folder .* may not be written to, as a.txt asks"),
        written_whole(tmp_path / "a.txt"),
    ):
        raise AssertionError("there is nothing to write to")


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with written_whole(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    with written_whole(tmp_path / "pipe") as file:
        file.write(b"told")
    assert reader.communicate(timeout=20)[0] == b"told"
    assert (tmp_path / "pipe").is_fifo()
    read, write = os.pipe()  # to which no path leads but that of its number
    with written_whole(f"/dev/fd/{write}") as file:
        file.write(b"told")
    assert os.read(read, 9) == b"told"
    os.close(read)
    os.close(write)


KILLED = """
import os, sys
from mixedbag._files import written_whole
with written_whole(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_swept(tmp_path):
    path = tmp_path / "a.txt"
    subprocess.run([sys.executable, "-c", KILLED, path], timeout=60)
    assert len(list(tmp_path.glob(".a.txt.*.part"))) == 1
    others = [".b.txt.part", f".c.{'0' * 32}.part.txt", f"d.{'0' * 32}.part"]
    for name in others:
        (tmp_path / name).write_bytes(b"somebody else's")
    with written_whole(path) as file:  # that of one who still writes is not
        sweep(tmp_path)
        assert len(list(tmp_path.glob(".a.txt.*.part"))) == 1
        file.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a.txt"])


def test_control_characters_are_spelled_out():
    assert printable("a\x1b[31mb\x07\x9b\x7f") == r"a\x1b[31mb\x07\x9b\x7f"
    assert printable("two\nlines\r") == r"two\nlines\r"
    assert printable("two\nlines", keep="\n") == "two\nlines"
    assert printable("evil\u202egpj.exe\u2066\u2028") == r"evil\u202egpj.exe\u2066\u2028"
    for harmless in ("Größe", "名前", "سلام", "👩\u200d🔬", "half\u00a0space"):
        assert printable(harmless) == harmless


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "-"]
)
def test_formulas_are_quoted(text):
    assert cell(text) == "'" + text


@pytest.mark.parametrize("value", ["-1.5", "+3", "-1e-9", "-inf", -3, "a=b", "mol-1", "", "5%"])
def test_numbers_and_names_stay_as_they_are(value):
    assert cell(value) == value


def test_cells_are_short():
    file = io.StringIO()
    csv.writer(file).writerow([cell(v) for v in (-1 / 3, None, 7, "a,b")])
    assert file.getvalue() == '-0.333333,,7,"a,b"\r\n'
