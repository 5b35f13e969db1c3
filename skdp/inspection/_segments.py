"""Parts of plots along segments, such as the chapters of a book or the documents of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, as_floats, shorten
from skdp.data._ragged import Offsets, offsets
from skdp.inspection._axes import LITERAL, as_names, write_name

_LINES = (("white", 2.4), ("#333333", 0.8))
"""Colors and widths of the lines between parts: a light rim shows the dark line on dark areas."""
_NAMES = "part names"
"""Label by which the axis of names is identified."""
_LONGEST = 40
"""Largest number of drawn characters of a name, which fill the axes' height if vertical."""
_GAP_INCHES = 0.05
"""Least gap between two names."""


_CUTS = "cuts"
"""Identifier of the artists that show cuts."""


class Cuts(NamedTuple):
    """What is known of cuts between the segments of a document."""

    proba: NDArray[np.float64] | None
    """(n_segments - 1,) probability of a cut in each gap; nan: no gap of a document."""
    true: NDArray[np.int64] | None
    """The first segment of each true part but the first."""

    @property
    def are_known(self) -> bool:
        """Whether there is anything to draw."""
        return self.proba is not None or self.true is not None


class NamedParts(NamedTuple):
    """Offsets of parts in a sequence of segments, and their names if they have any."""

    ptr: Offsets
    names: list[str] | None

    @property
    def boundaries(self) -> NDArray[np.int64]:
        """(n_parts - 1,) array of the first segments, from 0, of all parts except the first."""
        return self.ptr[1:-1]


def check_parts(
    n_segments: int,
    boundaries: ArrayLike | None,
    part_names: Sequence[str] | None,
    name: str = "boundaries",
) -> NamedParts:
    """Return the parts of `n_segments` segments between boundaries."""
    if boundaries is None:
        if part_names is not None:
            raise ValueError("part_names are the names of parts between boundaries: give both.")
        return NamedParts(offsets([n_segments]), None)
    inner = as_array(boundaries, name)
    if inner.size == 0:
        inner = inner.astype(np.int64)
    ptr = np.array([0, 0])  # invalid: not ascending
    if inner.ndim == 1 and inner.dtype.kind in "iu":
        ptr = np.concatenate([[0], inner, [n_segments]])
    if np.any(ptr[1:] <= ptr[:-1]):
        raise ValueError(
            f"{name} must hold increasing integers between 0 and {n_segments}, the "
            f"number of segments, both excluded; got {shorten(boundaries)}."
        )
    names = None
    if part_names is not None:
        why = ", one more than there are boundaries"
        names = as_names(part_names, "part_names", len(ptr) - 1, why)
    return NamedParts(ptr.astype(np.int64), names)


def check_cuts(n_segments: int, cut_proba: ArrayLike | None, true_cuts: ArrayLike | None) -> Cuts:
    """Return the probabilities of cuts and the true cuts of `n_segments` segments."""
    proba = true = None
    if cut_proba is not None:
        proba = as_floats(cut_proba, "cut_proba")
        if proba.shape != (n_segments - 1,):
            raise ValueError(
                f"cut_proba must have shape ({n_segments - 1},), one probability for each gap "
                f"between segments, got {proba.shape}."
            )
        if np.any((proba < 0.0) | (proba > 1.0)):
            raise ValueError("cut_proba must hold probabilities in [0, 1], or nan.")
    if true_cuts is not None:
        true = check_parts(n_segments, true_cuts, None, name="true_cuts").boundaries
    return Cuts(proba, true)


