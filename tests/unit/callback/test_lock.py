"""One holder of a path at a time, in all processes."""

import errno
import os
import subprocess
import sys

import pytest

from skdp.callback import _checkpoint as _lock
from skdp.callback._checkpoint import held

HOLD = """
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="locks of Windows are others")
def test_another_process(tmp_path):
    path = tmp_path / "file"
    command = [sys.executable, "-c", HOLD, f"{path}.skdp-lock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(ValueError, match="by another fit of another process"), held(path):
            pass
        other.kill()
    with held(path):  # the lock ended with the process
        assert os.listdir(tmp_path) == ["file.skdp-lock"]
    assert os.listdir(tmp_path) == []


def test_the_same_process(tmp_path):
    path = tmp_path / "file"
    error = pytest.raises(ValueError, match="of this process")
    with held(path), held(tmp_path / "other"), error, held(path):
        pass
    with held(path):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process(tmp_path):
    with held(tmp_path / "file"):
        child = os.fork()
        if child == 0:
            try:
                with held(tmp_path / "file"):
                    os._exit(0)
            except ValueError as error:
                os._exit(3 if "of another process" in str(error) else 4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        assert os.listdir(tmp_path) == ["file.skdp-lock"]


def test_no_locks(tmp_path, monkeypatch):
    def refuse(descriptor):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(_lock, "_lock", refuse)
    with held(tmp_path / "file"):
        assert os.listdir(tmp_path) == []
        with pytest.raises(ValueError, match="of this process"), held(tmp_path / "file"):
            pass
    with held(tmp_path / "no folder" / "file"):
        pass
