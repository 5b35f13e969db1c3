"""Layout of characters in columns and lines, as in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unicodedata import category, east_asian_width

import numpy as np
from numpy.typing import NDArray

from skdp._checks import shorten
from skdp.inspection._axes import write_name

_MARKS = ("Mn", "Me", "Cf")
"""Categories of characters that are drawn on the preceding character."""
_SPACE = "\N{OPEN BOX}"
_INSIDE = 0.4
"""Distance in columns from a place before a mark to the end of the character with its marks."""


class Line(NamedTuple):
    """Characters of a line and their positions."""

    start: int
    end: int  # after the last character
    clusters: list[tuple[str, float]]  # characters with marks, and the column of their middle
    ends: NDArray[np.float64]  # (end - start,), column at which each character ends


def split_characters(characters: Any) -> list[str]:
    """Return drawn characters; the elements of a list may be longer than one character."""
    if isinstance(characters, str):
        return [_SPACE if c.isspace() else write_name(c) for c in characters]
    if isinstance(characters, bytes | dict) or not hasattr(characters, "__iter__"):
        raise ValueError(f"characters must be a string or a list, got {shorten(characters)}.")
    return [write_name(str(c), 20) or _SPACE for c in characters]


def measure(characters: Sequence[str]) -> NDArray[np.int64]:
    """Return the columns of each character: 0 for a mark, 2 for a wide one."""
    widths = np.array(
        [sum(0 if _is_mark(c) else 1 + (east_asian_width(c) in "WF") for c in s)
         for s in characters], dtype=np.int64
    )  # fmt: skip
    if any(len(s) > 1 for s in characters):
        widths += 1  # names are separated by spaces
    return widths


def break_lines(characters: list[str], cuts: NDArray[np.bool_], width: int) -> list[Line]:
    """Return lines of at most `width` columns, which end at the end of a word if possible."""
    widths = measure(characters)
    width = max(width, int(widths.max()))
    lines = []
    start, n = 0, len(characters)
    while start < n:
        columns = np.cumsum(widths[start:])
        end = start + int(np.searchsorted(columns, width, "right"))
        if end < n:
            ends = np.flatnonzero(cuts[start : end - 1]) + 1
            if len(ends) and 3 * columns[ends[-1] - 1] > 2 * width:
                end = start + int(ends[-1])
        lines.append(_set_line(characters, widths, start, end))
        start = end
    return lines


def _set_line(characters: list[str], widths: NDArray[np.int64], start: int, end: int) -> Line:
    ends = np.cumsum(widths[start:end]).astype(np.float64)
    clusters: list[tuple[str, float]] = []
    for i in range(start, end):
        if widths[i] or not clusters:
            clusters.append((characters[i], float(ends[i - start] - widths[i] / 2)))
        else:
            clusters[-1] = (clusters[-1][0] + characters[i], clusters[-1][1])
            ends[i - start - 1] -= _INSIDE
    return Line(start, end, clusters, ends)


def _is_mark(character: str) -> bool:
    return category(character) in _MARKS
