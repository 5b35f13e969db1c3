"""What all estimators fitted by Markov chains have in common."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from numbers import Integral
from typing import Any, ClassVar

import joblib
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone

from skdp._random import make_seed_sequence
from skdp._sklearn_compat import (
    CallbackSupportMixin,
    Interval,
    begin_fit_task,
    validate_parameters,
)
from skdp.inference import Chain, InterruptGuard, Schedule, TornInterrupt, Trace

_ROUNDS = 50
"""Several chains together report, and can be interrupted, so many times in a fit."""


_FEATURES = ("n_features_in_", "feature_names_in_")


@dataclass
class SavedChains:
    """What a later fit needs to go on where this one stopped."""

    chains: list[Chain]
    root: np.random.SeedSequence
    parameters: dict[str, Any] = field(default_factory=dict)
    digest: str = ""


def _equal(value: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are the same."""
    if isinstance(value, BaseEstimator):
        if type(other) is not type(value):
            return False
        mine, others = (part.get_params(deep=False) for part in (value, other))
        return all(_equal(mine[name], others[name]) for name in mine)
    if np.array_equal(np.asarray(value), np.asarray(other)):
        return True
    return joblib.hash(value) == joblib.hash(other)  # objects that know no equality


class ChainEstimator(CallbackSupportMixin, BaseEstimator):
    """Base class: chains, warm start, interruption, callbacks, trace.

    A subclass gives `_check_input` (X as a container), `_start_sampler` (a new chain's sampler)
    and `_make_averages`, and `_fitted_attributes`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left"), None],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "n_jobs": [
            Interval(Integral, None, -1, closed="right"),
            Interval(Integral, 1, None, closed="left"),
            None,
        ],
        "random_state": ["random_state", np.random.Generator],
        "verbose": [Interval(Integral, 0, None, closed="left"), "boolean"],
    }

    _free_in_warm_start: ClassVar[frozenset[str]] = frozenset(
        [
            "max_iter",
            "burn_in",
            "thin",
            "n_samples",
            "warm_start",
            "n_jobs",
            "random_state",
            "verbose",
        ]
    )
    """Parameters that may change before a fit goes on with old chains."""

    def _validate_parameters(self) -> int:
        """Raise for parameters out of range; return the burn-in."""
        validate_parameters(self)
        burn_in = self.max_iter // 2 if self.burn_in is None else self.burn_in
        if burn_in >= self.max_iter:
            raise ValueError(
                f"burn_in must be smaller than max_iter, got burn_in={self.burn_in} and "
                f"max_iter={self.max_iter}."
            )
        return burn_in

    def _plan(self, chain: Chain) -> Schedule:
        burn_in = self._validate_parameters()
        return chain.plan(self.max_iter, burn_in, self.thin, self.n_samples)

    def _frozen_parameters(self) -> dict[str, Any]:
        """Return the parameters that a chain depends on."""
        return {
            name: copy.deepcopy(value)
            for name, value in self.get_params(deep=False).items()
            if name not in self._free_in_warm_start
        }

    def _start_chains(self, data: Any, n_chains: int) -> SavedChains:
        """Return new chains, each with streams of its own."""
        root = make_seed_sequence(self.random_state)
        chains = [
            Chain(self._start_sampler(data, root, c), self._make_averages())
            for c in range(n_chains)
        ]
        return SavedChains(chains, root)

    def _resume_chains(self, data: Any) -> SavedChains:
        """Return the chains of the last fit, on their data again."""
        saved = self._saved_chains
        for name, value in self._frozen_parameters().items():
            before = saved.parameters[name]
            if not _equal(value, before):
                raise ValueError(
                    f"With warm_start=True fit goes on with the chains of the last fit, which had "
                    f"{name}={before!r}; got {name}={value!r}. Use warm_start=False to start anew."
                )
        if saved.digest != joblib.hash(data):
            raise ValueError(
                "With warm_start=True fit goes on with the chains of the last fit and needs the "
                "same X; got another. Use warm_start=False to start anew."
            )
        for chain in saved.chains:
            chain.sampler.attach(data)
        return replace(saved, chains=list(saved.chains))

    def iter_sweeps(self, X: Any) -> Iterator[Any]:
        """Yield the state after every sweep of the first chain that `fit` would run.

        The estimator is neither fitted nor changed: use it to watch, plot or stop a chain. It
        always begins at the first sweep, with `warm_start` too.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        iterator of states, of length `max_iter`
            Each is a live, read-only view; ``state.copy()`` detaches it from the chain.

        Raises
        ------
        ValueError, TypeError
            At the call, before the first sweep, for whatever `fit` would refuse.
        """
        runner = clone(self)
        runner._validate_parameters()
        (chain,) = runner._start_chains(runner._check_input(X), 1).chains
        schedule = runner._plan(chain).without_keeping()
        return (done.sampler.state() for done in chain.run(schedule))

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether a fit came to a result: one that was interrupted early did not."""
        return hasattr(self, "_models")

    def _fit(self, X: Any) -> Any:
        """Run the chains on X and set the fitted attributes.

        All are set at once at the end. Until then only the features of X are recorded, and taken
        back if there is no result.
        """
        self._validate_parameters()
        before = {name: vars(self)[name] for name in _FEATURES if name in vars(self)}
        resume = self.warm_start and hasattr(self, "_saved_chains")
        try:
            data = self._check_input(X)
            saved = self._resume_chains(data) if resume else self._start_chains(data, self.n_chains)
        except BaseException:
            self._restore_features(before)
            raise
        try:
            self._run(saved, X)
        except TornInterrupt:  # a sweep was cut in two: nothing can go on from there
            self.__dict__.pop("_saved_chains", None)
            self._restore_features(before)
            raise
        except KeyboardInterrupt:
            if all(chain.kept for chain in saved.chains):
                self._set_fitted_attributes(self._showing(saved))
            else:
                self._restore_features(before)
            self._save(saved, data)
            raise
        except BaseException:
            self._detach(saved)
            self._restore_features(before)
            raise
        self._set_fitted_attributes(self._showing(saved), final=not self.warm_start)
        if self.warm_start:
            self._save(saved, data)
        else:
            self.__dict__.pop("_saved_chains", None)
        return self

    def _restore_features(self, before: dict[str, Any]) -> None:
        """Record the features of the last fit again."""
        for name in _FEATURES:
            self.__dict__.pop(name, None)
        self.__dict__.update(before)

    @staticmethod
    def _showing(saved: SavedChains) -> SavedChains:
        """Return chains that have all kept and stored something, if need be the current state."""
        return replace(saved, chains=[chain.showing() for chain in saved.chains])

    def _run(self, saved: SavedChains, X: Any) -> None:
        """Run the chains to their end, or to where a callback or an interrupt stops them."""
        chains = saved.chains
        schedules = [self._plan(chain) for chain in chains]
        step = 1 if len(chains) == 1 else -(-self.max_iter // _ROUNDS)
        n_rounds = max(-(-(self.max_iter - chain.n_sweeps) // step) for chain in chains)
        task = begin_fit_task(self, max(n_rounds, 0), X)

        def attributes() -> dict[str, Any]:
            return self._fitted_attributes(self._showing(saved))

        with InterruptGuard() as guard:
            for _ in range(n_rounds):
                subtask = task.subcontext(task_name="sweep" if step == 1 else f"{step} sweeps")
                subtask.call_on_fit_task_begin(estimator=self, X=X)
                if len(chains) == 1:
                    self._advance(chains[0], schedules[0], step)
                else:
                    chains[:] = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                        delayed(self._advance)(chain, schedule, step)
                        for chain, schedule in zip(chains, schedules, strict=True)
                    )
                self._report(chains, step)
                if subtask.call_on_fit_task_end(
                    estimator=self, X=X, reconstruction_attributes=attributes
                ):
                    break
                guard.check()
        task.call_on_fit_task_end(estimator=self, X=X, reconstruction_attributes=attributes)

    @staticmethod
    def _advance(chain: Chain, schedule: Schedule, n_sweeps: int) -> Chain:
        """Let a chain do `n_sweeps` more, no further than planned."""
        for _ in islice(chain.run(schedule), n_sweeps):
            pass
        return chain

    def _report(self, chains: list[Chain], step: int) -> None:
        """Print a line every `verbose` sweeps."""
        done = chains[0].n_sweeps
        every = int(self.verbose)
        if every and (done // every > (done - step) // every or done == self.max_iter):
            joints = ", ".join(f"{chain.sampler.log_joint():.6g}" for chain in chains)
            print(f"[{type(self).__name__}] sweep {done} of {self.max_iter}, log joint {joints}")

    def _save(self, saved: SavedChains, data: Any) -> None:
        """Keep the chains for a later fit, without the data."""
        saved.parameters, saved.digest = self._frozen_parameters(), joblib.hash(data)
        self._detach(saved)
        self._saved_chains = saved

    @staticmethod
    def _detach(saved: SavedChains) -> None:
        """Let the chains drop the data."""
        for chain in saved.chains:
            chain.sampler.detach()

    def _set_fitted_attributes(self, saved: SavedChains, *, final: bool = False) -> None:
        for name, value in self._fitted_attributes(saved, final=final).items():
            setattr(self, name, value)

    def _fitted_attributes(self, saved: SavedChains, *, final: bool = False) -> dict[str, Any]:
        """Return what every estimator has, and the best chain's place in `_best_chain`.

        With `final` the chains are used up.
        """
        chains = saved.chains
        best = int(np.argmax([chain.mean_log_joint for chain in chains]))
        return {
            "trace_": Trace.from_chains(
                [chain.trace for chain in chains], [chain.kept for chain in chains]
            ),
            "n_iter_": chains[best].n_sweeps,
            "_best_chain": best,
            "_models": [model for chain in chains for model in chain.models.values()],
        }
