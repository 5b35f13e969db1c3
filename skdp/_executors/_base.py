"""The interface of executors, which keep partitions and call their methods by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from skdp.data._parts import Partition

_FAN = 8
"""Number of changes that each node of the summation tree adds up."""

Change = tuple[Any, ...]
"""A tuple of numbers and arrays, which is summed elementwise."""

# Other processes find callables by name: each has to be a module-level function or class.
Make = Callable[[Any], Any] | Sequence[Callable[[Any], Any]]
"""The callable that turns an opened partition into its state, or one for each partition."""


class LostWorkerError(RuntimeError):
    """Raised when a worker has died, which loses the state of its partitions."""


class Executor(ABC):
    """Base class of executors: they build the state of each partition once and keep it in place.
    A state is an actor: its methods are called where it is. After use, `drop` has to be called.
    """

    @property
    def n_processes(self) -> int:
        """Number of other processes that hold partitions."""
        return 0

    @abstractmethod
    def place(self, parts: Sequence[Partition], make: Make) -> None:
        """Open each partition where it stays, and keep its state from `make`; drop earlier ones."""

    @abstractmethod
    def call(self, partition: int, method: str, *args: Any) -> Any:
        """Start ``state.method(*args)`` in the process of a state; return a handle of the call."""

    def sum(self, changes: Sequence[Any]) -> Change:
        """Return the elementwise sum of the changes that calls return."""
        total: Change = self.results([self.total(changes)])[0]
        return total

    def total(self, changes: Sequence[Any]) -> Any:
        """Return a handle of that sum for further calls; the sum may stay in another process."""
        # The tree depends only on the number of changes, so results are the same to the bit for
        # any workers and any order in which calls finish.
        level = list(changes)
        while len(level) > 1:
            level = [self._add(group) for group in _groups(level)]
        return level[0]

    @abstractmethod
    def results(self, calls: Sequence[Any]) -> list[Any]:
        """Return the results of calls, in the order of the calls."""

    @abstractmethod
    def keep(self, method: str, *args: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """Concatenate the arrays of these shapes that a method returns for all partitions.
        On a cluster this is a dask array, whose chunks stay on their workers while it is in use.
        """

    @abstractmethod
    def go_on(self, n_jobs: int | None) -> None:
        """Prepare for another fit, with `n_jobs` threads if local, or raise LostWorkerError."""

    @abstractmethod
    def drop(self) -> None:
        """Drop all partitions and cancel pending calls."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Return a handle of a value, an argument of calls, that is sent to a worker only once."""

    @abstractmethod
    def _add(self, changes: Sequence[Any]) -> Any:
        """Return a handle of the sum of a few changes, added from first to last."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.drop()


def make_of_each(make: Make, n_partitions: int) -> list[Callable[[Any], Any]]:
    """Return the callable for each partition."""
    return [make] * n_partitions if callable(make) else [*make]


def _groups(level: Sequence[Any]) -> list[Sequence[Any]]:
    return [level[i : i + _FAN] for i in range(0, len(level), _FAN)]


def add_changes(*changes: Change) -> Change:
    """Return the sum of changes, added from first to last."""
    return tuple(_sum_up(values) for values in zip(*changes, strict=True))


def _sum_up(values: Sequence[Any]) -> Any:
    """Return the sum of values, by their method `sum_up` if they have one."""
    if hasattr(values[0], "sum_up"):
        return values[0].sum_up(values)
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total
