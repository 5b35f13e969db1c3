"""Functions that run in Dask workers, where partitions stay in the memory of the process."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import skdp
from skdp._executors._memory_map import map_to_files
from skdp.data._parts import Partition

STORES: dict[str, dict[int, Any]] = {}
"""Partition states by number, for each executor that holds partitions in this process."""


class NotHereError(RuntimeError):
    """Raised if this process does not hold the state of a partition, as after a restart."""


def describe_versions() -> str:
    """Return the versions of the packages that results depend on."""
    others = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    return f"skdp {skdp.__version__}, {others}"


def place_partition(store: str, part: Partition, found: Any, make: Callable[[Any], Any]) -> str:
    """Open a partition, or accept Dask's result for it, and keep its state; return versions."""
    container = part.open() if found is None else map_to_files(part.accept(found), part.where)
    STORES.setdefault(store, {})[part.number] = make(container)
    return describe_versions()


def call_partition(store: str, partition: int, method: str, *args: Any) -> Any:
    """Return the result of a method of the state of a partition."""
    try:
        state = STORES[store][partition]
    except KeyError:
        raise NotHereError(
            f"partition {partition} is not in this process, which has dropped it or replaces the "
            "process that had it."
        ) from None
    return getattr(state, method)(*args)


def drop_store(store: str) -> None:
    """Drop the partitions of an executor."""
    STORES.pop(store, None)


def count_stores() -> int:
    """Return the number of executors that hold partitions in this process."""
    return len(STORES)
