"""The one door to numba: how every kernel of skdp is compiled."""

import contextlib
import os
import pickle
import platform
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import config, sigutils, types
from numba.core.errors import TypingError

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No kernel is handed to C, and what would allow that takes a twenty-fifth of all compile time."""


def _find_known_options() -> frozenset[str]:
    """Return the options that numba's compiler for the processor knows."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return frozenset(dir(getattr(target, "options", None)))


_KNOWN_OPTIONS = _find_known_options()
"""numba promises few options. Kernels compile without what it no longer knows: only slower."""

_DAMAGES = (
    AttributeError, EOFError, ImportError, IndexError, KeyError, OSError, RuntimeError, TypeError,
    ValueError, pickle.PickleError,
)  # fmt: skip
"""What numba raises over a cache that it cannot read or write, or cannot make sense of."""

_reported: set[str] = set()

_listeners: list[Callable[[], None]] = []
"""Who wants to know that a kernel is about to be compiled."""


@contextlib.contextmanager
def listening_for_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if a kernel has to be compiled meanwhile, just before the first one is.

    Parameters
    ----------
    tell : callable without arguments
    """

    def tell_once() -> None:
        try:
            _listeners.remove(tell_once)
        except ValueError:  # another thread was quicker
            return
        tell()

    _listeners.append(tell_once)
    try:
        yield
    finally:
        if tell_once in _listeners:
            _listeners.remove(tell_once)


def is_safe_in_python(result: Any) -> bool:
    """Tell whether a kernel may return values of a type to Python: numbers and tuples of them.

    numba makes arrays and named tuples with the help of Python code (it unpickles their classes),
    and does not look whether that has worked. Signal handlers run as soon as Python code does, and
    if one raises there, numba goes on with a null pointer.

    Parameters
    ----------
    result : numba type
    """
    if isinstance(result, types.BaseNamedTuple):
        return False
    if isinstance(result, types.Tuple | types.UniTuple):
        return all(is_safe_in_python(part) for part in result.types)
    return isinstance(result, types.Number | types.Boolean | types.NoneType)


class KernelCache:
    """The cache of a kernel's machine code, through which all that is compiled goes.

    Its faults cost no more than the time to compile again. numba lets errors of its cache through:
    a full disk or a file that was cut would end a fit. Here what cannot be read is discarded and
    compiled anew, what cannot be written is not kept, and each of the two is reported once in a
    process.

    It also sees to it that no kernel hands Python what cannot be handed over safely: see
    `is_safe_in_python`.

    Parameters
    ----------
    cache : numba's cache of one function
    called_from_python : bool
        Whether the function can be.
    """

    def __init__(self, cache: Any, *, called_from_python: bool):
        self._numba_cache = cache
        self._called_from_python = called_from_python

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numba_cache, name)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled function, or None if there is none that can be read."""
        try:
            compiled = self._numba_cache.load_overload(signature, target_context)
        except _DAMAGES as error:
            self._forgive(error, "read", "The kernel is compiled anew")
            compiled = None
        if compiled is not None and not _has_arguments(compiled, signature):
            compiled = None  # two processes wrote at once, and one's code has the other's name
        if compiled is None:
            for tell in list(_listeners):
                tell()
        else:
            self._check_result(compiled)
        return compiled

    def save_overload(self, signature: Any, data: Any) -> None:
        """Write a compiled function, if that can be done."""
        self._check_result(data)
        try:
            self._numba_cache.save_overload(signature, data)
        except _DAMAGES as error:
            self._forgive(error, "written", "Every process has to compile what it cannot keep")

    def _check_result(self, compiled: Any) -> None:
        result = compiled.signature.return_type
        if self._called_from_python and not is_safe_in_python(result):
            raise TypeError(
                f"{compiled.fndesc.qualname} returns {result}: a signal handler that raises while "
                "it is handed to Python would end the interpreter. A kernel that Python calls "
                "returns numbers and writes the rest to arrays it is given; one that kernels alone "
                "call is made by njit_part, njit_inner or njit_inlined."
            )

    def _forgive(self, error: Exception, verb: str, consequence: str) -> None:
        if isinstance(error, TimeoutError) and error.errno is None:
            raise error  # no file's fault: a signal handler's
        # numba writes the index before the code: it may name code that was never written.
        path = self.index_path
        with contextlib.suppress(OSError):
            os.unlink(path)
        if verb not in _reported:
            _reported.add(verb)
            warnings.warn(
                f"numba's cache of compiled code could not be {verb} ({error!r}): {path}. "
                f"{consequence}. If this goes on, look for room on the disk, or delete that "
                "folder's files *.nbi and *.nbc.",
                RuntimeWarning,
                stacklevel=2,
            )

    @property
    def index_path(self) -> str:
        """The file that lists what is cached; the folder where numba does not tell."""
        index = getattr(getattr(self._numba_cache, "_cache_file", None), "_index_path", None)
        return str(index or self._numba_cache.cache_path)


def frozen(array: Any) -> Any:
    """Return a read-only view of an array that a kernel only reads.

    To numba a read-only array is of another type than one that can be written, for which it would
    compile the kernel, and all that it calls, once more. What comes from users, containers or files
    may be either: at the door it is made one.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def njit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile `function` lazily, without the GIL, and cache the machine code on disk.

    ``error_model="numpy"`` spares a branch in every division. Neither fast-math (it would make
    results depend on the compiler's mood) nor ``prange`` (joblib owns the threads) is used.
    Where neither the package's folder nor the user's cache folder can be written, numba refuses
    to set up its cache; the kernel is then compiled once in every process.
    """
    _name_by_constants(function)
    known = _known({**_OPTIONS, **options})
    try:
        kernel = numba.njit(function, cache=True, **known)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        kernel = numba.njit(function, **known)
    return _watched(kernel, options)


