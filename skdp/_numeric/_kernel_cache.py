"""The cache of machine code, in which each compiled kernel has a file named by its ingredients.

A kernel's machine code depends on the kernel's own code, on the code and the constants that it
refers to, directly or not, on the types of its arguments, and on the compiler and the processor.
The file name is a hash of all of these. A file is therefore never out of date, two versions of a
kernel have two files, and all clones, environments and installed versions share the code that they
have in common. After an edit only the changed kernels are compiled; comments and docstrings are not
ingredients.
"""

import contextlib
import copy
import hashlib
import importlib
import inspect
import math
import multiprocessing
import os
import pickle
import re
import sys
import threading
import time
import types as python_types
import uuid
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import config, sigutils, types
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps
from numba.extending import intrinsic
from numba.misc.appdirs import AppDirs

MEGABYTE = 2**20
# Default limit for the size of all files in megabytes, which SKDP_CACHE_SIZE overrides.
DEFAULT_SIZE = 1024

# No file that was written or read within the last hour is deleted.
HOUR = 3600.0

# A process checks the size of the folder at its first write, and after this many more.
PRUNE_EVERY = 256

# Packages whose content is identified by their version.
_VERSIONED = {"numpy", "numba", "llvmlite", *sys.stdlib_module_names}

# Names of numba's options that do not affect machine code, or only through its target.
_OUTPUT_ONLY = re.compile(
    "^_|^CPU_|CACHE|THREAD|DUMP|TRACE|WARN|HIGHLIGHT|COLOR|CUDA|GDB|DEVELOPER_MODE"
)

# The folder of machine code that comes with some wheels, for processors that have `LEVEL`.
SHIPPED = Path(__file__).parents[1] / "_kernels"

# The features of the processor x86-64-v3, for which it is compiled.
LEVEL = (
    "+cmov,+crc32,+cx16,+cx8,+fxsr,+mmx,+popcnt,+sahf,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3,"
    "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave"
)

# Errors for files that cannot be read or written, or that another numba version has written.
_DAMAGES = (
    AttributeError, EOFError, ImportError, IndexError, KeyError, OSError, RuntimeError, TypeError,
    ValueError, pickle.PickleError,
)  # fmt: skip

_reported: set[str] = set()

# Purpose of machine code that kernels call at its address, and layout of the files.
_SHARED = "shared"

# Modules, names, argument types and code of the shared kernels in memory, by symbol.
_shared: dict[str, tuple[str, str, Any, Any]] = {}

_Intrinsic: Any = type(intrinsic(lambda context: None))


class Wait(threading.local):
    """The time that a thread has spent compiling, of which the process tells the user once."""

    limit = 2.0  # seconds; it belongs to the class, and is thus common to all threads
    spent = 0.0
    began: float | None = None

    def begin(self) -> None:
        """Note that a kernel is about to be compiled, perhaps inside the compilation of another."""
        now = time.monotonic()
        if self.began is None:
            self.began = now
        if self.spent + now - self.began > self.limit:
            Wait.limit = math.inf
            # Of the worker processes of a grid search, only the first one tells.
            if multiprocessing.current_process().name.rpartition("-")[2] in ("MainProcess", "1"):
                with contextlib.suppress(AttributeError, OSError, ValueError):  # None, or closed
                    sys.stderr.write(_WAIT)
                    sys.stderr.flush()

    def end(self) -> None:
        """Note that the outermost compilation has ended, if there was one."""
        if self.began is not None:
            self.spent += time.monotonic() - self.began
            self.began = None


_WAIT = (
    "skdp compiles code, once per machine: a first fit of a kind may take half a minute longer. "
    "(verbose=-1 silences this line.)\n"
)

wait = Wait()


def _is_versioned(module: str) -> bool:
    return module.partition(".")[0] in _VERSIONED


class UnknownIngredientError(Exception):
    """Raised if a kernel refers to an object that cannot be hashed."""


