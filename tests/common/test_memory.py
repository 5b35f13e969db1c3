"""Requests that exceed the memory are errors."""

import types

import numpy as np
import pytest
from registry import CASES
from sklearn.base import clone

from skdp._checks import _control_group_files, available_memory, check_memory, physical_memory
from skdp.emissions import CategoricalEmission
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT


def test_memory_is_that_of_the_machine(monkeypatch):
    memory = physical_memory()
    assert memory is None or 2**28 < memory < 2**50
    monkeypatch.setattr("skdp._checks.physical_memory", lambda: 2**30)
    check_memory(2.0**30, "A table")
    with pytest.raises(ValueError, match=r"A table would take 1.5 GiB.*memory of 1 GiB .* Less!"):
        check_memory(1.5 * 2**30, "A table", "Less!")
    monkeypatch.setattr("skdp._checks._limits", lambda: iter(()))  # nobody knows
    check_memory(1e300, "A table")


def test_memory_of_windows(monkeypatch):
    # There is no sysconf; the API is called with a structure of its length.
    class Kernel:
        @staticmethod
        def GlobalMemoryStatusEx(reference):
            status = reference._obj
            assert status.length == 64
            status.total = 16 * 2**30
            return 1

    monkeypatch.delattr("os.sysconf", raising=False)
    monkeypatch.setattr("ctypes.windll", types.SimpleNamespace(kernel32=Kernel), raising=False)
    assert physical_memory() == 16 * 2**30
    monkeypatch.delattr("ctypes.windll")
    assert physical_memory() is None


def test_limits_of_the_process(monkeypatch):
    resource = pytest.importorskip("resource")
    limits = {resource.RLIMIT_AS: 2**29, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], resource.RLIM_INFINITY))
    assert available_memory() == 2**29
    with pytest.raises(ValueError, match=r"X would take 1 GiB, more than the memory of 0\.5 GiB"):
        check_memory(2.0**30, "X")


@pytest.mark.parametrize(
    ("line", "file", "text", "expected"),
    [
        ("0::/a/b", "a/memory.max", "1000\n", 1000),
        ("0::/a/b", "a/b/memory.max", "max\n", None),
        ("9:cpu,memory:/c", "memory/c/memory.limit_in_bytes", "2000\n", 2000),
        ("9:cpu:/c", "memory/c/memory.limit_in_bytes", "2000\n", None),
    ],
)
def test_limits_of_control_groups(tmp_path, monkeypatch, line, file, text, expected):
    """The limits of the group and of all groups above it, in both versions."""
    (tmp_path / "groups").write_text(f"{line}\n")
    path = tmp_path / "root" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    files = list(_control_group_files(tmp_path / "groups", tmp_path / "root"))
    assert (path in files) == (line != "9:cpu:/c")
    monkeypatch.setattr("skdp._checks._control_group_files", lambda: files)
    whole = physical_memory()
    assert available_memory() == (whole if expected is None else expected)


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr("skdp._checks.physical_memory", lambda: 2**33)


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if "n_chains" in c.integers])
def test_too_many_chains(name, small_machine):
    estimator = clone(CASES[name].estimator).set_params(n_chains=10**9)
    with pytest.raises(ValueError, match=r"^n_chains=1000000000 would take .* GiB"):
        estimator.fit(*CASES[name].data)


@pytest.mark.filterwarnings("ignore:.*codes")
@pytest.mark.parametrize("model", [PitmanYorMixture, DPMixture, HDPMixture, HDPHMMLT])
def test_a_stray_symbol(model, small_machine):
    X = np.array([[0], [1], [2], [1], [0], [1e9]])
    with pytest.raises(ValueError, match=r"CategoricalEmission of 1000000001 symbols .* GiB"):
        model(emission="categorical", max_iter=4).fit(X)
    emission = CategoricalEmission(n_symbols=10**9)
    with pytest.raises(ValueError, match=r"CategoricalEmission of 1000000000 symbols .* GiB"):
        model(emission=emission, max_iter=4).fit(X[:-1])


@pytest.mark.filterwarnings("ignore:.*codes")
@pytest.mark.parametrize("model", [PitmanYorMixture, DPMixture, HDPMixture])
def test_clusters_of_many_symbols(model, monkeypatch):
    # The prior would fit, and the counts of clusters would not.
    monkeypatch.setattr("skdp._checks.physical_memory", lambda: 2**25)
    X = np.array([[0], [1], [2], [1], [0], [300_000]])
    with pytest.raises(ValueError, match=r"16 clusters of 300001 kinds would take"):
        model(emission="categorical", max_iter=4).fit(X)
