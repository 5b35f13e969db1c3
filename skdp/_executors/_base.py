"""What an executor does: four verbs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from skdp.data._parts import Part

_FAN = 8
"""So many changes are summed in one step of the tree."""

Change = tuple[Any, ...]
"""Numbers and arrays, which are summed place by place."""


class LostWorkerError(RuntimeError):
    """A worker is gone, and with it the state of its partitions."""


class Executor(ABC):
    """State of partitions, made once and kept where it is worked on.

    It is used in a ``with`` block, which ends with `drop`, or has a finalizer that does. What is
    called in other processes is found there by its name, so it has to be a function or a class of a
    module.
    """

    @property
    def n_processes(self) -> int:
        """Number of other processes that have partitions."""
        return 0

    @abstractmethod
    def place(self, parts: Sequence[Part], make: Callable[[Any], Any]) -> None:
        """Open all partitions where they are to stay, and keep there what `make` makes of them.

        What was placed before is dropped.
        """

    @abstractmethod
    def call(self, partition: int, f: Callable[..., Any], *args: Any) -> Any:
        """Begin ``f(state, *args)`` where the state of a partition is; return what stands for it.

        Arguments that are `share`d are sent to a worker once.
        """

    def sum(self, changes: Sequence[Any]) -> Change:
        """Return the sum of the changes that calls return, place by place."""
        total: Change = self.results([self.total(changes)])[0]
        return total

    def total(self, changes: Sequence[Any]) -> Any:
        """Return what stands for that sum in calls, which need not come to this process.

        It is taken in a tree that depends on the number of changes alone, so that its bits do not
        depend on workers or on what is done first.
        """
        level = list(changes)
        while len(level) > 1:
            level = [self._add(group) for group in _groups(level)]
        return level[0]

    @abstractmethod
    def results(self, calls: Sequence[Any]) -> list[Any]:
        """Return what calls return, in their order."""

    @abstractmethod
    def keep(self, f: Callable[..., Any], *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Return the arrays ``f(state, *args)`` of all partitions, of these shapes, end to end.

        On a cluster it is a dask array: its chunks stay where they are, for as long as it is used.
        """

    @abstractmethod
    def go_on(self, n_jobs: int | None) -> None:
        """Get ready for another fit to what was placed, with so many threads if they are one's own.

        Raises
        ------
        LostWorkerError
            If what was placed is gone.
        """

    @abstractmethod
    def drop(self) -> None:
        """Forget all partitions, and the calls that are not done."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return what stands for a value in calls for several partitions."""

    @abstractmethod
    def _add(self, changes: Sequence[Any]) -> Any:
        """Return what stands for the sum of a few changes, from the first to the last."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.drop()


def _groups(level: Sequence[Any]) -> list[Sequence[Any]]:
    return [level[i : i + _FAN] for i in range(0, len(level), _FAN)]


def add_changes(*changes: Change) -> Change:
    """Return the sum of changes, from the first to the last."""
    return tuple(_sum_up(values) for values in zip(*changes, strict=True))


def _sum_up(values: Sequence[Any]) -> Any:
    """Return the sum of values, which may know a better way than one by one: `sum_up`."""
    if hasattr(values[0], "sum_up"):
        return values[0].sum_up(values)
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total
