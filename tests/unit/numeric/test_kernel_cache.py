"""The cache of machine code: no stale code, and kernels run despite damage to its files."""

import importlib
import os
import shutil
import subprocess
import sys
import textwrap
import time
import types
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features, get_process_triple
from numba.core import config
from numba.core import types as numba_types
from numba.core.codegen import CPUCodegen

import skdp
from skdp._numeric import _kernel_cache
from skdp._numeric._kernel_cache import (
    HOUR,
    LEVEL,
    KernelCache,
    UnknownIngredientError,
    cache_folder,
    describe_compiler,
    fingerprint,
    largest_size,
    prune,
)
from skdp._numeric._numba import njit

BASE = '''
from skdp._numeric._numba import njit_internal_nogc, njit_forceinline, njit_outlined

RATE = 2.0

@njit_forceinline
def scale(x):
    """Multiply by a rate."""
    return RATE * x

@njit_outlined
def shift(x):
    return x + 1.0
'''
MIDDLE = """
from skdp._numeric._numba import njit, njit_internal_nogc
from {package}.base import scale, shift

@njit_internal_nogc
def scale_twice(x):
    return scale(scale(x))

@njit
def move(x):
    return shift(x)
"""
TOP = """
from skdp._numeric._numba import njit
from {package}.middle import scale_twice, move

@njit
def quadruple(x):
    return scale_twice(x)

@njit
def move_twice(x):
    return move(move(x))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Yield a folder for modules, with its own cache in ``cache``."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_kernel_cache, "_reported", set())
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write(folder, **texts):
    """Write a package of kernels; its name is that of the folder, which no other test has."""
    package = f"{folder.name}_kernels"
    (folder / package).mkdir(exist_ok=True)
    (folder / package / "__init__.py").touch()
    for name, text in {"base": BASE, "middle": MIDDLE, "top": TOP, **texts}.items():
        (folder / package / f"{name}.py").write_text(text.format(package=package))
    return package


def load(package, name="top"):
    """Import a module of a package, as a new process would."""
    for known in [known for known in sys.modules if known.startswith(package)]:
        del sys.modules[known]
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode  # within a second of an edit
    try:
        return importlib.import_module(f"{package}.{name}")
    finally:
        sys.dont_write_bytecode = before


def run(package):
    """Return the results of the kernels and the names of the kernels that were compiled."""
    top = load(package)
    results = top.quadruple(3.0), top.move_twice(3.0)
    kernels = [
        kernel
        for name in ("base", "middle", "top")
        for kernel in vars(sys.modules[f"{package}.{name}"]).values()
        if hasattr(kernel, "stats")
    ]
    compiled = {k.py_func.__name__ for k in kernels if sum(k.stats.cache_misses.values())}
    return results, compiled


ALL = {"scale", "shift", "scale_twice", "move", "quadruple", "move_twice"}
SCALED = {"scale", "scale_twice", "quadruple"}


def test_kernels_are_found_again(folder):
    package = write(folder)
    assert run(package) == ((12.0, 5.0), ALL)
    assert run(package) == ((12.0, 5.0), set())
    assert len(list(cache_folder().iterdir())) == 6


@pytest.mark.parametrize(
    ("old", "new", "result", "compiled"),
    [
        ("RATE * x", "RATE * x  # a comment", (12.0, 5.0), set()),
        ("Multiply by a rate.", "Return a multiple.", (12.0, 5.0), set()),
        ("RATE = 2.0", "OTHER = 1\n\nRATE = 2.0", (12.0, 5.0), set()),
        ("RATE = 2.0", "RATE = 3.0", (27.0, 5.0), SCALED),
        ("RATE * x", "RATE * x + 1.0", (15.0, 5.0), SCALED),
        ("@njit_forceinline", "@njit_internal_nogc", (12.0, 5.0), SCALED),
        ("def scale(x):", "def scale(x, rate=RATE):", (12.0, 5.0), SCALED),
        ("x + 1.0", "x + 2.0", (12.0, 7.0), ALL - SCALED),
    ],
)
def test_an_edit_compiles_what_stands_on_it(folder, old, new, result, compiled):
    """Two imports away too; and when the edit is taken back, the first code is there again."""
    package = write(folder)
    before = run(package)[0]
    write(folder, base=BASE.replace(old, new))
    assert run(package) == (result, compiled)
    write(folder)
    assert run(package) == (before, set())


def test_an_edit_while_a_process_runs(folder):
    """Code imported before the edit is compiled after it, and cached under its own hash."""
    package = write(folder)
    top = load(package)
    write(folder, base=BASE.replace("2.0", "5.0"))
    assert top.quadruple(3.0) == 12.0
    assert run(package)[0] == (75.0, 5.0)
    assert top.quadruple(3) == 12.0  # for other types


def test_a_constant_that_a_test_replaces(folder, monkeypatch):
    package = write(folder)
    top = load(package)
    monkeypatch.setattr(sys.modules[f"{package}.base"], "RATE", 7.0)
    assert top.quadruple(1.0) == 49.0
    assert run(package)[0][0] == 12.0


@pytest.mark.parametrize("is_archive", [False, True])
def test_packages_elsewhere(folder, monkeypatch, is_archive):
    """The place of a package is no ingredient, and may be within an archive."""
    package = write(folder)
    if is_archive:
        elsewhere = folder / "kernels.zip"
        with zipfile.ZipFile(elsewhere, "w") as file:
            for path in (folder / package).iterdir():
                file.write(path, f"{package}/{path.name}")
        (folder / package).rename(folder / "gone")
    else:
        run(package)
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        (folder / package).rename(elsewhere / package)
    monkeypatch.syspath_prepend(str(elsewhere))
    assert run(package) == ((12.0, 5.0), ALL if is_archive else set())
    assert run(package) == ((12.0, 5.0), set())


class Pair(NamedTuple):
    first: float
    second: float


def test_what_is_an_ingredient():
    """Closures, defaults, named tuples and arrays; not what has no content that can be hashed."""

    def make(constant):
        @njit
        def plus(x):
            return x + constant

        return plus

    kernels = [make(constant) for constant in (1, 2, (3, 4)[0])]
    assert len({fingerprint(kernel) for kernel in kernels}) == 3
    assert [kernel(1) for kernel in kernels] == [2, 3, 4]
    assert fingerprint(make(1)) == fingerprint(kernels[0])
    values = np.arange(3)
    assert fingerprint(lambda: Pair) == fingerprint(lambda: Pair)
    first = fingerprint(lambda: values)
    values[1] = 7
    assert fingerprint(lambda: values) != first
    thing = object()
    with pytest.raises(UnknownIngredientError):
        fingerprint(lambda: thing)


def test_a_kernel_with_unknown_ingredients_stays_in_memory(folder):
    thing = types.SimpleNamespace(rate=2.0)

    package = write(folder)
    top = load(package)
    vars(top)["real"] = thing  # no global of the kernel, but a name in it
    double = njit(types.FunctionType((lambda x: 2.0 * x.real).__code__, vars(top)))
    assert double(4.0) == 8.0
    assert not cache_folder().exists()


def test_the_compiler_is_an_ingredient(folder, monkeypatch):
    package = write(folder)
    run(package)
    monkeypatch.setattr(config, "SLP_VECTORIZE", 1 - config.SLP_VECTORIZE)
    assert run(package) == ((12.0, 5.0), ALL)
    before = describe_compiler()
    monkeypatch.setattr(config, "NUMBA_NUM_THREADS", 17)
    assert describe_compiler() == before


def test_code_for_other_arguments_is_not_used(folder):
    """Two files changed places, each of which is sound."""
    package = write(folder)
    top = load(package)
    assert (top.quadruple(3.0), top.quadruple(3)) == (12.0, 12.0)
    first, second = sorted(cache_folder().glob("*.quadruple-*"))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    top = load(package)
    assert (top.quadruple(3.0), top.quadruple(3)) == (12.0, 12.0)
    assert sum(top.quadruple.stats.cache_misses.values()) == 2


DAMAGED = {
    "a flipped bit": lambda content: content[:99] + bytes([content[99] ^ 4]) + content[100:],
    "cut": lambda content: content[:-1],
    "empty": lambda content: b"",
    "foreign": lambda content: b"no machine code",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_damaged_files(folder, how):
    """They are compiled again and replaced, with one warning per process."""
    package = write(folder)
    run(package)
    for path in cache_folder().iterdir():
        path.write_bytes(DAMAGED[how](path.read_bytes()))
    with pytest.warns(RuntimeWarning, match="could not be read") as caught:
        assert run(package) == ((12.0, 5.0), ALL)
    assert len(caught) == 1
    assert str(cache_folder()) in str(caught[0].message)
    assert run(package) == ((12.0, 5.0), set())


def test_folders_in_the_place_of_files(folder):
    package = write(folder)
    run(package)
    for path in cache_folder().iterdir():
        path.unlink()
        path.mkdir()
    with pytest.warns(RuntimeWarning, match="could not be") as caught:
        assert run(package) == ((12.0, 5.0), ALL)
    assert sorted(str(each.message).split()[8] for each in caught) == ["read", "written"]
    assert not list(cache_folder().glob("*.tmp"))


def test_a_file_in_the_place_of_the_folder(folder):
    package = write(folder)
    (folder / "cache").write_text("")
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR to a folder"):
        assert run(package) == ((12.0, 5.0), ALL)


def test_nobody_is_at_home(folder, monkeypatch):
    """The user's cache folder is that of numba; without a home there is none."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    if sys.platform.startswith("linux"):
        assert cache_folder() == Path("/elsewhere/numba/skdp")
    monkeypatch.setattr(_kernel_cache.AppDirs, "user_cache_dir", "~/.cache/numba")
    assert cache_folder() is None
    package = write(folder)
    with pytest.warns(RuntimeWarning, match="memory only") as caught:
        assert run(package) == ((12.0, 5.0), ALL)
    assert len(caught) == 1


