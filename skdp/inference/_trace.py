"""The trace of a fit: scalars of every kept sweep of every chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp.inference._arviz import make_inference_data
from skdp.inference._diagnostics import bulk_ess, rank_r_hat


class ScalarSummary(NamedTuple):
    """Summary statistics of one scalar of a trace."""

    mean: float
    sd: float
    r_hat: float
    ess_bulk: float


class TraceSummary(Mapping[str, ScalarSummary]):
    """Summary of all scalars of a trace, by name: ``summary["log_joint"].r_hat``.

    Parameters
    ----------
    rows : dict of str to ScalarSummary
    """

    def __init__(self, rows: dict[str, ScalarSummary]):
        self._rows = rows

    def __getitem__(self, name: str) -> ScalarSummary:
        """Return the row of one scalar."""
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of scalars."""
        return len(self._rows)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        lines = [f"{'':<{width}}{'mean':>14}{'sd':>12}{'r_hat':>8}{'ess_bulk':>10}"]
        for name, row in self.items():
            cells = f"{row.mean:14.8g}{row.sd:12.4g}{row.r_hat:8.3f}{row.ess_bulk:10.0f}"
            lines.append(f"{name:<{width}}{cells}")
        return "\n".join(lines)


class Trace(Mapping[str, NDArray[np.float64]]):
    """Scalars of every kept sweep of every chain: ``trace["log_joint"]`` is (n_chains, n_kept).

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
        self.sweeps = as_readonly(sweeps)
        self._values = {name: as_readonly(array) for name, array in values.items()}
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

    __hash__ = None  # type: ignore[assignment]  # marks the class as unhashable

    @classmethod
    def from_chains(cls, rows: list[list[dict[str, float]]], sweeps: list[list[int]]) -> Trace:
        """Collect the traces of several chains, up to the length of the shortest.

        Parameters
        ----------
        rows : list of lists of dict
            For each chain, the scalars of each kept sweep.
        sweeps : list of lists of int
            For each chain, its kept sweeps, counted from 1.

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

    def summary(self) -> TraceSummary:
        """Return the mean, standard deviation, R-hat and effective sample size of every scalar.

        All kept sweeps of all chains have the same weight. R-hat is rank-normalized and split [1]_:
        if it is above 1.01, chains, or the halves of a chain, disagree. `ess_bulk`, the number
        of independent draws that the kept sweeps are worth when estimating a mean, should be 100
        per chain.

        Returns
        -------
        TraceSummary
            A read-only mapping from names to tuples (mean, sd, r_hat, ess_bulk), shown as a table.
            ``pandas.DataFrame(summary.values(), index=summary)`` turns it into a data frame.

        Notes
        -----
        The values are those of ArviZ, except that ArviZ has no R-hat for a single chain; here its
        halves are compared. With fewer than 4 kept sweeps, or if one of the values is not finite,
        R-hat and `ess_bulk` are NaN. For a scalar that does not vary, such as a given
        hyperparameter, R-hat is NaN and `ess_bulk` is the number of draws.

        References
        ----------
        .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner (2021).
           Rank-normalization, folding, and localization: an improved R-hat for assessing
           convergence of MCMC. Bayesian Analysis 16.

        Examples
        --------
        >>> from skdp.topics import GibbsLDA
        >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # segments of word ids
        >>> model = GibbsLDA(3, doc_topic_prior=1.0, n_chains=4, random_state=0)
        >>> summary = model.fit(documents).trace_.summary()
        >>> summary["log_joint"].r_hat < 1.1
        True
        """
        rows = {}
        for name, draws in self.items():
            sd = float(draws.std(ddof=1)) if draws.size > 1 else np.nan
            rows[name] = ScalarSummary(float(draws.mean()), sd, rank_r_hat(draws), bulk_ess(draws))
        return TraceSummary(rows)

    def to_arviz(self) -> Any:
        """Return the trace in the data container of ArviZ, for its diagnostics and plots.

        The coordinates of the draws are the kept sweeps, counted from 1. Some models also have a
        method ``to_arviz(X)``, which adds the log likelihoods that ``arviz.loo`` needs.

        Returns
        -------
        arviz.InferenceData, or the DataTree of ArviZ 1

        Raises
        ------
        ImportError
            If arviz is not installed (``pip install skdp[arviz]``).
        """
        return make_inference_data("Trace.to_arviz", {"posterior": self}, self.sweeps)
