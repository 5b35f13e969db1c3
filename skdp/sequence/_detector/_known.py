"""Known states of steps, or -1, for the windows that represent them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skdp._numeric._typing import Places
from skdp.preprocessing._windows._layout import WindowLayout


class KnownRanges(NamedTuple):
    """Known states within ranges of successive places."""

    firsts: Places  # range i holds the known places number firsts[i] to lasts[i] - 1
    lasts: Places
    agree: np.ndarray  # whether all known places of a range have the same state

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
    """Return the known state of each window, or -1 if there is none or its steps disagree, (W,)."""
    # A window represents the steps to which its center is nearest, and one of these must be known.
    # If any of the known steps that it holds disagree, it lies across a change.
    begins = layout.first_steps
    ends = np.append(begins[1:], layout.step_ptr[-1])
    own = KnownRanges.of(known, begins, ends)
    whole = KnownRanges.of(known, np.minimum(begins, layout.starts), np.maximum(ends, layout.ends))
    return _states_of(known, own, whole.agree)


def know_groups(known: Places, rows: Places, ptr: Places) -> Places:
    """Return the known state, or -1, that each of the windows `rows` shares up to the next one."""
    # `rows` has the first window of each sequence, so that no range extends into the next one.
    own = KnownRanges.of(known, rows, np.append(rows[1:], ptr[-1]))
    return _states_of(known, own, own.agree)


def _states_of(known: Places, ranges: KnownRanges, agree: np.ndarray) -> Places:
    """Return the first known state of each range, or -1 if there is none or they do not agree."""
    states = np.append(known[known >= 0], -1)[ranges.firsts]
    return np.where(agree & (ranges.lasts > ranges.firsts), states, -1)


def write_known(labels: Places, known: Places, layout: WindowLayout) -> None:
    """Write known states to labels; in a window with known steps, the nearest one decides."""
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
