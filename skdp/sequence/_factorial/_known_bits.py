"""Known bits of factors, from the user.

Known bits are an (N, G) array of int8 for the first G factors: 0, 1, or -1 for an unknown bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp._checks import as_array, check_known, is_list_like, shorten
from skdp._numeric._typing import Places

Bits = NDArray[np.int8]


def check_known_bits(y: Any, ptr: Places, n_factors: int | None, most: int = 0) -> Bits | None:
    """Return the known bits of the steps, or None if y has none; raise if it holds anything else.
    Without `n_factors`, for a buffet, each of up to `most` columns must hold a 1.
    """
    parts = _split_by_sequence(y, ptr)
    if parts is None:
        return None
    widths = {part.shape[1] for part in parts if part is not None}
    if n_factors is None and len(widths) > 1:
        raise ValueError(f"y: all arrays must have the same number of columns, got {widths}.")
    width = n_factors or widths.pop()
    known = np.full((int(ptr[-1]), width), -1, dtype=np.int8)
    for s, part in enumerate(parts):
        if part is None:
            continue
        begin, end = int(ptr[s]), int(ptr[s + 1])
        name, place = (f"y[{s}]", f"sequence {s}") if len(parts) > 1 else ("y", "X")
        if part.shape[1] != width:
            raise ValueError(
                f"{name} must have n_factors={width} columns, a bit per factor, -1 if it is "
                f"unknown; got shape {part.shape}. If y is for a later step, set use_y=False."
            )
        for f in range(width):
            known[begin:end, f] = check_known(
                _without_bools(part[:, f]), end - begin, f"{name}[:, {f}]", what="bit",
                place=f"step of {place}", largest=1,
            )  # fmt: skip
    if n_factors is None:
        _check_columns(known, most)
    return known if (known >= 0).any() else None


def _split_by_sequence(y: Any, ptr: Places) -> list[NDArray[Any] | None] | None:
    """Return the two-dimensional entries of y for each sequence, or None if it holds no bits."""
    if y is None:
        return None
    y = y.to_numpy() if hasattr(y, "to_numpy") else y
    entries = list(y) if isinstance(y, list | tuple) else as_array(y, "y")
    if not isinstance(entries, list) and entries.ndim == 0:
        raise TypeError(f"y must be an array, or a list of arrays, got {shorten(y)}.")
    if not any(is_list_like(entry) for entry in entries):
        return None  # a number or string for each sequence or step is a class
    n_sequences, n_steps = len(ptr) - 1, int(ptr[-1])
    are_rows = all(_count_dimensions(entry) == 1 for entry in entries)
    if are_rows and len(entries) == n_steps:
        table = as_array(entries, "y")
        if table.ndim == 2:
            return [np.asarray(part) for part in np.split(table, ptr[1:-1])]
    if _are_classes(entries, ptr):
        return None
    if are_rows or len(entries) != n_sequences:
        raise ValueError(
            f"y must be an array of {n_steps} rows of bits, one for each step, or a list of "
            f"{n_sequences} such arrays, one for each sequence of X; got {len(entries)} entries."
        )
    parts: list[NDArray[Any] | None] = []
    for s, entry in enumerate(entries):
        part = entry.to_numpy() if hasattr(entry, "to_numpy") else entry
        part = None if part is None else as_array(part, f"y[{s}]")
        if part is not None and part.ndim != 2:
            raise ValueError(
                f"y[{s}] must have a row for each step and a column for each factor, got shape "
                f"{part.shape}."
            )
        parts.append(part)
    return parts


def _are_classes(entries: Any, ptr: Places) -> bool:
    """Return whether entries for the sequences hold a value for each step, or None."""
    return len(entries) == len(ptr) - 1 and all(
        entry is None or (_count_dimensions(entry) == 1 and len(entry) == n_steps)
        for entry, n_steps in zip(entries, np.diff(ptr), strict=True)
    )


def _without_bools(bits: NDArray[Any]) -> NDArray[Any]:
    """Return bits with integers instead of True and False."""
    if bits.dtype == object:
        return np.array([int(b) if isinstance(b, bool | np.bool_) else b for b in bits], object)
    return bits.astype(np.int8) if bits.dtype == np.bool_ else bits


def _count_dimensions(entry: Any) -> int:
    """Return the number of dimensions of an entry of y: 0 for a number, 2 for a table or None."""
    if entry is None:
        return 2
    if hasattr(entry, "to_numpy"):
        return int(entry.to_numpy().ndim)
    return as_array(entry, "y").ndim if is_list_like(entry) else 0


def _check_columns(known: Bits, most: int) -> None:
    """Raise ValueError if a column of an Indian buffet has no 1, or there are too many."""
    if known.shape[1] > most:
        raise ValueError(
            f'y may have at most {most} columns with n_factors="auto" and these priors, got '
            f"{known.shape[1]}."
        )
    never = np.flatnonzero(~(known == 1).any(axis=0))
    if len(never) and (known >= 0).any():
        raise ValueError(
            f'y[:, {never[0]}] holds no 1 in any sequence: with n_factors="auto", each column of '
            "y is a factor that is known to be on at some step. Leave the column out, or give the "
            "number of factors."
        )


def pad_known(known: Bits | None, n_factors: int) -> Bits:
    """Return known bits with unknown ones of further factors; without rows if none is known."""
    if known is None:
        return np.empty((0, n_factors), dtype=np.int8)
    return np.pad(known, ((0, 0), (0, n_factors - known.shape[1])), constant_values=-1)


def write_known(known: Bits, bits: NDArray[Any]) -> None:
    """Write the known bits."""
    np.copyto(bits[:, : known.shape[1]], known, where=known >= 0)


def name_paths(bits: Bits, known: Bits) -> Bits:
    """Return paths in the order of the known factors, with the known bits, (N, max(F, G))."""
    n_known, n_paths = known.shape[1], bits.shape[1]
    spins = np.where(known >= 0, 2.0 * known - 1.0, 0.0)
    # A known factor takes the path, or its opposite, that agrees with most of its known bits.
    agreement = spins.T @ (2.0 * bits - 1.0)
    rows, columns = linear_sum_assignment(np.abs(agreement), maximize=True)
    result = np.zeros((len(bits), max(n_known, n_paths)), dtype=np.int8)
    result[:, rows] = bits[:, columns] ^ (agreement[rows, columns] < 0.0).astype(np.int8)
    result[:, n_known:] = np.delete(bits, columns, axis=1)
    write_known(known, result)
    return result
