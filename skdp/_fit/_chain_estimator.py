"""The base class of all estimators that are fitted by Markov chains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skdp._checks import check_memory
from skdp._fit._estimator import IterativeEstimator
from skdp._fit._sampling import Sampling, SamplingSettings
from skdp._fit._state import FitState
from skdp._sklearn_compat import Interval, validate_parameters
from skdp.inference._arviz import make_inference_data
from skdp.inference._chain import NoAverages
from skdp.inference._convergence import warn_of_climbs, warn_of_disagreement
from skdp.inference._sweeps import SweepIterator
from skdp.inference._trace import Trace

_LEAST_BYTES = 2.0**12
"""The minimum memory of a chain in bytes for any data."""


def checksum(*arrays: NDArray[Any]) -> int:
    """Return a checksum, by which a later call recognizes the data of the fit."""
    result = 0
    for array in arrays:
        result = crc32(np.ascontiguousarray(array).data, result)
    return result


class ChainEstimator(IterativeEstimator):
    """Base class of estimators with chains: their parameters, procedure and common attributes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeEstimator._parameter_constraints,
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = IterativeEstimator._free_in_warm_start | {
        "burn_in",
        "thin",
        "n_samples",
    }

    trace_: Trace
    _checksum: int
    _stored: list[tuple[int, int]]
    """Chain and sweep of each stored sample."""

    _name_of_number: ClassVar[str] = "n_components"
    """The scalar in the trace that is the inferred number of components, if it is inferred."""

    def _validate_parameters(self) -> None:
        """Raise for parameters out of range."""
        validate_parameters(self)
        check_memory(_LEAST_BYTES * self.n_chains, f"n_chains={self.n_chains}")
        if self._burn_in() >= self.max_iter and not self.warm_start:
            raise ValueError(
                f"burn_in must be smaller than max_iter unless warm_start=True, got "
                f"burn_in={self.burn_in} and max_iter={self.max_iter}."
            )

    def _burn_in(self) -> int:
        """Return the number of first sweeps that are not kept."""
        return self.max_iter // 2 if self.burn_in is None else self.burn_in

    def _start_sampler(self, data: Any, root: np.random.SeedSequence, c: int) -> Any:
        """Return the sampler of a new chain with its own random streams."""
        raise NotImplementedError

    def _make_averages(self) -> Any:
        """Return the running means of a new chain; by default there are none."""
        return NoAverages()

    def _n_jobs_of_chain(self) -> int | None:
        """Return the number of threads per sweep: 1 if several chains share the threads."""
        return self.n_jobs if self.n_chains == 1 else 1

    def _make_procedure(self, data: Any) -> Any:
        return self._make_sampling(Sampling, data)

    def _make_sampling(self, kind: Any, data: Any, **options: Any) -> Any:
        """Return an instance of `kind`, a subclass of `Sampling`, for a container."""
        return kind(
            data,
            **{
                "start_sampler": self._start_sampler,
                "make_averages": self._make_averages,
                "settings": SamplingSettings(
                    self.max_iter, self._burn_in(), self.thin, self.n_samples
                ),
                "n_chains": self.n_chains,
                "n_jobs": self.n_jobs,
                "n_jobs_of_chain": self._n_jobs_of_chain(),
                "random_state": self.random_state,
                **options,
            },
        )

    def iter_sweeps(self, X: Any, y: Any = None) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        The estimator is neither fitted nor changed: use this to watch, plot or stop a chain. It
        always begins at the first sweep, even with `warm_start`.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view; ``state.copy()`` detaches it from the chain. Exceptions
            from signal handlers during a sweep, such as Ctrl-C, are raised at the end of the sweep,
            and the iterator can continue from there.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, if `fit` would raise it.
        """
        return self._iter_sweeps(X, y)

    def _iter_sweeps(self, X: Any, y: Any = None, **others: Any) -> Iterator[Any]:
        """Return the iterator of `iter_sweeps`, given the arguments of `fit`."""
        runner = self._make_runner()
        runner._validate_parameters()
        sampling = runner._make_procedure(runner._check_input(X, y, **others))
        (chain,) = sampling.start_chains(1).runs
        return SweepIterator(chain, sampling.plan(chain).without_keeping())

    def _make_runner(self) -> Any:
        """Return an estimator with the same parameters, whose chain does not change this one."""
        return clone(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether a fit has led to a result; one that was interrupted early has not."""
        return hasattr(self, "_models")

    def _check_training_data(self, *arrays: NDArray[Any]) -> None:
        """Raise a ValueError unless X has the arrays that the estimator was fitted to."""
        if checksum(*arrays) != self._checksum:
            raise ValueError(
                f"{type(self).__name__}.to_arviz: X must be the data that the model was fitted to, "
                "with rows in the same order. For other data, use score_samples."
            )

    def _to_arviz(self, logs: Sequence[NDArray[np.float64]], unit: str) -> Any:
        """Return the scalars and the log likelihoods of the stored samples for ArviZ.
        `logs` has an (n,) array for each of `_models`, whose axis is named by `unit`.
        """
        chains = range(self.trace_.n_chains)
        places = [[i for i, (own, _) in enumerate(self._stored) if own == c] for c in chains]
        n_draws = min(map(len, places))  # the chains of an interrupted fit may differ
        sweeps = [sweep for c, sweep in self._stored if c == 0][:n_draws]
        kept = np.searchsorted(self.trace_.sweeps, sweeps)
        scalars = {name: values[:, kept] for name, values in self.trace_.items()}
        found = np.array([[logs[i] for i in own[:n_draws]] for own in places])
        return make_inference_data(
            f"{type(self).__name__}.to_arviz",
            {"posterior": scalars, "log_likelihood": {"x": found}},
            np.array(sweeps),
            {"x": [unit]},
        )

    def _warn_of_trace(self, trace: Trace) -> None:
        """Warn if the scalars of enough sweeps climb or disagree."""
        warn_of_climbs(self, trace)
        warn_of_disagreement(self, trace)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        """Return the common attributes, with the index of the best chain in `_best_chain`."""
        chains = state.runs
        best = int(np.argmax([chain.mean_log_joint for chain in chains]))
        return {
            "trace_": Trace.from_chains(
                [chain.trace for chain in chains], [chain.kept for chain in chains]
            ),
            "n_iter_": chains[best].n_sweeps,
            "_best_chain": best,
            "_models": [model for chain in chains for model in chain.models.values()],
            "_stored": [(c, sweep) for c, chain in enumerate(chains) for sweep in chain.models],
        }
