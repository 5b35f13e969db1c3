"""A partition of a data set: its source, and how it is opened and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from skdp.data._ragged import Ragged


@dataclass(frozen=True)
class Partition:
    """A description of a partition, by which any process can open it."""

    kind: type[Ragged]
    number: int
    n_features: int
    source: Any  # Path, container or Delayed; None: the caller of `accept` has the partition
    n_samples: int | None = None  # None: unknown before the partition is opened
    is_raw: bool = False  # Dask computes a list of samples, not a container

    @property
    def where(self) -> str:
        """Name of the partition in error messages, with its folder."""
        place = f" ({self.source.name})" if isinstance(self.source, Path) else ""
        return f"partition {self.number}{place}"

    @property
    def is_delayed(self) -> bool:
        """Whether Dask computes the partition."""
        return not isinstance(self.source, Path | Ragged)

    @property
    def is_in_memory(self) -> bool:
        """Whether the source is a container in the memory of this process."""
        return isinstance(self.source, Ragged)

    def without_source(self) -> Partition:
        """Return a copy without source, whose method `accept` takes the computed partition."""
        return replace(self, source=None)

    def open(self) -> Any:
        """Return the container, mapped to its files if it has any; errors name the partition."""
        if isinstance(self.source, Path):
            try:
                found = self.kind._read(self.source, self.n_features, "r")
            except (FileNotFoundError, ValueError) as error:
                self.raise_named(error)
            return self.accept(found)
        return self.accept(self._compute() if self.is_delayed else self.source)

    def _compute(self) -> Any:
        """Return the partition that Dask computes."""
        try:
            return self.source.compute()
        except Exception as error:
            self.raise_named(error)

    def raise_named(self, error: Exception) -> NoReturn:
        """Reraise an error with a message that names the partition."""
        # Built-in errors keep their type. Others, which may need more arguments than a message, get
        # a note.
        is_plain = type(error).__module__ == "builtins"
        if is_plain and not isinstance(error, UnicodeError | ExceptionGroup):
            raise type(error)(f"{self.where}: {error}") from error
        error.add_note(f"It was raised in {self.where}.")
        raise error

    def accept(self, found: Any) -> Any:
        """Check an opened or computed partition, and return it as a container; errors name it."""
        samples = f"{self.kind._level_names[0]}s"
        if self.is_raw:
            found = list(found)
        elif not isinstance(found, self.kind):
            raise TypeError(
                f"{self.where}: must be a {self.kind.__name__}, got {type(found).__name__}."
            )
        if len(found) == 0:
            raise ValueError(f"{self.where} has no {samples}: leave out partitions without any.")
        if self.is_raw:
            try:
                found = self.kind._of_samples(found, self.n_features)
            except (ValueError, TypeError) as error:
                self.raise_named(error)
        if found.n_features != self.n_features:
            raise ValueError(
                f"{self.where} has {found.n_features} features, but n_features is "
                f"{self.n_features}."
            )
        return found