def _has_arguments(compiled: Any, signature: Any) -> bool:
    """Tell whether compiled code is for the arguments of a signature."""
    return tuple(compiled.signature.args) == tuple(sigutils.normalize_signature(signature)[0])


def _name_by_constants(function: Callable[..., Any]) -> None:
    """Give a kernel that encloses constants a name of its own, by which numba names its files.

    Kernels that one function makes with different constants have the same name and signature. Two
    processes that compile two of them at once may choose the same file: one would load the
    machine code of the other.
    """
    if function.__closure__:
        constants = repr([cell.cell_contents for cell in function.__closure__])
        function.__qualname__ += f"_{zlib.crc32(constants.encode()):08x}"


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in _KNOWN_OPTIONS}


def _watched(kernel: Any, options: dict[str, Any]) -> Any:
    """Put a `KernelCache` around the cache of a kernel, where numba still has it there."""
    cache = getattr(kernel, "_cache", None)
    if hasattr(cache, "load_overload") and hasattr(cache, "save_overload"):
        called_from_python = not options.get("no_cpython_wrapper", False)
        kernel._cache = KernelCache(cache, called_from_python=called_from_python)
    return kernel


def njit_part(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of a kernel, which kernels alone may call: from Python it is a TypeError.

    What would make it callable from Python takes as long to compile as many a kernel itself.
    """
    return _closed_to_python(njit(function, no_cpython_wrapper=True, **options))


def _closed_to_python(part: Any) -> Any:
    """Have numba's dispatcher raise where Python calls it.

    Compiled without a wrapper, its entry point for Python is a null pointer. numba's table of entry
    points would be asked before any code in Python is, so nothing is written to it.
    """

    def refuse(*args: Any, **params: Any) -> Any:
        raise TypeError(
            f"{part.__name__} is a part of kernels, which cannot be called from Python: njit makes "
            "kernels that can."
        )

    def add_overload(compiled: Any) -> None:
        part.overloads[tuple(compiled.signature.args)] = compiled

    if hasattr(part, "add_overload") and hasattr(part, "_compile_for_args"):
        part.add_overload, part._compile_for_args = add_overload, refuse
    return part


def njit_loop(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that makes no array.

    It owns none of the arrays it sees, so it needs no reference counts. Left on, they cost two
    atomic instructions for every array that a step of the loop touches: half the time of a sweep.
    """
    return njit(function, _nrt=False)


def njit_apart(function: Callable[..., Any], *, makes_arrays: bool = False) -> Any:
    """Compile a long and rare part of inner loops by itself, once and not into each of them.

    What a loop is compiled with passes on to what it calls, unless that says otherwise.
    """
    return njit(function, _nrt=makes_arrays, forceinline=False)


def njit_inner(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that kernels alone may call."""
    return njit_part(function, _nrt=False)


def njit_step(function: Callable[..., Any]) -> Any:
    """Compile a step of an inner loop into the loop: calls would copy the arrays' headers."""
    return njit(function, _nrt=False, forceinline=True)


def njit_inlined(function: Callable[..., Any]) -> Any:
    """Compile a long step of an inner loop into the loop; kernels alone may call it."""
    return njit_part(function, _nrt=False, forceinline=True)


def njit_section(function: Callable[..., Any]) -> Any:
    """Return a section of a long kernel, which is copied into the kernel before that is compiled.

    What is compiled by itself is optimized by itself, and again, with all that it calls, in each
    kernel around it. Sections are not: a kernel that is called at one place costs half as much.
    They are for the outer levels of a kernel, whose options they share.
    """
    return numba.njit(function, **_known({**_OPTIONS, "inline": "always"}))


def count_register_bits() -> int:
    """Return the bits of all vector registers for which numba compiles.

    As numba does, this heeds NUMBA_CPU_FEATURES and NUMBA_ENABLE_AVX; the name of a processor
    alone says nothing.
    """
    settings: Any = config  # numba makes its attributes as it is imported
    if settings.CPU_FEATURES is None:
        features = {name for name, has in llvm.get_host_cpu_features().items() if has}
        if not settings.ENABLE_AVX:
            features = {name for name in features if not name.startswith("avx")}
    else:
        parts = settings.CPU_FEATURES.split(",")
        features = {part.strip()[1:] for part in parts if part.strip().startswith("+")}
    if "avx512f" in features:
        return 32 * 512
    if "avx" in features:
        return 16 * 256
    if platform.machine().lower() in ("arm64", "aarch64"):
        return 32 * 128
    return 16 * 128


def check_arguments(name: str, arguments: Any, kinds: Any) -> None:
    """Raise for arguments that an intrinsic was not written for: it would misread them.

    Parameters
    ----------
    name : str
        Of the intrinsic.
    arguments : sequence of numba types
    kinds : sequence of numba types, or of classes of them
        What each must be. Arrays may be read-only.

    Raises
    ------
    TypingError
    """
    for i, (argument, kind) in enumerate(zip(arguments, kinds, strict=True)):
        argument = types.unliteral(argument)
        if isinstance(kind, type):
            fits = isinstance(argument, kind)
        elif isinstance(kind, types.Array) and isinstance(argument, types.Array):
            shape = kind.dtype, kind.ndim, kind.layout
            fits = (argument.dtype, argument.ndim, argument.layout) == shape
        else:
            fits = argument == kind
        if not fits:
            wanted = kind.__name__ if isinstance(kind, type) else kind
            raise TypingError(f"{name}: argument {i + 1} must be {wanted}, got {argument}.")
