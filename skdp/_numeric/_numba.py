"""The one door to numba: how every kernel of skdp is compiled."""

import contextlib
import gc
import platform
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import config, sigutils, types
from numba.core.errors import TypingError

from skdp._numeric._kernel_cache import KernelCache

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No kernel is handed to C, and what would allow that takes a twenty-fifth of all compile time."""


def _find_known_options() -> frozenset[str]:
    """Return the options that numba's compiler for the processor knows."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return frozenset(dir(getattr(target, "options", None)))


_KNOWN_OPTIONS = _find_known_options()
"""numba promises few options. Kernels compile without what it no longer knows: only slower."""


def as_readonly(array: Any) -> Any:
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
    """
    _name_by_constants(function)
    kernel = numba.njit(function, **_known({**_OPTIONS, **options}))
    if hasattr(kernel, "_cache"):  # numba compiles at all, and asks a cache there
        entry = _Entry(kernel)
        kernel._cache = KernelCache(kernel, is_for_python=entry.is_needed)
    return kernel


def is_safe_in_python(result: Any) -> bool:
    """Tell whether a kernel may return values of a type to Python: numbers and tuples of them.

    numba makes arrays and named tuples with the help of Python code (it unpickles their classes),
    and does not check whether that has worked. Signal handlers run as soon as Python code does, and
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


@contextlib.contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """Do not look for garbage: compilers make many objects that stay, a tenth of their time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Entry:
    """The entry point of a kernel for Python, which is compiled when Python calls the kernel.

    It takes as long to compile as many a kernel itself, and most calls come from kernels.

    Parameters
    ----------
    kernel : numba's dispatcher
    """

    _calls = threading.local()

    def __init__(self, kernel: Any):
        self._kernel = kernel
        self._missing: set[tuple[Any, ...]] = set()
        self._compile_for_args = kernel._compile_for_args
        self._compile, self._add_overload = kernel.compile, kernel.add_overload
        self._set_flags = kernel._compiler._customize_flags
        kernel._compile_for_args = self.compile_for_args
        kernel.compile, kernel.add_overload = self.compile, self.add_overload
        kernel._compiler._customize_flags = self.set_flags

    def is_needed(self) -> bool:
        """Tell whether the kernel is compiled because Python has called it."""
        return getattr(self._calls, "kernel", None) is self._kernel

    def compile_for_args(self, *args: Any, **params: Any) -> Any:
        """Compile the kernel for a call from Python, and run it."""
        before = getattr(self._calls, "kernel", None)
        self._calls.kernel = self._kernel
        try:
            return self._compile_for_args(*args, **params)
        finally:
            self._calls.kernel = before

    def compile(self, signature: Any) -> Any:
        """Compile the kernel for arguments of some types, again if the entry point is missing."""
        arguments = tuple(sigutils.normalize_signature(signature)[0])
        if self.is_needed() and arguments in self._missing:
            self._missing.discard(arguments)
            self._kernel.overloads.pop(arguments, None)
        with _collecting_no_garbage():
            return self._compile(signature)

    def set_flags(self, flags: Any) -> Any:
        """Tell numba whether to compile an entry point."""
        if not self.is_needed():
            flags.no_cpython_wrapper = True
        return self._set_flags(flags)

    def add_overload(self, compiled: Any) -> None:
        """Register compiled code, for Python only if it has an entry point.

        Raises
        ------
        TypeError
            If Python is to get what it cannot be handed safely.
        """
        if self.is_needed():
            result = compiled.signature.return_type
            if not is_safe_in_python(result):
                raise TypeError(
                    f"{compiled.fndesc.qualname} returns {result}: a signal handler that raises "
                    "while it is handed to Python would end the interpreter. A kernel that Python "
                    "calls returns numbers and writes the rest to arrays it is given."
                )
            self._add_overload(compiled)
        else:
            arguments = tuple(compiled.signature.args)
            self._missing.add(arguments)
            self._kernel.overloads[arguments] = compiled


def _name_by_constants(function: Callable[..., Any]) -> None:
    """Give a kernel that encloses constants a name of its own.

    Kernels that one function makes with different constants have the same name and signature.
    numba names their machine code by both: a process that loads two of them, compiled by other
    processes, could run one in the place of the other.
    """
    if function.__closure__:
        constants = repr([cell.cell_contents for cell in function.__closure__])
        function.__qualname__ += f"_{zlib.crc32(constants.encode()):08x}"


def _known(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in _KNOWN_OPTIONS}


def njit_internal(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of a kernel, which kernels alone may call: from Python it is a TypeError."""
    part = njit(function, no_cpython_wrapper=True, **options)

    def refuse(*args: Any, **params: Any) -> Any:
        raise TypeError(
            f"{part.__name__} is a part of kernels, which cannot be called from Python: njit makes "
            "kernels that can."
        )

    if hasattr(part, "_compile_for_args"):
        part._compile_for_args = refuse
    return part


def njit_loop(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that makes no array.

    It owns none of the arrays it sees, so it needs no reference counts. Left on, they cost two
    atomic instructions for every array that a step of the loop touches: half the time of a sweep.
    """
    return njit(function, _nrt=False)


def njit_outlined(function: Callable[..., Any], *, makes_arrays: bool = False) -> Any:
    """Compile a long and rare part of inner loops by itself, once and not into each of them.

    What a loop is compiled with passes on to what it calls, unless that says otherwise.
    """
    return njit(function, _nrt=makes_arrays, forceinline=False)


def njit_internal_nogc(function: Callable[..., Any]) -> Any:
    """Compile an inner loop that kernels alone may call."""
    return njit_internal(function, _nrt=False)


def njit_forceinline(function: Callable[..., Any]) -> Any:
    """Compile a step of an inner loop into the loop: calls would copy the arrays' headers."""
    return njit(function, _nrt=False, forceinline=True)


def njit_inlined(function: Callable[..., Any]) -> Any:
    """Compile a long step of an inner loop into the loop; kernels alone may call it."""
    return njit_internal(function, _nrt=False, forceinline=True)


def njit_inlined_source(function: Callable[..., Any]) -> Any:
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
