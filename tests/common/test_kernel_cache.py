"""Runs of one state of the sources share their kernels, and no run takes those of another."""

import os
import time

import kernel_cache
import pytest


@pytest.fixture
def package(tmp_path):
    for name in ("a.py", "part/b.py", "part/data.txt"):
        path = tmp_path / "package" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path / "package"


def test_it_is_in_use():
    """Unless the user has said where."""
    assert os.environ["NUMBA_CACHE_DIR"]


@pytest.mark.parametrize(
    "change",
    [
        lambda package: (package / "part/b.py").write_text("b.pz"),
        lambda package: (package / "a.py").rename(package / "c.py"),
        lambda package: (package / "a.py").unlink(),
        lambda package: (package / "part/c.py").write_text(""),
    ],
)
def test_sources_change_the_fingerprint(package, change):
    before = kernel_cache.fingerprint(package, ["3.11"])
    assert kernel_cache.fingerprint(package, ["3.11"]) == before
    change(package)
    assert kernel_cache.fingerprint(package, ["3.11"]) != before


def test_versions_do_and_data_do_not(package):
    before = kernel_cache.fingerprint(package, ["3.11"])
    assert kernel_cache.fingerprint(package, ["3.12"]) != before
    (package / "part/data.txt").write_text("other")
    assert kernel_cache.fingerprint(package, ["3.11"]) == before


def test_options_of_numba_count(monkeypatch):
    before = kernel_cache.surroundings()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert kernel_cache.surroundings() == before
    monkeypatch.setenv("NUMBA_OPT", "17")
    assert kernel_cache.surroundings() != before


def test_a_folder_for_each_state(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    kernel_cache.use(tmp_path)
    (folder,) = tmp_path.iterdir()
    assert os.environ["NUMBA_CACHE_DIR"] == str(folder)
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("NUMBA_OPT", "1")
    kernel_cache.use(tmp_path)
    assert os.environ["NUMBA_CACHE_DIR"] != str(folder)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_users_choice_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    kernel_cache.use(tmp_path)
    assert os.environ["NUMBA_CACHE_DIR"] == "elsewhere"
    assert not list(tmp_path.iterdir())


def test_old_folders_go(tmp_path):
    """All but the last few, unless they were in use within the hour."""
    now = time.time()
    ages = {"a": 1, "b": 100, "c": 2 * 3600, "d": 3 * 3600, "e": 4 * 3600, "f": 5 * 3600}
    for name, age in ages.items():
        folder = tmp_path / f"skdp-{name}"
        folder.mkdir()
        (folder / "kernel.nbc").write_text("")
        os.utime(folder, (now - age, now - age))
    (tmp_path / "v").mkdir()
    os.utime(tmp_path / "v", (0, 0))
    kernel_cache.prune(tmp_path)
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {"v", "skdp-a", "skdp-b", "skdp-c", "skdp-d"}
    for name in "cd":
        os.utime(tmp_path / f"skdp-{name}")
    for name in "efghi":
        (tmp_path / f"skdp-{name}").mkdir()
    kernel_cache.prune(tmp_path)
    assert len(list(tmp_path.iterdir())) == 10
