"""What the parts of a chain have in common: copies of their own, and data that can be dropped."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np


class Part:
    """A part of a chain's state, or all of it: values that sweeps change.

    A subclass names in `_data_attributes` what follows from the data alone.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = ()
    """What copies share and what `detach` drops: too large to copy, and never changed in part."""

    def copy(self) -> Self:
        """Return the same values in arrays of their own; data are shared."""
        other = object.__new__(type(self))
        for name, value in vars(self).items():
            if name not in self._data_attributes and isinstance(value, np.ndarray | Part):
                value = value.copy()
            other.__dict__[name] = value
        return other

    def adopt(self, other: Self) -> None:
        """Take the values of another one, which are not to be changed, and keep the data."""
        for name, value in vars(other).items():
            if name not in self._data_attributes:
                self.__dict__[name] = value

    def detach(self) -> None:
        """Drop the data and what follows from them, here and in the parts."""
        for name in self._data_attributes:
            vars(self).pop(name, None)
        for value in vars(self).values():
            if isinstance(value, Part):
                value.detach()
