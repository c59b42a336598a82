"""The command line in this process: what it prints, and how it ends."""

import io
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import pytest

from mixedbag.cli import main
from mixedbag.comparison._workers import InProcess, Workers


class Done(NamedTuple):
    stdout: str
    stderr: str


def mixedbag(*arguments, folder, code=0):
    """Run a command in `folder`, in this process."""
    out, err = io.StringIO(), io.StringIO()
    typed = mock.patch.object(sys, "argv", ["mixedbag", *map(str, arguments)])
    here = mock.patch("mixedbag.comparison._compare.Workers", _one_by_one)
    alone = mock.patch("mixedbag._nursery.begin")
    screen = redirect_stdout(out), redirect_stderr(err)
    ends = pytest.raises(SystemExit)
    with chdir(folder), typed, here, alone, screen[0], screen[1], ends as ended:
        main()
    done = Done(out.getvalue(), err.getvalue())
    assert ended.value.code == code, done
    return done


def _one_by_one(protocol, n_jobs):
    """Trials of ``--jobs 1`` run here; tests in which processes are the point start them."""
    return InProcess(protocol) if n_jobs == 1 else Workers(protocol, n_jobs)
