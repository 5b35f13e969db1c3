"""The trace of a fit: scalars of every kept sweep of every chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class Trace(Mapping[str, NDArray[np.float64]]):
    """Scalars of every kept sweep and chain: ``trace["log_joint"]`` is (n_chains, n_kept).

    A read-only mapping from names to arrays.

    Parameters
    ----------
    sweeps : (n_kept,) array of int
        The kept sweeps, counted from 1.
    values : dict of str to (n_chains, n_kept) arrays

    Attributes
    ----------
    sweeps : (n_kept,) array of int
    n_chains : int
    """

    def __init__(self, sweeps: NDArray[np.int64], values: dict[str, NDArray[np.float64]]):
        self.sweeps = _read_only(sweeps)
        self._values = {name: _read_only(array) for name, array in values.items()}
        self.n_chains = next(iter(values.values())).shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (self.sweeps, self._values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Trace)
            and np.array_equal(self.sweeps, other.sweeps)
            and self.keys() == other.keys()
            and all(np.array_equal(self[name], other[name]) for name in self)
        )

    __hash__ = None  # type: ignore[assignment]  # Python's own way to say "unhashable"

    @classmethod
    def from_chains(cls, rows: list[list[dict[str, float]]], sweeps: list[list[int]]) -> Trace:
        """Collect the traces of several chains, as far as all of them have come.

        Parameters
        ----------
        rows : list of lists of dict
            For each chain the scalars of each kept sweep.
        sweeps : list of lists of int
            For each chain its kept sweeps, counted from 1.

        Returns
        -------
        Trace
        """
        n_kept = min(len(chain) for chain in rows)
        names = rows[0][0]
        values = {
            name: np.array([[row[name] for row in chain[:n_kept]] for chain in rows])
            for name in names
        }
        return cls(np.array(sweeps[0][:n_kept], dtype=np.int64), values)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return the (n_chains, n_kept) values of one scalar."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of scalars."""
        return len(self._values)

    def __repr__(self) -> str:
        names = ", ".join(self)
        return f"Trace({names}; {self.n_chains} chains x {len(self.sweeps)} kept sweeps)"

    def to_arviz(self) -> Any:
        """Return the trace as ArviZ's data container, for R-hat, effective sample sizes, plots.

        Returns
        -------
        arviz.InferenceData, or the DataTree of ArviZ 1

        Raises
        ------
        ImportError
            If arviz is not installed (``pip install skdp[arviz]``).
        """
        try:
            import arviz
        except ImportError as error:
            raise ImportError(
                "Trace.to_arviz needs arviz: install it with `pip install skdp[arviz]`."
            ) from error
        try:
            return arviz.from_dict(posterior=dict(self))
        except TypeError:  # ArviZ 1.0 and later
            return arviz.from_dict({"posterior": dict(self)})
