"""Base classes of the parts of a chain, which can be copied and can drop their data; states."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np


class ChainComponent:
    """A part of a chain's state, or all of it, which sweeps change."""

    _data_attributes: ClassVar[tuple[str, ...]] = ()
    """Attributes that copies share and `detach` drops. They are large and never modified."""

    def copy(self) -> Self:
        """Return a copy with its own arrays; data are shared."""
        other = object.__new__(type(self))
        for name, value in vars(self).items():
            if name not in self._data_attributes and isinstance(value, np.ndarray | ChainComponent):
                value = value.copy()
            other.__dict__[name] = value
        return other

    def adopt(self, other: Self) -> None:
        """Adopt the values of another part, which must not be modified, and keep the data."""
        for name, value in vars(other).items():
            if name not in self._data_attributes:
                self.__dict__[name] = value

    def detach(self) -> None:
        """Drop the data and everything derived from them, here and in the parts."""
        for name in self._data_attributes:
            vars(self).pop(name, None)
        for value in vars(self).values():
            if isinstance(value, ChainComponent):
                value.detach()


class ChainState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    def log_joint(self) -> float:
        """Return the log of the joint probability of data and state that the trace has, too."""
        return float(self._sampler.log_joint())

    def copy(self) -> Self:
        """Return a state that later sweeps do not change."""
        return type(self)(self._sampler.copy())