RUN = """
import sys
import warnings
{before}
from {package}.top import {kernel} as kernel
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    result = kernel(3.0)
print(result, sum(kernel.stats.cache_hits.values()))
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


def start(folder, package, before="", kernel="quadruple", **options):
    environment = {
        **os.environ,
        **options,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), str(Path(skdp.__file__).parents[1])]),
    }
    script = RUN.format(package=package, before=textwrap.dedent(before), kernel=kernel)
    return subprocess.Popen(
        [sys.executable, "-c", script], env=environment, text=True, stdout=subprocess.PIPE
    )


FULL_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no limits of a process")
def test_full_disk(folder):
    package = write(folder)
    first, *messages = start(folder, package, FULL_DISK).communicate(timeout=120)[0].splitlines()
    assert first == "12.0 0"
    assert len(messages) == 1
    assert messages[0].startswith("RuntimeWarning")
    assert "could not be written" in messages[0]
    assert not list(cache_folder().iterdir())
    assert run(package)[1] == ALL


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once(folder):
    package = write(folder)
    processes = [start(folder, package) for _ in range(3)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert {output.splitlines()[0].split()[0] for output in outputs} == {"12.0"}
    assert not any("Warning" in output for output in outputs)
    assert run(package)[1] == ALL - SCALED


HAS_LEVEL = set(LEVEL.split(",")) <= {
    f"+{name}" for name, has in get_host_cpu_features().items() if has
}


@pytest.mark.slow
@pytest.mark.skipif(not HAS_LEVEL, reason="wheels have no code for this processor")
def test_shipped_code(folder, monkeypatch):
    """It is taken where it fits: to the processor, and to the code of the kernels."""
    package = write(folder)
    for kernel in ("quadruple", "move_twice"):
        level = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": LEVEL, "kernel": kernel}
        assert start(folder, package, **level).communicate(timeout=120)[0].endswith(" 0\n")
    shipped = cache_folder().rename(folder / "shipped")
    monkeypatch.setattr(_kernel_cache, "SHIPPED", shipped)
    assert run(package) == ((12.0, 5.0), set())
    assert not cache_folder().exists()
    write(folder, base=BASE.replace("2.0", "3.0"))
    assert run(package) == ((27.0, 5.0), SCALED)
    write(folder)
    with monkeypatch.context() as other:  # another processor
        other.setattr(CPUCodegen, "magic_tuple", lambda codegen: (get_process_triple(), "", ""))
        assert run(package) == ((12.0, 5.0), ALL)
    for path in shipped.iterdir():
        path.write_bytes(b"damaged")
    with pytest.warns(RuntimeWarning, match="could not be read"):
        assert run(package) == ((12.0, 5.0), ALL)
    monkeypatch.setattr(_kernel_cache, "_reported", set())
    assert run(package) == ((12.0, 5.0), set())  # the user's own files come first


def test_outlined_code_is_not_copied(folder):
    top = load(write(folder))
    assert top.move_twice(3.0) == 5.0
    (text,) = top.move_twice.inspect_llvm().values()
    kinds = {line.split()[0] for line in text.splitlines() if ".base.shift-" in line}
    assert "declare" in kinds
    assert "define" not in kinds


@pytest.mark.slow
def test_outlined_code_in_another_process(folder):
    """It is loaded before the kernel that calls it, or compiled again if its file is missing."""
    package = write(folder)
    run(package)
    for _ in range(2):
        output = start(folder, package, kernel="move_twice").communicate(timeout=120)[0]
        assert output == "5.0 1\n"
        assert len(list(cache_folder().iterdir())) == 6
        (path,) = cache_folder().glob("*.base.shift-*")
        path.unlink()


@pytest.mark.slow
def test_outlined_code_for_another_constant(folder):
    """A kernel that calls code of an earlier constant is compiled again, not run without it."""
    package = write(folder, base=BASE.replace("x + 1.0", "x + RATE"))
    replace = f"import {package}.base as base\nbase.RATE = 7.0\n"
    early = replace.replace("base.RATE", "base.shift(0.0)\nbase.RATE")
    for before, result in ((early, "7.0 0\n"), (replace, "17.0 0\n"), (replace, "17.0 1\n")):
        output = start(folder, package, before, kernel="move_twice").communicate(timeout=120)[0]
        assert output == result


def test_a_handler_that_raises_is_heard(folder, monkeypatch):
    """A timeout is an OSError too, but not of a file."""

    def interrupted(*args):
        raise TimeoutError

    package = write(folder)
    run(package)
    monkeypatch.setattr(_kernel_cache, "_read", interrupted)
    with pytest.raises(TimeoutError):
        run(package)


def make_files(folder, ages, size=100, suffix="nbc"):
    now = time.time()
    for name, age in ages.items():
        path = folder / f"{name}.{suffix}"
        path.write_bytes(bytes(size))
        os.utime(path, (now - age, now - age))


def test_the_least_recently_used_files_go(tmp_path):
    make_files(tmp_path, {"a": 1, "b": 2 * HOUR, "c": 3 * HOUR, "d": 4 * HOUR})
    prune(tmp_path, 400)
    assert len(list(tmp_path.iterdir())) == 4
    prune(tmp_path, 250)
    assert {path.stem for path in tmp_path.iterdir()} == {"a", "b"}
    prune(tmp_path, 0)
    assert {path.stem for path in tmp_path.iterdir()} == {"a"}  # in use
    make_files(tmp_path, {"new": 1, "old": 2 * HOUR}, suffix="tmp")  # unfinished ones
    prune(tmp_path, 1e9)
    assert {path.stem for path in tmp_path.iterdir()} == {"a", "new"}


def test_a_file_that_is_read_is_in_use(folder, monkeypatch):
    package = write(folder)
    run(package)
    make_files(cache_folder(), {"other": 2 * HOUR})
    for path in cache_folder().glob("*-*"):
        os.utime(path, (0, 0))
    run(package)
    monkeypatch.setenv("SKDP_CACHE_SIZE", "0")
    monkeypatch.setattr(KernelCache, "_n_written", 0)
    load(package).quadruple(3)  # compiles and writes, and so looks at the size
    left = {path.name.split("-")[0].split(".")[-1] for path in cache_folder().iterdir()}
    assert "move_twice" in left
    assert not left & {"other.nbc", "nbc", "shift"}  # what `move_twice` calls was not read again


@pytest.mark.parametrize("size", ["much", "-1", "nan"])
def test_a_size_that_is_none(monkeypatch, size):
    monkeypatch.setattr(_kernel_cache, "_reported", set())
    monkeypatch.setenv("SKDP_CACHE_SIZE", "0.5")
    assert largest_size() == 2**19
    monkeypatch.setenv("SKDP_CACHE_SIZE", size)
    with pytest.warns(RuntimeWarning, match="SKDP_CACHE_SIZE must be megabytes"):
        assert largest_size() == 2**30


def test_types_of_arguments_have_names():
    """Two named tuples of the same name and fields are two types."""
    other = type("Pair", (Pair,), {"__module__": "elsewhere"})
    kinds = [numba_types.NamedUniTuple(numba_types.float64, 2, made) for made in (Pair, other)]
    assert len({_kernel_cache._describe_type(kind) for kind in kinds}) == 2


EDITED = {
    "inspection/__init__.py": '"""',
    "topics/_gibbs_lda.py": '"""Latent Dirichlet allocation',
    "topics/_kernels/_lda.py": '"""',
}


@pytest.mark.slow
def test_docstrings_of_the_package_compile_nothing(tmp_path):
    """A copy of the package whose docstrings were edited runs what the package has compiled."""
    package = Path(skdp.__file__).parent
    copy = tmp_path / "skdp"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name in EDITED:
        text = (copy / name).read_text(encoding="utf-8")
        (copy / name).write_text(text.replace('"""', '"""Edited. ', 1), encoding="utf-8")
    script = textwrap.dedent(
        """
        import skdp
        from skdp._numeric._kernel_cache import wait
        from skdp.topics import GibbsLDA

        GibbsLDA(2, max_iter=3, random_state=0).fit([[[0, 1]], [[1, 2]]])
        print(skdp.__file__, wait.spent)
        """
    )
    for place, expected in ((package, None), (copy, "0.0")):
        done = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-c", script], text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(place.parent)}, stdout=subprocess.PIPE,
        )  # fmt: skip
        where, compiled = done.stdout.split()
        assert Path(where).is_relative_to(place)
        assert expected in (None, compiled)
