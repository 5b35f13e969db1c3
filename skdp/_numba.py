"""The one door to numba: how every kernel of skdp is compiled."""

from collections.abc import Callable
from typing import Any

import numba

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def njit(function: Callable[..., Any], **options: Any) -> Any:
    """Compile `function` lazily, without the GIL, and cache the machine code on disk.

    ``error_model="numpy"`` spares a branch in every division. Neither fast-math (it would make
    results depend on the compiler's mood) nor ``prange`` (joblib owns the threads) is used.
    Where neither the package's folder nor the user's cache folder can be written, numba refuses
    to set up its cache; the kernel is then compiled once in every process.
    """
    try:
        return numba.njit(function, cache=True, **_OPTIONS, **options)
    except RuntimeError:  # "cannot cache function ...: no locator available"
        return numba.njit(function, **_OPTIONS, **options)


def njit_part(function: Callable[..., Any], **options: Any) -> Any:
    """Compile a part of a kernel, which kernels alone may call: from Python it would crash.

    What would make it callable from Python takes as long to compile as many a kernel itself.
    """
    return njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


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
