"""An iterator over the sweeps of a chain, for users who watch it."""

from __future__ import annotations

from typing import Any, Self

from skdp.inference._chain import Chain
from skdp.inference._interrupt import InterruptGuard
from skdp.inference._schedule import Schedule


class SweepIterator:
    """Iterator over the states of a chain, one after every sweep.

    An exception that a signal handler raises during a sweep, such as Ctrl-C, is raised when the
    sweep is complete; the next call returns its state. So an interrupted loop can continue.

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
        """Whether the state of a completed sweep has not been returned yet."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """Do a sweep and return the state.

        Raises
        ------
        RuntimeError
            If an error or a second Ctrl-C interrupted an earlier sweep.
        """
        if self._is_torn:
            raise RuntimeError(
                "The last sweep ended part-way with an error, and the chain cannot continue. Call "
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
