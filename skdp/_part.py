"""Base class of the parts of a chain, which can be copied and can drop their data."""

from __future__ import annotations

from typing import ClassVar, Self

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
