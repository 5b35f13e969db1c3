"""Results of kernels in Python, also if a signal handler raises at that moment."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import skdp
from skdp import topics
from skdp._numeric._kernel_cache import KernelCache, fingerprint
from skdp._numeric._numba import is_safe_in_python, njit, njit_internal

HERE = Path(__file__).parent


def kernels():
    """Return all kernels of the package, by name, and whether Python may call them."""
    found = {}
    for info in pkgutil.walk_packages(skdp.__path__, "skdp."):
        for kernel in dispatchers(vars(importlib.import_module(info.name)).values()):
            name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
            if kernel.py_func.__closure__:
                name += f"{[cell.cell_contents for cell in kernel.py_func.__closure__]}"
            found[name] = kernel, not kernel.targetoptions.get("no_cpython_wrapper", False)
    assert len(found) > 300
    return found


def dispatchers(values):
    """Yield the kernels among values, and those in tables by sampler. Sections are none: they are
    copied into kernels and never compiled by themselves."""
    for value in values:
        if isinstance(value, Dispatcher):
            if value.targetoptions.get("inline") != "always":
                yield value
        elif isinstance(value, tuple):
            yield from dispatchers(value)
        elif isinstance(value, dict):
            yield from dispatchers(value.values())


KERNELS = kernels()
ENTRY_POINTS = {name: kernel for name, (kernel, from_python) in KERNELS.items() if from_python}


def test_the_cache_knows_all_ingredients():
    """A kernel that refers to anything else would be compiled in every process."""
    assert len({fingerprint(kernel) for kernel, _ in KERNELS.values()}) > 0.99 * len(KERNELS)


def test_enclosed_values():
    """Kernels that differ by enclosed values are named by them, so constants have to be short."""
    enclosed = [
        (name, cell.cell_contents)
        for name, (kernel, _) in KERNELS.items()
        for cell in kernel.py_func.__closure__ or ()
    ]
    assert len(enclosed) >= 19
    for name, value in enclosed:
        for constant in value if type(value) is tuple else (value,):
            is_kernel = isinstance(constant, Dispatcher)  # it has a name
            assert is_kernel or type(constant) in (bool, int, float, str), name


def test_all_come_through_one_door():
    """Whatever is compiled is looked at there: see `TestTheDoor`."""
    for name, (kernel, _) in KERNELS.items():
        assert isinstance(kernel._cache, KernelCache), name


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


class TestTheDoor:
    @pytest.mark.parametrize(
        "function",
        [
            lambda x: Pair(x, x), lambda x: x, lambda x: (x[0], x),
            lambda x: (1, (Pair(x, x), 2.0)), lambda x: np.zeros(3), lambda x: "text",
        ],
    )  # fmt: skip
    def test_what_is_refused(self, function):
        with pytest.raises(TypeError, match="signal handler"):
            njit(function)(np.ones(2))

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: None, lambda x: x[0], lambda x: np.float32(x[1]), lambda x: x[0] > 0.0,
            lambda x: complex(x[0]), lambda x: (1, x[0], (x[1], True)),
        ],
    )  # fmt: skip
    def test_what_passes(self, function):
        assert njit(function)(np.ones(2)) == function(np.ones(2))

    def test_parts_may_return_anything(self):
        make = njit_internal(lambda x: Pair(x, x))
        assert njit(lambda x: make(x).first[1])(np.arange(2.0)) == 1.0


def returned(function):
    """Yield what a function returns, as expressions, and the names that it takes parts of."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    parts = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.value, ast.Name)
    }
    waiting = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, ast.Tuple):
            waiting += expression.elts
        elif expression is not None:
            yield expression, parts


def is_compound(expression, parts, names):
    """Tell whether an expression is an array or a named tuple, from the source alone."""
    if isinstance(expression, ast.Name):
        return expression.id in parts
    if isinstance(expression, ast.Call):
        called = expression.func
        if isinstance(called, ast.Attribute):
            if not isinstance(called.value, ast.Name) or called.value.id != "np":
                return False
            made = getattr(np, called.attr)  # np.int64(...) is a number, np.zeros(...) is not
            return not (inspect.isclass(made) and issubclass(made, np.generic))
        target = names.get(called.id)
        return inspect.isclass(target) and issubclass(target, tuple)
    return False


def test_sources():
    """No kernel that Python can call seems to return an array or a named tuple. This looks at the
    source, compiled or not; types are known to the door only, once there is machine code."""
    wrong = [
        f"{name} returns {ast.unparse(expression)}"
        for name, kernel in ENTRY_POINTS.items()
        for expression, parts in returned(kernel.py_func)
        if is_compound(expression, parts, kernel.py_func.__globals__)
    ]
    assert not wrong


def test_machine_code():
    """Kernels return numbers, whether they are compiled or cached."""
    X = [[[0, 1, 0], [2]], [[2, 1], [0]]]
    for kind in (topics.SegmentedTopicModel, topics.AdaptiveTopicModel):
        for sampler in ("btigs", "ssa"):
            model = kind(2, sampler=sampler, max_iter=2, transform_max_iter=2, random_state=0)
            model.fit(X).transform(X)
    compiled = [
        (name, overload.signature.return_type)
        for name, kernel in ENTRY_POINTS.items()
        for overload in kernel.overloads.values()
    ]
    names = {name.split("[")[0] for name, _ in compiled}
    sweeps = "skdp.topics._kernels._sweeps"
    assert {f"{sweeps}.{name}" for name in ("seat_randomly", "sweep_corpus", "fold_in")} <= names
    for name, result in compiled:
        assert is_safe_in_python(result), name


@pytest.mark.skipif(sys.platform == "win32", reason="has no interval timers")
@pytest.mark.parametrize(
    ("n_fits", "seed"), [(150, 0), pytest.param(3000, 1, marks=pytest.mark.slow)]
)
def test_raising_handlers(n_fits, seed):
    """Timeouts and impatient users end fits, not the interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(Path(skdp.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, str(HERE / "raising_handlers.py"), str(n_fits), str(seed)],
        env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    n_ended, _, n_started = done.stdout.split()[-3:]
    assert n_started == str(n_fits)
    assert int(n_ended) > 0.9 * n_fits