def average_neighbors(shares: NDArray[np.float64], ptr: Offsets, width: int) -> NDArray[np.float64]:
    """Return the means of rows over windows of `width` rows, truncated at the ends of parts."""
    if width == 1:
        return shares
    sizes = np.diff(ptr)
    row = np.arange(len(shares))
    low = np.maximum(row - width // 2, np.repeat(ptr[:-1], sizes))
    high = np.minimum(row + width // 2 + 1, np.repeat(ptr[1:], sizes))
    sums = np.vstack([np.zeros((1, shares.shape[1])), np.cumsum(shares, axis=0)])
    means = np.maximum((sums[high] - sums[low]) / (high - low)[:, None], 0.0)
    return means / means.sum(axis=1, keepdims=True)  # corrects rounding errors


def choose_width(parts: NamedParts, n_segments: int) -> float:
    """Return the suitable width in inches for a sequence of segments."""
    return float(np.clip(max(0.03 * n_segments, 0.27 * (len(parts.ptr) - 1)), 5.6, 10.0))


def set_segment_axis(ax: Any, n_segments: int) -> None:
    """Label the x axis with the numbers of segments, from 1."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(integer=True).tick_values(0, n_segments), dtype=int)
    ticks = ticks[(ticks > ticks[1] // 2) & (ticks <= n_segments)]  # none too close to 1
    ax.set_xticks(np.union1d(1, ticks))
    ax.set(xlim=(0.5, n_segments + 0.5), xlabel="segment")


def draw_parts(ax: Any, parts: NamedParts) -> None:
    """Draw lines between parts, and names above, unless drawn; call it last, after the layout."""
    places = parts.boundaries + 0.5
    if len(places) and not any(line.get_gid() == _NAMES for line in ax.collections):
        for color, width in _LINES:
            ax.vlines(
                places,
                *(0.0, 1.0),
                transform=ax.get_xaxis_transform(),
                color=color,
                linewidth=width if len(places) <= 40 else width / 3,
                gid=_NAMES,
            )
    if parts.names and not any(axis.get_label() == _NAMES for axis in ax.child_axes):
        _write_names(
            ax,
            parts.ptr,
            np.array([write_name(name, _LONGEST) for name in parts.names], dtype=object),
        )


def draw_cuts(ax: Any, cuts: Cuts) -> list[Any]:
    """Draw probabilities of cuts as lines, true cuts as triangles; return the legend's handles."""
    where = {"transform": ax.get_xaxis_transform(), "gid": _CUTS, "zorder": 3}
    if cuts.proba is not None:
        places = np.arange(len(cuts.proba)) + 1.5
        heights = np.nan_to_num(cuts.proba)
        rim, line = (
            ax.vlines(places, 0.0, heights, color=color, linewidth=width, **where)
            for color, width in (("white", 3.6), ("black", 1.6))
        )
        rim.set_label("_rim")
        line.set_label("probability of a cut")
    if cuts.true is not None:
        heights = np.full(len(cuts.true), 0.96)
        style = {"marker": "v", "facecolor": "black", "edgecolor": "white", "label": "true cut"}
        ax.scatter(cuts.true + 0.5, heights, **style, **where)
    return find_cuts(ax)


def find_cuts(ax: Any) -> list[Any]:
    """Return the artists that show cuts, one for each label."""
    drawn = [artist for artist in ax.collections if artist.get_gid() == _CUTS]
    by_label = {artist.get_label(): artist for artist in drawn}
    return [artist for label, artist in by_label.items() if not label.startswith("_")]


def _write_names(ax: Any, ptr: Offsets, names: NDArray[np.object_]) -> None:
    centers = (ptr[:-1] + ptr[1:] + 1) / 2
    axis = ax.secondary_xaxis("top", label=_NAMES)
    axis.set_xticks(centers, names, **LITERAL)
    axis.tick_params(length=0, labelsize="small", pad=2.0)
    axis.spines["top"].set_visible(False)
    figure = ax.figure.figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axis.get_xticklabels()]
    at = ax.transData.transform(np.column_stack([centers, np.zeros(len(names))]))[:, 0]
    widths = np.array([box.width for box in boxes])
    gap = _GAP_INCHES * figure.dpi
    kept = _find_room(at, widths + gap, np.diff(ptr))
    if len(kept) < len(names):  # vertical names take the width of a line each
        kept = _find_room(at, np.full(len(at), boxes[0].height) + gap / 2, np.diff(ptr))
        axis.set_xticks(centers[kept], names[kept], rotation=90, **LITERAL)


def _find_room(
    at: NDArray[np.float64], widths: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return the indices of names, centered at `at`, that do not overlap, large parts first."""
    kept: list[int] = []
    for i in np.argsort(-sizes, kind="stable").tolist():
        if all(abs(at[i] - at[j]) >= (widths[i] + widths[j]) / 2 for j in kept):
            kept.append(i)
    return np.sort(np.array(kept, dtype=np.intp))
