"""Trees of merged components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage

from skdp._checks import as_floats, check_count
from skdp.inspection._axes import (
    LITERAL,
    PALETTE,
    check_matplotlib,
    check_names,
    open_axes,
    write_names,
)

_WIDTH, _LEAF, _MARGIN = 3.6, 0.2, 0.9
"""Width of the tree, height of a leaf, and height of the axis, in inches."""

_LARGEST = 40
"""Number of leaves that are drawn by default, at most."""


class TreeDisplay:
    """Base class of the trees, with their constructor and `plot`."""

    _xlabel: ClassVar[str]

    def __init__(self, linkage: ArrayLike, *, names: Sequence[str] | None = None):
        self.linkage = as_floats(linkage, "linkage", 2)
        if not is_valid_linkage(self.linkage):
            raise ValueError("linkage must be a linkage matrix of scipy.cluster.hierarchy.")
        self.names = check_names(names, "names", len(self.linkage) + 1)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure.

        Returns
        -------
        display
            The display itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        check_matplotlib(f"{type(self).__name__}.plot")
        from matplotlib.collections import LineCollection

        names = write_names(self.names)
        tree = dendrogram(self.linkage, no_plot=True, color_threshold=0.0)
        self.leaves_ = list(map(int, tree["leaves"]))
        size = _WIDTH + 0.08 * max(map(len, names)), _MARGIN + _LEAF * len(names)
        self.ax_ = ax = open_axes(ax, size, [])
        self.figure_ = ax.figure
        lines = np.stack([tree["dcoord"], tree["icoord"]], axis=-1)
        self.lines_ = ax.add_collection(
            LineCollection(list(lines), colors=PALETTE[0], linewidths=1.2)
        )
        places = 10.0 * np.arange(len(names)) + 5.0  # dendrogram's
        ax.set_yticks(places, [names[k] for k in self.leaves_], **LITERAL)
        ax.set_ylim(0.0, 10.0 * len(names))
        ax.set_xlim(0.0, 1.05 * max(float(self.linkage[-1, 2]), 1e-12))
        ax.set(xlabel=self._xlabel)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        return self


def count_leaves(n: int | None, n_own: int, name: str, noun: str) -> int:
    """Return the number of leaves to draw: the given one, or all or 40 of the model's own."""
    n = min(n_own, _LARGEST) if n is None else check_count(n, name)
    if min(n, n_own) < 2:
        raise ValueError(f"A tree needs at least two {noun}, got {min(n, n_own)}.")
    return n
