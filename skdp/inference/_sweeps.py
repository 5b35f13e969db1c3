"""A chain sweep by sweep, under its user's eyes."""

from __future__ import annotations

from typing import Any, Self

from skdp.inference._chain import Chain
from skdp.inference._interrupt import InterruptGuard
from skdp.inference._schedule import Schedule


class SweepIterator:
    """Iterator over the states of a chain, one after every sweep.

    What a signal handler raises during a sweep, Ctrl-C among it, is raised when the sweep is done;
    the next call returns its state. So a loop that was stopped can go on.

    Parameters
    ----------
    chain : Chain
    schedule : Schedule
    """

    def __init__(self, chain: Chain, schedule: Schedule):
        self._chain = chain
        self._schedule = schedule
        self._is_torn = False
        self._is_due = False
        """Whether a sweep was done whose state was not returned."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """Do a sweep and return the state.

        Raises
        ------
        RuntimeError
            If an earlier sweep was cut in two, by an error or by a second Ctrl-C.
        """
        if self._is_torn:
            raise RuntimeError(
                "The last sweep ended part-way with an error, and the chain cannot go on. Call "
                "iter_sweeps again."
            )
        if not self._is_due:
            if self._chain.n_sweeps >= self._schedule.max_iter:
                raise StopIteration
            with InterruptGuard():
                self._is_torn = True
                self._chain.advance(self._schedule)
                self._is_torn, self._is_due = False, True
        self._is_due = False
        return self._chain.sampler.state()
