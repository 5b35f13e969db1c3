"""The one door to numba: how every kernel of skdp is compiled."""

import platform
import zlib
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import binding as llvm
from numba.core import config, types
from numba.core.errors import TypingError

from skdp._kernel_cache import KernelCache

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""No kernel is handed to C, and what would allow that takes a twenty-fifth of all compile time."""


def _find_known_options() -> frozenset[str]:
    """Return the options that numba's compiler for the processor knows."""
    target = getattr(numba.njit(lambda: None), "targetdescr", None)
    return frozenset(dir(getattr(target, "options", None)))


_KNOWN_OPTIONS = _find_known_options()
"""numba promises few options. Kernels compile without what it no longer knows: only slower."""


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
    """
    _name_by_constants(function)
    kernel = numba.njit(function, **_known({**_OPTIONS, **options}))
    if hasattr(kernel, "_cache"):  # numba still asks a cache there, and compiles at all
        called_from_python = not options.get("no_cpython_wrapper", False)
        kernel._cache = KernelCache(kernel, called_from_python=called_from_python)
    return kernel


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