class _Ingredients:
    """A hash of functions and of everything that they refer to by name, from loaded modules."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.functions: dict[Any, int] = {}  # the hashed functions, with sequence numbers

    def hexdigest(self) -> str:
        return self._hash.hexdigest()

    def _write(self, kind: str, text: str = "") -> None:
        self._hash.update(f"{kind} {len(text)} {text}\n".encode("utf-8", "surrogatepass"))

    def add(self, value: Any) -> None:
        """Add a value that code refers to, or raise UnknownIngredientError."""
        if isinstance(value, Dispatcher):
            self._write("kernel", repr(sorted(value.targetoptions.items())))
            self.add(value.py_func)
        elif isinstance(value, _Intrinsic):
            self._write("intrinsic")
            self.add(value._defn)
        elif isinstance(value, (tuple, list, frozenset, set, dict)):
            self._add_collection(value)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            self._write("array", f"{value.dtype.descr} {value.shape}")
            self._hash.update(np.ascontiguousarray(value).tobytes())
        elif value is None or isinstance(value, (str, bytes, int, float, complex, np.generic)):
            self._write(type(value).__name__, repr(value))
        elif isinstance(value, (types.Type, ir.Type, np.dtype)):
            self._write(type(value).__name__, str(value))
        elif isinstance(value, ir.Constant):
            self._write("constant", f"{value.type} {value.constant}")
        elif isinstance(value, property):
            self.add([value.fget, value.fset, value.fdel])
        else:
            self._add_object(value)

    def _add_collection(self, value: Any) -> None:
        self._write(type(value).__name__, str(len(value)))
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=repr)
        elif isinstance(value, dict):
            value = [part for item in value.items() for part in item]
        for part in value:
            self.add(part)

    def _add_object(self, value: Any) -> None:
        """Add a module, class or function: only its name if its package has a version."""
        is_module = isinstance(value, python_types.ModuleType)
        module = value.__name__ if is_module else getattr(value, "__module__", None)
        name = getattr(value, "__qualname__", getattr(value, "__name__", ""))
        if module is None and isinstance(value, python_types.BuiltinFunctionType | np.ufunc):
            module = "builtins"
        if module is not None and _is_versioned(module) and name:
            self._write("name", f"{module} {name}")
        elif isinstance(value, python_types.FunctionType):
            self._add_function(value)
        elif isinstance(value, type):
            self._add_class(value)
        else:
            raise UnknownIngredientError(f"{type(value).__qualname__} {module}.{name}")

    def _add_class(self, made: type) -> None:
        """Add a class of skdp: its bases, its methods, and its fields if it is a named tuple."""
        self._write("class", f"{made.__module__}.{made.__qualname__}")
        self.add([*made.__bases__, getattr(made, "_fields", ())])
        for name, part in sorted(vars(made).items()):
            part = getattr(part, "__func__", part)  # unwrap class methods and static methods
            if isinstance(part, python_types.FunctionType | property):
                self._write("method", name)
                self.add(part)

    def _add_function(self, function: Any) -> None:
        if function in self.functions:
            self._write("again", str(self.functions[function]))
            return
        self.functions[function] = len(self.functions)
        text, names = _summarize(function.__code__)
        self._write("function", f"{function.__module__}.{function.__qualname__} {text}")
        self.add([function.__defaults__, function.__kwdefaults__])
        for cell in function.__closure__ or ():
            self.add(cell.cell_contents)
        for name in names:  # not from files, which may have been edited since they were loaded
            if name in function.__globals__:
                self._add_global(name, function.__globals__[name], names)

    def _add_global(self, name: str, value: Any, names: tuple[str, ...]) -> None:
        """Add a global value; for a module of skdp, the attributes that the names may refer to."""
        self._write("global", name)
        if isinstance(value, python_types.ModuleType) and not _is_versioned(value.__name__):
            for attribute in names:
                if hasattr(value, attribute):
                    self._write("attribute", attribute)
                    self.add(getattr(value, attribute))
        else:
            self.add(value)


@cache
def _summarize(code: python_types.CodeType) -> tuple[str, tuple[str, ...]]:
    """Return a digest of code without line numbers and docstrings, and the names that it uses."""
    parts, names = _Ingredients(), set(code.co_names)
    parts._write("code", repr((code.co_code, code.co_varnames, code.co_freevars)))
    parts._write("names", repr((code.co_names, code.co_cellvars, code.co_flags)))
    parts._write("catch", repr(code.co_exceptiontable))
    docstring = code.co_consts[:1] if _may_have_docstring(code) else ()
    if not (docstring and isinstance(docstring[0], str | None)):
        docstring = ()
    for constant in code.co_consts[len(docstring) :]:
        if isinstance(constant, python_types.CodeType):
            text, more = _summarize(constant)
            parts._write("inner", text)
            names.update(more)
        else:
            parts.add(constant)
    return parts.hexdigest(), tuple(sorted(names))


def _may_have_docstring(code: python_types.CodeType) -> bool:
    """Return whether the first constant of a function is its docstring, or None instead of one."""
    has_docstring = getattr(inspect, "CO_HAS_DOCSTRING", None)
    if has_docstring is not None:  # since Python 3.14, in which missing docstrings leave no None
        return bool(code.co_flags & has_docstring)
    return not code.co_name.startswith("<")  # lambdas and comprehensions have such names


def fingerprint(function: Any) -> str:
    """Return a hash of a function's code and of all code and constants that it refers to."""
    ingredients = _Ingredients()
    ingredients.add(function)
    return ingredients.hexdigest()


