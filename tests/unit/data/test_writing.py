"""Files that are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from skdp.data._ragged import check_path, replace_file


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_file_stays_if_writing_fails(tmp_path, error):
    path = tmp_path / "x"
    path.write_text("precious")

    def write_a_torso():
        with replace_file(path, "w") as file:
            file.write("torso")
            file.flush()
            raise error

    with pytest.raises(error):
        write_a_torso()
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["x"]


def test_a_file_is_replaced_with_its_permissions(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    path.chmod(0o640)
    with open(path) as reader, replace_file(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert reader.closed
    assert path.read_text() == "new"
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="links and devices")
def test_links_and_devices_stay_what_they_are(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with replace_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"
    with replace_file(Path(os.devnull)) as file:
        file.write(b"nothing")
    assert not Path(os.devnull).is_file()


def test_what_is_no_file(tmp_path):
    with pytest.raises(OSError), replace_file(tmp_path) as file:  # noqa: PT011 - of the system
        file.write(b"x")
    for path in (3, True, b"x", None, ["x"]):
        with pytest.raises(TypeError, match="place must be a str or a path-like object, got"):
            check_path(path, "place")
