"""The layout of parse trees: positions of nodes and words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data._brackets import Item

_NARROW, _WIDE = frozenset("fijlrtI.,:;'`|!()[]-"), frozenset("mwMW@%")


class TreeLayout(NamedTuple):
    """Positions of the nodes and words of a tree, in the order of its flat form."""

    texts: list[str]
    x: NDArray[np.float64]
    """Position of the middle of the text, in the units of the widths, from 0 to `width`."""
    depth: NDArray[np.int64]
    """Depth in the tree; 0 for the root."""
    parent: NDArray[np.int64]
    """Index of the parent; -1 for the root."""
    is_word: NDArray[np.bool_]
    width: float


def text_width(text: str) -> float:
    """Return the approximate width of a text in a wide sans-serif font, in font sizes."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE:
        return 0.98
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    return 0.75 if letter.isupper() else 0.63


def lay_out(items: Sequence[Item], widths: Sequence[float]) -> TreeLayout:
    """Return a layout with nodes centered above their children; `widths` of texts include gaps."""
    n_items = len(items)
    is_word = np.array([isinstance(item, str) for item in items])
    parent = np.full(n_items, -1)
    room = np.array(widths, dtype=np.float64)  # width of an item with its descendants
    middle = room / 2.0  # middle of the text, from the left end of the room
    shift = np.zeros(n_items)  # shift of the room of an item in that of its parent
    open_items: list[int] = []
    for i, item in enumerate(items):
        if not isinstance(item, str):
            children = open_items[-item[1] :]
            del open_items[-item[1] :]
            parent[children] = i
            ends = np.cumsum(room[children])
            lefts = ends - room[children]
            first, last = children[0], children[-1]
            center = (middle[first] + lefts[-1] + middle[last]) / 2.0
            # A label that is wider than its descendants sticks out to the left, the right, or both.
            left = max(0.0, middle[i] - center)
            right = max(0.0, center + middle[i] - ends[-1])
            shift[children] = lefts + left
            middle[i] = left + center
            room[i] = left + ends[-1] + right
        open_items.append(i)
    left_ends, depth = np.zeros(n_items), np.zeros(n_items, dtype=np.int64)
    for i in range(n_items - 2, -1, -1):  # parents come after their children
        left_ends[i] = left_ends[parent[i]] + shift[i]
        depth[i] = depth[parent[i]] + 1
    texts = [item if isinstance(item, str) else item[0] for item in items]
    return TreeLayout(texts, left_ends + middle, depth, parent, is_word, float(room[-1]))
