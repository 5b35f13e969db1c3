"""The cache of machine code: whatever befalls its files, kernels run and results are the same."""

import os
import platform
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding as llvm
from numba.core import types as numba_types

import skdp
from skdp import _numba
from skdp._numba import KernelCache, frozen, njit

MODULE = """
from skdp._numba import njit, njit_part

@njit_part
def add(x, y):
    return x + y

@njit
def double(x):
    return add(x, x)
"""

RUN = """
import warnings
from kernels import double
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = double(21.0), double(2)
print(result, sum(double.stats.cache_hits.values()), len(caught))
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(MODULE)
    return tmp_path


def run(folder, before=""):
    """Run the kernel in a process of its own; return the result, the cache hits, the warnings."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(Path(skdp.__file__).parents[1])]),
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(before) + RUN], env=environment, text=True,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, *messages = done.stdout.splitlines()
    result, _, rest = first.partition(") ")
    assert result + ")" == "(42.0, 4)"
    n_hits, n_warnings = map(int, rest.split())
    assert n_warnings == len(messages)
    return n_hits, messages


def files(folder, pattern):
    found = sorted((folder / "cache").rglob(pattern))
    assert found
    return found


def test_it_is_used(folder):
    assert run(folder) == (0, [])
    assert run(folder) == (2, [])


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        pytest.param("*double*.nbi", 20, marks=pytest.mark.slow),
        pytest.param("*double*.nbc", -1, marks=pytest.mark.slow),
        ("*.nb?", 0),
    ],
)
def test_cut_files(folder, pattern, size):
    """They are written anew, and said to be damaged once."""
    run(folder)
    for path in files(folder, pattern):
        path.write_bytes(path.read_bytes()[:size])
    _, messages = run(folder)
    assert len(messages) == 1
    assert messages[0].startswith("RuntimeWarning")
    assert str(folder / "cache") in messages[0]
    assert ".nbi" in messages[0]
    assert run(folder) == (2, [])


@pytest.mark.slow
def test_garbage(folder):
    run(folder)
    for path in files(folder, "*.nb?"):
        path.write_bytes(b"no pickle")
    assert len(run(folder)[1]) == 1
    assert run(folder) == (2, [])


def test_unreadable_files(folder):
    """A folder in the place of a file: OSError on reading and on writing."""
    run(folder)
    for path in files(folder, "*double*.nbi"):
        path.unlink()
        path.mkdir()
    _, messages = run(folder)
    assert [message.split()[0] for message in messages] == ["RuntimeWarning"] * 2
    assert "could not be read" in messages[0]
    assert "could not be written" in messages[1]


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of a process")
@pytest.mark.parametrize(
    "limit",
    [pytest.param(0, marks=pytest.mark.slow), 2000],  # 2000: room for an index, not for code
)
def test_full_disk(folder, limit):
    _, messages = run(folder, FULL_DISK.format(limit=limit))
    assert len(messages) == 1
    assert "could not be written" in messages[0]
    assert run(folder) == (0, [])
    assert run(folder) == (2, [])


@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of a process")
def test_a_full_disk_brings_no_old_code_back(folder):
    """numba writes the index first: it would name the code of the file before it was edited."""
    module = folder / "kernels.py"
    module.write_text(MODULE.replace("add(x, x)", "add(x, 5 * x)"))
    with pytest.raises(AssertionError):
        run(folder)  # another result
    module.write_text(MODULE)
    run(folder, FULL_DISK.format(limit=2000))
    run(folder)


def test_a_handler_that_raises_is_heard():
    """A timeout is an OSError too, but says nothing of files."""

    class Interrupted:
        def load_overload(self, signature, target_context):
            raise TimeoutError

    with pytest.raises(TimeoutError):
        KernelCache(Interrupted(), called_from_python=True).load_overload(None, None)


def test_frozen_arrays_are_of_one_type():
    """A kernel is compiled once for arrays that can be written and for those that cannot."""

    @njit
    def total(values):
        return values.sum()

    values = np.arange(3.0)
    read_only = values.copy()
    read_only.flags.writeable = False
    assert total(frozen(values)) == total(frozen(read_only)) == 3.0
    assert len(total.signatures) == 1
    assert values.flags.writeable


ALL_DOORS = """
import numpy as np
import skdp._numba as door
{forget}

@door.njit_step
def square(x):
    return x * x

@door.njit_inlined
def cube(x):
    return x * square(x)

@door.njit_inner
def fill(values, x):
    values[:] = cube(x)

@door.njit_apart
def halve(x):
    return 0.5 * x

@door.njit_section
def fill_twice(values, x):
    fill(values, x)
    fill(values, halve(x))

@door.njit_loop
def run(values, x):
    fill_twice(values, x)
    return values.sum()

print(run(np.zeros(3), 4.0))
"""


