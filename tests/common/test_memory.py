"""What would not fit into the memory is refused."""

import types

import numpy as np
import pytest
from sklearn.base import clone
from small_fits import FITS

from skdp._memory import check_memory, container_memory, physical_memory, process_memory
from skdp.emissions import CategoricalEmission
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import HDPHMMLT


def test_memory_is_that_of_the_machine(monkeypatch):
    memory = physical_memory()
    assert memory is None or 2**28 < memory < 2**50
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**30)
    check_memory(2.0**30, "A table")
    with pytest.raises(ValueError, match=r"A table would take 1.5 GiB.*memory of 1 GiB. Less!"):
        check_memory(1.5 * 2**30, "A table", "Less!")
    for limit in ("physical", "container", "process"):  # nobody knows
        monkeypatch.setattr(f"skdp._memory.{limit}_memory", lambda: None)
    check_memory(1e300, "A table")


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/a/b", {"a/b/memory.max": "max", "a/memory.max": "1000", "memory.max": "2000"}, 1000),
        ("0::/", {"memory.max": "500\n"}, 500),
        ("0::/of/the/host", {"memory.max": "700"}, 700),
        ("0::/a", {"a/memory.max": "max"}, None),
        ("4:memory:/a", {"memory/a/memory.limit_in_bytes": "300"}, 300),
        ("2:cpu,cpuacct:/\n4:memory:/x\n0::/", {"memory/memory.limit_in_bytes": "44"}, 44),
        ("4:memory:/", {"memory/memory.limit_in_bytes": str(2**63 - 4096)}, None),
        ("", {}, None),
    ],
)
def test_memory_of_a_container(membership, files, expected, tmp_path, monkeypatch):
    (tmp_path / "membership").write_text(membership)
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr("skdp._memory._CGROUPS", tmp_path)
    monkeypatch.setattr("skdp._memory._MEMBERSHIP", tmp_path / "membership")
    assert container_memory() == expected
    monkeypatch.setattr("skdp._memory._MEMBERSHIP", tmp_path / "none")
    assert container_memory() is None


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_memory_of_a_process(kind, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = {getattr(resource, kind): (2**33, resource.RLIM_INFINITY)}
    unlimited = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits.get(which, unlimited))
    assert process_memory() == 2**33
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**40)
    with pytest.raises(ValueError, match=r"A table .* the memory limit of this process of 8 GiB"):
        check_memory(9 * 2.0**30, "A table")


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


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**33)


CHAINS = {name: fit for name, fit in FITS.items() if hasattr(fit[0], "n_chains")}
CHAINS.pop("HDPPCFG")  # an ascent has none


@pytest.mark.parametrize(("estimator", "parameters", "data"), CHAINS.values(), ids=CHAINS)
def test_too_many_chains(estimator, parameters, data, small_machine):
    estimator = clone(estimator).set_params(**{**parameters, "n_chains": 10**9})
    with pytest.raises(ValueError, match=r"^n_chains=1000000000 would take .* GiB"):
        estimator.fit(*data)


@pytest.mark.parametrize("model", [PitmanYorMixture, DPMixture, HDPMixture, HDPHMMLT])
def test_a_stray_symbol(model, small_machine):
    X = np.array([[0], [1], [2], [1], [0], [1e9]])
    with pytest.raises(ValueError, match=r"CategoricalEmission of 1000000001 symbols .* GiB"):
        model(emission="categorical", max_iter=4).fit(X)
    emission = CategoricalEmission(n_symbols=10**9)
    with pytest.raises(ValueError, match=r"CategoricalEmission of 1000000000 symbols .* GiB"):
        model(emission=emission, max_iter=4).fit(X[:-1])


@pytest.mark.parametrize("model", [PitmanYorMixture, DPMixture, HDPMixture])
def test_clusters_of_many_symbols(model, monkeypatch):
    # The prior would fit, and the counts of clusters would not.
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**25)
    X = np.array([[0], [1], [2], [1], [0], [300_000]])
    with pytest.raises(ValueError, match=r"16 clusters of 300001 kinds would take"):
        model(emission="categorical", max_iter=4).fit(X)


@pytest.mark.parametrize("prior", [(1e8, 1e-8), (1e8, 1.0), (1e-8, 1e-8)])
def test_priors_of_latent_features(prior, small_machine):
    model = IBPLatentFeatures(concentration_prior=prior, max_iter=4, random_state=0)
    X = np.random.default_rng(0).normal(size=(30, 2))
    if prior[0] == 1e-8:
        model.fit(X)
        return
    with pytest.raises(ValueError, match=r"concentration_prior=\(100000000\.0, .* GiB"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"concentration=1e\+08, .* GiB"):
        IBPLatentFeatures(1e8).fit(X)


def test_features_that_grow(monkeypatch):
    monkeypatch.setattr("skdp._memory.physical_memory", lambda: 2**18)
    monkeypatch.setattr("skdp._memory._SMALL", 0)
    X = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.raises(ValueError, match=r"features of 30 rows would take .* concentration_prior"):
        IBPLatentFeatures(concentration_prior=(100.0, 1e-8), max_iter=9, random_state=0).fit(X)
