"""Known states of steps, for the windows that represent them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skdp._numeric._typing import Places
from skdp.preprocessing._windows._layout import WindowLayout


class KnownRanges(NamedTuple):
    """Known states within ranges of successive places.

    Attributes
    ----------
    firsts, lasts : (n,) arrays of int
        Range i holds the known places with the numbers ``firsts[i]`` to ``lasts[i] - 1``.
    agree : (n,) array of bool
        Whether they have the same state, or no state is known.
    """

    firsts: Places
    lasts: Places
    agree: np.ndarray

    @classmethod
    def of(cls, known: Places, begins: Places, ends: Places) -> KnownRanges:
        """Return the known states, or -1, of places from `begins` to ``ends - 1``."""
        places = np.flatnonzero(known >= 0)
        changes = np.concatenate([[0], np.cumsum(np.diff(known[places]) != 0)])
        firsts, lasts = np.searchsorted(places, begins), np.searchsorted(places, ends)
        last = np.minimum(np.maximum(lasts - 1, firsts), len(changes) - 1)
        agree = changes[last] == changes[np.minimum(firsts, len(changes) - 1)]
        return cls(firsts, lasts, agree)


def know_windows(known: Places, layout: WindowLayout) -> Places:
    """Return the known state of each window, or -1, (W,).

    A window represents the steps to which its center is nearest. If any of these is known, and all
    known steps that it holds have the same state, it is the state of the window. If they disagree,
    the window lies across a change.

    Parameters
    ----------
    known : (N,) array of int64
        States of the steps; -1: unknown.
    layout : WindowLayout
    """
    begins = layout.first_steps
    ends = np.append(begins[1:], layout.step_ptr[-1])
    own = KnownRanges.of(known, begins, ends)
    whole = KnownRanges.of(known, np.minimum(begins, layout.starts), np.maximum(ends, layout.ends))
    return _states_of(known, own, whole.agree)


def know_groups(known: Places, rows: Places, ptr: Places) -> Places:
    """Return the known state of each of some windows, or -1, (n,).

    A window represents itself and the windows up to the next one of `rows`; it has the
    known state of these windows, if they agree.

    Parameters
    ----------
    known : (W,) array of int64
        States of all windows; -1: unknown.
    rows : (n,) array of int64
        Windows, in order, among them the first one of each sequence.
    ptr : (n_sequences + 1,) array
        Windows of each sequence.
    """
    own = KnownRanges.of(known, rows, np.append(rows[1:], ptr[-1]))
    return _states_of(known, own, own.agree)


def _states_of(known: Places, ranges: KnownRanges, agree: np.ndarray) -> Places:
    """Return the first known state of each range, or -1 if there is none or they do not agree."""
    states = np.append(known[known >= 0], -1)[ranges.firsts]
    return np.where(agree & (ranges.lasts > ranges.firsts), states, -1)


def write_known(labels: Places, known: Places, layout: WindowLayout) -> None:
    """Write known states to the labels of steps, (N,).

    If a window represents known steps, its other steps have the state of the nearest one of these.
    """
    places = np.flatnonzero(known >= 0)
    window = layout.spread(np.arange(len(layout.starts)))
    steps, last = np.arange(len(labels)), len(places) - 1
    number = np.searchsorted(places, steps, side="right")
    before, after = places[np.maximum(number - 1, 0)], places[np.minimum(number, last)]
    distances = [
        np.where(window[place] == window, np.abs(steps - place), len(labels))
        for place in (before, after)
    ]
    nearest = np.where(distances[0] <= distances[1], before, after)
    is_near = np.minimum(*distances) < len(labels)
    labels[is_near] = known[nearest[is_near]]