@pytest.mark.parametrize("forget", ["", "door._KNOWN_OPTIONS = frozenset()"])
def test_options_that_numba_no_longer_knows(tmp_path, forget):
    """Kernels are compiled without them: slower, and right."""
    path = tmp_path / "doors.py"
    path.write_text(ALL_DOORS.format(forget=forget))
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(Path(skdp.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, path], env=environment, text=True, capture_output=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.stdout == "24.0\n", done.stderr


def test_numba_knows_all_options_that_are_used():
    """Should it forget one, this says which: speed is to be measured again."""
    private = {"_nrt", "forceinline", "no_cpython_wrapper", "no_cfunc_wrapper"}
    assert private | {"nogil", "error_model", "inline"} <= _numba._KNOWN_OPTIONS


@pytest.mark.parametrize(
    ("features", "machine", "n_bits"),
    [
        ("", "x86_64", 16 * 128),
        ("+sse4.2,-avx512f", "AMD64", 16 * 128),
        ("+avx,+avx2", "x86_64", 16 * 256),
        ("+avx, +avx512f", "x86_64", 32 * 512),
        ("", "arm64", 32 * 128),
        ("+neon", "aarch64", 32 * 128),
    ],
)
def test_registers(monkeypatch, features, machine, n_bits):
    monkeypatch.setattr(_numba.config, "CPU_FEATURES", features)
    monkeypatch.setattr(_numba.platform, "machine", lambda: machine)
    assert _numba.count_register_bits() == n_bits


def test_registers_without_avx(monkeypatch):
    monkeypatch.setattr(_numba.config, "CPU_FEATURES", None)
    monkeypatch.setattr(_numba.config, "ENABLE_AVX", 0)
    monkeypatch.setattr(_numba.platform, "machine", lambda: "x86_64")
    assert _numba.count_register_bits() == 16 * 128


SUMS = """
import sys
import numpy as np
from skdp._simd_lanes import MIX_ROWS
from skdp.grammar import HDPPCFG

rng = np.random.default_rng(0)
sentences = [rng.integers(0, 9, n) for n in (3, 5, 8, 8, 2, 60)]
fits = [HDPPCFG(5, n_preterminals=n, max_iter=2, tol=1e9, random_state=0) for n in (None, 7)]
arrays = [fit.fit(sentences).binary_probs_.ravel() for fit in fits]
np.savez(sys.argv[1], sums=np.concatenate(arrays), rows=MIX_ROWS)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="other processors have other names"
)
def test_other_processors(tmp_path):
    """The blocks have other sizes, and results the same bits where products are fused."""
    found = {}
    for name, variables in {
        "host": {},
        "haswell": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma"},
        "generic": {"NUMBA_CPU_NAME": "generic"},
    }.items():
        path = tmp_path / f"{name}.npz"
        environment = {**os.environ, "PYTHONPATH": str(Path(skdp.__file__).parents[1])}
        subprocess.run(
            [sys.executable, "-c", SUMS, path], env={**environment, **variables}, check=True,
            timeout=300,
        )  # fmt: skip
        found[name] = np.load(path)
    assert found["haswell"]["rows"].tolist() == [3, 2, 1]
    assert found["generic"]["rows"].tolist() == [1]
    np.testing.assert_allclose(found["generic"]["sums"], found["host"]["sums"], rtol=1e-9)
    if llvm.get_host_cpu_features().get("fma"):
        np.testing.assert_array_equal(found["haswell"]["sums"], found["host"]["sums"])


def test_kernels_with_other_constants_have_other_files(tmp_path, monkeypatch):
    """Two processes that compile them at once must not choose one file for both."""

    def make(constant):
        @njit
        def plus(x):
            return x + constant

        return plus

    kernels = [make(constant) for constant in (1, 2, (3, 4)[0])]
    assert len({kernel._cache.index_path for kernel in kernels}) == 3
    assert [kernel(1) for kernel in kernels] == [2, 3, 4]
    assert make(1)._cache.index_path == kernels[0]._cache.index_path


def test_code_for_other_arguments_is_not_used():
    class Written:
        """A cache whose file is another process's."""

        _called = None

        def load_overload(self, signature, target_context):
            return types.SimpleNamespace(signature=numba_types.none(numba_types.int64))

    cache = KernelCache(Written(), called_from_python=True)
    assert cache.load_overload((numba_types.int64,), None) is not None
    assert cache.load_overload((numba_types.float64,), None) is None


@_numba.njit_inner
def double_it(x):
    return 2 * x


@_numba.njit_inlined
def triple_it(x):
    return 3 * x


@njit
def add_both(x):
    return double_it(x) + triple_it(x)


@pytest.mark.parametrize("part", [double_it, triple_it])
def test_parts_refuse_python(part):
    """Before a kernel has had them compiled, and after: the entry point is a null pointer."""
    for _ in range(2):
        with pytest.raises(TypeError, match=f"{part.__name__} is a part of kernels, which cannot"):
            part(3)
        assert add_both(3) == 15
    assert double_it.py_func(3) == 6