def _describe_type(kind: Any) -> str:
    """Return the name of a type, with the modules of named tuples, which numba's names lack."""
    if isinstance(kind, types.NamedTuple | types.NamedUniTuple):
        made = kind.instance_class
        parts = ", ".join(_describe_type(part) for part in kind.types)
        return f"{made.__module__}.{made.__qualname__}{made._fields}({parts})"
    if isinstance(kind, types.Tuple | types.UniTuple):
        return f"({', '.join(_describe_type(part) for part in kind.types)})"
    if isinstance(kind, types.Callable):
        raise UnknownIngredientError(f"an argument that is a function: {kind}")
    return f"{type(kind).__name__} {kind}"


def describe_compiler() -> list[str]:
    """Return the versions and the numba options on which machine code depends."""
    versions = [sys.implementation.cache_tag, numba.__version__, llvmlite.__version__]
    options = [
        f"{name}={value!r}"
        for name, value in sorted(vars(config).items())
        if name.isupper() and not _OUTPUT_ONLY.search(name)
        if isinstance(value, str | int | float | None)
    ]
    return [*versions, *np.__version__.split(".")[:2], *options]


def cache_folder() -> Path | None:
    """Return the folder of the files, inside numba's, or None if there is no place for it."""
    chosen = vars(config)["CACHE_DIR"]
    if chosen:
        return Path(chosen).absolute() / "skdp"
    users = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    return users / "skdp" if users.is_absolute() else None  # "~..." without a home directory


def largest_size() -> float:
    """Return the size limit of all files in bytes, from SKDP_CACHE_SIZE or the default."""
    text = os.environ.get("SKDP_CACHE_SIZE", "")
    try:
        megabytes = float(text or DEFAULT_SIZE)
        if not megabytes >= 0.0:
            raise ValueError
    except ValueError:
        _warn_once("size", f"SKDP_CACHE_SIZE must be megabytes, got {text!r}: {DEFAULT_SIZE} used.")
        megabytes = DEFAULT_SIZE
    return megabytes * MEGABYTE


