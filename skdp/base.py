"""What all estimators fitted by Markov chains have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from skdp._checks import check_memory
from skdp._numeric._random import make_seed_sequence
from skdp._resumable import ResumableEstimator, SavedRuns
from skdp._sklearn_compat import Interval, validate_parameters
from skdp.inference import (
    LEAST_SWEEPS,
    Chain,
    Schedule,
    Sweeps,
    Trace,
    warn_of_climbs,
    warn_of_disagreement,
    warn_of_few_sweeps,
    warn_user,
)

_LEAST_BYTES = 2.0**12
"""Of a chain, whatever its data."""


class ChainEstimator(ResumableEstimator):
    """Base class: chains, and the sweeps of them that are kept.

    A subclass gives `_check_input` (X as a container), `_start_walker` (a new chain's walker)
    and `_make_averages`, and extends `_fitted_attributes`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ResumableEstimator._parameter_constraints,
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = ResumableEstimator._free_in_warm_start | {
        "burn_in",
        "thin",
        "n_samples",
    }

    _step_name = "sweep"

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

    def _plan(self, run: Chain, data: Any) -> Schedule:
        return run.plan(self.max_iter, self._burn_in(), self.thin, self.n_samples)

    def _start_walker(self, data: Any, root: np.random.SeedSequence, c: int) -> Any:
        """Return the walker of a new chain, with streams of its own."""
        raise NotImplementedError

    def _make_averages(self) -> Any:
        """Return the running means of a new chain."""
        raise NotImplementedError

    def _start(self, data: Any) -> SavedRuns:
        return self._start_chains(data, self.n_chains)

    def _start_chains(self, data: Any, n_chains: int) -> SavedRuns:
        """Return new chains, each with streams of its own."""
        root = make_seed_sequence(self.random_state)
        chains = [
            Chain(self._start_walker(data, root, c), self._make_averages()) for c in range(n_chains)
        ]
        return SavedRuns(chains, root)

    def _attach(self, run: Chain, data: Any) -> None:
        run.walker.attach(data)

    @staticmethod
    def _detach(run: Chain) -> None:
        run.walker.detach()

    @staticmethod
    def _detached(run: Chain) -> Chain:
        return run.detached()

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
        """Return the iterator of `iter_sweeps`, given all that `_fit` would be."""
        runner = self._make_runner()
        runner._validate_parameters()
        data = runner._check_input(X, y, **others)
        (chain,) = runner._start_chains(data, 1).runs
        schedule = runner._plan(chain, data).without_keeping()
        return Sweeps(chain, schedule)

    def _make_runner(self) -> Any:
        """Return an estimator with the same parameters, for a chain that leaves this one alone."""
        return clone(self)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether a fit came to a result: one that was interrupted early did not."""
        return hasattr(self, "_models")

    @staticmethod
    def _advance(run: Chain, plan: Schedule, n_steps: int) -> Chain:
        for _ in islice(run.run(plan), n_steps):
            pass
        return run

    @staticmethod
    def _n_steps(run: Chain) -> int:
        return run.n_sweeps

    @staticmethod
    def _has_result(run: Chain) -> bool:
        return run.n_sweeps > 0

    def _show_what_there_is(self, saved: SavedRuns) -> bool:
        return self._may_show(saved) and super()._show_what_there_is(saved)

    def _may_show(self, saved: SavedRuns) -> bool:
        """Tell whether an interrupted fit shows what there is; warn of a state of the burn-in.

        The result of an earlier fit is worth more than such a state, and stays.
        """
        n_sweeps = [run.n_sweeps for run in saved.runs if isinstance(run, Chain) and not run.kept]
        if not n_sweeps:
            return True
        if min(n_sweeps) == 0 or self.__sklearn_is_fitted__():
            return False
        with suppress(UserWarning):  # where it is an error, the interrupt still counts
            warn_user(
                f"{type(self).__name__}: the fit was interrupted in its burn-in, after "
                f"{min(n_sweeps)} sweep(s). Its attributes show the current state as the only "
                "sample.",
                UserWarning,
            )
        return True

    def _warn_unless_converged(self, saved: SavedRuns) -> None:
        judged = [chain.judged() for chain in saved.runs]
        n_sweeps = min(len(sweeps) for sweeps, _ in judged)
        if n_sweeps < LEAST_SWEEPS:
            warn_of_few_sweeps(self, n_sweeps)
        else:
            self._warn_of_trace(
                Trace.from_chains([rows for _, rows in judged], [sweeps for sweeps, _ in judged])
            )

    def _warn_of_trace(self, trace: Trace) -> None:
        """Warn of what scalars of enough sweeps tell; the kept ones may be fewer."""
        warn_of_climbs(self, trace)
        warn_of_disagreement(self, trace)

    def _progress(self, runs: list[Chain]) -> str:
        joints = ", ".join(f"{chain.walker.log_joint():.6g}" for chain in runs)
        return f"log joint {joints}"

    def _showing(self, saved: SavedRuns, *, final: bool = False) -> SavedRuns:
        """Return chains that have all kept and stored something, if need be the current state."""
        return replace(saved, runs=[chain.showing(final=final) for chain in saved.runs])

    def _fitted_attributes(self, saved: SavedRuns, *, final: bool = False) -> dict[str, Any]:
        """Return what every estimator has, and the best chain's place in `_best_chain`.

        With `final` the chains are used up.
        """
        chains = saved.runs
        best = int(np.argmax([chain.mean_log_joint for chain in chains]))
        return {
            "trace_": Trace.from_chains(
                [chain.trace for chain in chains], [chain.kept for chain in chains]
            ),
            "n_iter_": chains[best].n_sweeps,
            "_best_chain": best,
            "_models": [model for chain in chains for model in chain.models.values()],
        }


class ComposedEstimator(ChainEstimator):
    """Base class of models with parts that have parameters of their own, such as an emission."""

    def _part(self, name: str) -> Any:
        """Return the object that a parameter is, or stands for by a name."""
        raise NotImplementedError

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator and, as ``emission__prior=...``, of its parts.

        A part given by its name, such as ``emission="gaussian"``, is first replaced by the object
        that the name stands for.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self
        """
        nested = {key: value for key, value in params.items() if "__" in key}
        super().set_params(**{key: params[key] for key in params.keys() - nested.keys()})
        for name in {key.partition("__")[0] for key in nested}:
            if isinstance(getattr(self, name, None), str):
                setattr(self, name, self._part(name))
        super().set_params(**nested)
        return self
