"""How kernels are compiled: the kinds of them, and processors other than this one."""

import gc
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import binding as llvm
from numba.core import config
from numba.core.compiler import Flags
from numba.core.errors import TypingError

import skdp
from skdp._numeric import _numba
from skdp._numeric._numba import (
    as_readonly,
    njit,
    njit_inlined_source,
    njit_internal_nogc,
)


def test_frozen_arrays_are_of_one_type():
    """A kernel is compiled once for arrays that can be written and for those that cannot."""

    @njit
    def total(values):
        return values.sum()

    values = np.arange(3.0)
    read_only = values.copy()
    read_only.flags.writeable = False
    assert total(as_readonly(values)) == total(as_readonly(read_only)) == 3.0
    assert len(total.signatures) == 1
    assert values.flags.writeable


@pytest.mark.parametrize("is_wide", [False, True])
def test_a_section_is_compiled_as_if_it_were_written_where_it_is_used(is_wide):
    """Also if it is used twice, in itself has sections, and has variables of the same names."""

    @njit_inlined_source
    def square(x):
        y = x * x
        return y

    @njit_inlined_source
    def add_squares(x, y):
        total = square(x)
        if is_wide:
            for z in range(3):
                total += square(z)
        return total + square(y)

    @njit
    def run(x, y):
        total = add_squares(x, y)
        for z in range(2):
            total += add_squares(z, x)
        return total

    assert run(2.0, 3.0) == run.py_func(2.0, 3.0) == 22.0 + 15.0 * is_wide


def test_a_number_in_the_code_of_a_kernel_needs_no_machine_code_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # otherwise nothing may be compiled

    @njit_internal_nogc
    def add(x, y):
        return x + y if y else x

    @njit
    def run(x):
        return add(x, 1) + add(x, x) + add(x, 0)

    assert run(5) == 21
    assert len(add.overloads) == 1


ALL_DOORS = """
import numpy as np
import importlib
import skdp._numeric._numba as door
importlib.reload(door)
{forget}

@door.njit_forceinline
def square(x):
    return x * x

@door.njit_inlined
def cube(x):
    return x * square(x)

@door.njit_internal_nogc
def fill(values, x):
    values[:] = cube(x)

@door.njit_outlined
def halve(x):
    return 0.5 * x

@door.njit_inlined_source
def fill_twice(values, x):
    fill(values, x)
    fill(values, halve(x))

@door.njit_loop
def run(values, x):
    fill_twice(values, x)
    return values.sum()

print(run(np.zeros(3), 4.0))
"""


@pytest.mark.slow
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
    """If numba drops an option, this test names it: then measure the speed again."""
    private = {"_nrt", "forceinline", "no_cpython_wrapper", "no_cfunc_wrapper"}
    assert private | {"nogil", "error_model", "inline"} <= _numba._KNOWN_OPTIONS


def test_options_are_compared_as_numba_does():
    """Only entry points make no difference."""
    choices = (
        {}, {"nrt": True}, {"nrt": False}, {"forceinline": True}, {"error_model": "numpy"},
        {"nrt": True, "error_model": "numpy"}, {"error_model": "python", "fastmath": {"nnan"}},
    )  # fmt: skip
    flags = []
    for choice in choices:
        flags.append(Flags())
        for name, value in choice.items():
            setattr(flags[-1], name, value)
    for one in flags:
        part = _numba._Flags(one)
        part.no_cpython_wrapper = True
        for other in flags:
            assert (part == _numba._Flags(other)) == (one == other)
            assert (part == other) == (one == other)
            assert hash(part) == hash(other)


@pytest.mark.parametrize(
    ("features", "machine", "n_bits"),
    [
        ("", "x86_64", 16 * 128),
        (None, "x86_64", 16 * 128),
        ("+sse4.2,-avx512f", "AMD64", 16 * 128),
        ("+avx,+avx2", "x86_64", 16 * 256),
        ("+avx, +avx512f", "x86_64", 32 * 512),
        ("", "arm64", 32 * 128),
        ("+neon", "aarch64", 32 * 128),
    ],
)
def test_registers(monkeypatch, features, machine, n_bits):
    monkeypatch.setattr(_numba.config, "CPU_FEATURES", features)
    monkeypatch.setattr(_numba.config, "ENABLE_AVX", 0)  # matters if no features are given
    monkeypatch.setattr(_numba.platform, "machine", lambda: machine)
    assert _numba.count_register_bits() == n_bits


SUMS = """
import sys
import numpy as np
from skdp._numeric._simd_lanes import MIX_ROWS
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


@_numba.njit_internal_nogc
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


def test_entries_for_python_are_compiled_on_demand(monkeypatch, tmp_path):
    """A kernel that kernels alone have called is compiled again when Python calls it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))  # nothing has been compiled before

    @njit
    def halve(x):
        return x / 2

    @njit
    def make_pair(x):
        return np.array([x, halve(x)])

    @njit
    def add_halves(x):
        return make_pair(x)[0] + make_pair(x)[1]

    assert add_halves(4.0) == 6.0
    assert [len(kernel.overloads) for kernel in (halve, make_pair, add_halves)] == [1, 1, 1]
    assert [bool(kernel.nopython_signatures) for kernel in (halve, make_pair)] == [True, True]
    before = list(halve.overloads.values())
    assert halve(4.0) == 2.0
    assert list(halve.overloads.values()) != before
    for _ in range(2):
        with pytest.raises(TypeError, match="signal handler"):
            make_pair(4.0)
        assert add_halves(4.0) == 6.0
        assert add_halves(4) == 6.0


def test_garbage_is_collected_after_compiling():
    @njit
    def double(x):
        return 2 * x

    assert gc.isenabled()
    double(1)
    assert gc.isenabled()
    with pytest.raises(TypingError):
        double(None)
    assert gc.isenabled()
    gc.disable()
    try:
        double(1.0)
        assert not gc.isenabled()
    finally:
        gc.enable()