def prune(folder: Path, size: float) -> None:
    """Delete the least recently used files until the others fit into a size in bytes."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # another process may delete files, too
                status = entry.stat()
                if entry.is_file():
                    found.append((status.st_mtime, status.st_size, entry.path))
    total = sum(n_bytes for _, n_bytes, _ in found)
    now = time.time()
    for last_used, n_bytes, path in sorted(found):
        is_unfinished = path.endswith(".tmp")  # left by a killed process
        if now - last_used > HOUR and (total > size or is_unfinished):
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= n_bytes


def _warn_once(subject: str, message: str) -> None:
    if subject not in _reported:
        _reported.add(subject)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


class KernelCache:
    """The cache of a kernel's machine code; the fault of a file costs only another compilation."""

    _n_written = 0

    def __init__(self, kernel: Any, *, is_for_python: Callable[[], bool]):
        self._kernel = kernel
        self._is_for_python = is_for_python

    @property
    def cache_path(self) -> str | None:
        """The folder of the files, as in numba's own caches."""
        folder = cache_folder()
        return None if folder is None else str(folder)

    def flush(self) -> None:
        """Do nothing, because no file is ever out of date."""

    def path_of(self, signature: Any, target_context: Any) -> Path | None:
        """Return the path of the file for argument types, or None if there can be no file."""
        folder = cache_folder()
        if folder is None:
            _warn_once("folder", _NO_FOLDER)
            return None
        name = self._name_file(signature, target_context.codegen().magic_tuple())
        return None if name is None else folder / name

    def _find(self, signature: Any, target_context: Any) -> Iterator[Path]:
        """Yield the path of the user's file for argument types, and that of a shipped file."""
        path = self.path_of(signature, target_context)
        if path is not None:
            yield path
        triple, _, features = target_context.codegen().magic_tuple()
        if SHIPPED.is_dir() and set(LEVEL.split(",")) <= set(features.split(",")):
            name = self._name_file(signature, (triple, "x86-64-v3", LEVEL))
            if name is not None:
                yield SHIPPED / name

    def _name_file(self, signature: Any, target: tuple[str, str, str]) -> str | None:
        """Return the name of the file for argument types and a processor."""
        entry = "entry" if self._is_for_python() else "no entry"
        name = self._identify(signature, f"{_SHARED} {entry}", *target)
        return None if name is None else f"{name}.nbc"

    def _identify(self, signature: Any, *purpose: str) -> str | None:
        """Return a name of the machine code for argument types, or None if it is not hashable."""
        try:
            arguments = [_describe_type(kind) for kind in _arguments(signature)]
            made_of = fingerprint(self._kernel)
        except UnknownIngredientError:
            return None
        text = "\n".join([made_of, *purpose, *arguments, *describe_compiler()])
        function = self._kernel.py_func
        name = re.sub(r"[^\w.-]", "", f"{function.__module__}.{function.__qualname__}")[-120:]
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"

    def share(self, compiled: Any) -> None:
        """Let other kernels call this code where it is, by a symbol named by its hash."""
        # Without this, numba links the code into each kernel that calls it, directly or not, and
        # optimizes it again.
        function, context = self._kernel.py_func, compiled.target_context
        module, name = function.__module__, function.__qualname__
        arguments = compiled.signature.args
        symbol = self._identify(arguments, _SHARED)
        if symbol is None or getattr(sys.modules.get(module), name, None) is not self._kernel:
            return
        if symbol not in _shared:
            address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
            llvm.add_symbol(symbol, address)
            _shared[symbol] = module, name, arguments, compiled
        external = copy.copy(compiled.fndesc)
        external.mangled_name = symbol
        context.remove_user_function(compiled.entry_point)
        context.insert_user_function(compiled.entry_point, external, [])

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if there is no readable file."""
        target_context.refresh()
        compiled = None
        for path in self._find(signature, target_context):
            try:
                compiled = _read(path, target_context, _arguments(signature))
            except FileNotFoundError:
                pass
            except _DAMAGES as error:
                _forgive(error, path, "read", "The kernel is compiled again")
            if compiled is not None:
                break
        else:
            wait.begin()
        return compiled

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a compiled function to its file, if possible."""
        path = self.path_of(signature, compiled.target_context)
        if path is None or compiled.library.has_dynamic_globals:
            return
        try:
            _write(path, dumps((_list_links(compiled), compiled._reduce())))
            if KernelCache._n_written % PRUNE_EVERY == 0:
                prune(path.parent, largest_size())
            KernelCache._n_written += 1
        except _DAMAGES as error:
            _forgive(error, path, "written", "Every process has to compile what it cannot keep")


_NO_FOLDER = (
    "Compiled code is kept in memory only, since there is no home directory for a cache. Every "
    "process has to compile again; set NUMBA_CACHE_DIR to a folder that can be written."
)


def _arguments(signature: Any) -> tuple[Any, ...]:
    return tuple(sigutils.normalize_signature(signature)[0])


def _read(path: Path, target_context: Any, wanted: tuple[Any, ...]) -> Any:
    """Return the function in a file, or None if it is another, or calls code that has changed."""
    # Damaged machine code would crash the interpreter, and so would a call of a shared kernel that
    # is not in memory.
    content = path.read_bytes()
    checksum, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != checksum:
        raise ValueError("the file is damaged")
    if path.parent != SHIPPED:
        with contextlib.suppress(OSError):  # the file of another user, or on a read-only disk
            os.utime(path)
    links, reduced = pickle.loads(content)
    for symbol, module, name, arguments in links:
        if symbol not in _shared:
            getattr(importlib.import_module(module), name).compile(arguments)
        if symbol not in _shared:  # a constant was replaced while the process ran
            return None
    compiled = CompileResult._rebuild(target_context, *reduced)
    return compiled if tuple(compiled.signature.args) == wanted else None


def _list_links(compiled: Any) -> list[tuple[str, str, str, Any]]:
    """Return symbols, modules, names and argument types of the shared kernels that code calls."""
    functions = compiled.library._final_module.functions
    symbols = sorted(function.name for function in functions if function.name in _shared)
    return [(symbol, *_shared[symbol][:3]) for symbol in symbols]


def _write(path: Path, content: bytes) -> None:
    """Write a file under another name and rename it, so that no process reads a partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{uuid.uuid4().hex}.tmp")
    try:
        unfinished.write_bytes(hashlib.sha256(content).digest() + content)
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def _forgive(error: Exception, path: Path, verb: str, consequence: str) -> None:
    if isinstance(error, TimeoutError) and error.errno is None:
        raise error  # from a signal handler, not from file access
    _warn_once(
        verb,
        f"The cache of compiled code could not be {verb} ({error!r}): {path}. {consequence}. If "
        "this goes on, make room on the disk, delete that folder, or set NUMBA_CACHE_DIR to a "
        "folder that can be written.",
    )
