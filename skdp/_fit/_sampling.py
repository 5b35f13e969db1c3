"""The procedure of fits by Markov chains."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from skdp._fit._procedure import Procedure
from skdp._fit._state import FitState
from skdp._numeric._random import make_seed_sequence
from skdp.inference._chain import Chain
from skdp.inference._convergence import LEAST_SWEEPS, warn_of_few_sweeps, warn_user
from skdp.inference._schedule import Schedule
from skdp.inference._trace import Trace


class SamplingSettings(NamedTuple):
    """Parameters for the length of a chain and the sweeps that it keeps and stores."""

    max_iter: int
    burn_in: int
    thin: int
    n_samples: int


class Sampling(Procedure):
    """Independent Markov chains; each keeps some of its sweeps."""

    step_name = "sweep"

    def __init__(
        self,
        data: Any,
        start_sampler: Callable[[Any, np.random.SeedSequence, int], Any],  # (data, root, c)
        make_averages: Callable[[], Any],
        settings: SamplingSettings,
        *,
        n_chains: int,
        n_jobs: int | None,  # threads that share the chains
        n_jobs_of_chain: int | None,  # threads of a sweep, if samplers have an attribute `n_jobs`
        random_state: Any,
    ):
        self._data = data
        self._start_sampler = start_sampler
        self._make_averages = make_averages
        self._settings = settings
        self._n_chains = n_chains
        self._n_jobs_of_chain = n_jobs_of_chain
        self._random_state = random_state
        self.n_jobs = n_jobs
        self.max_steps = settings.max_iter

    def start(self) -> FitState:
        """Return new chains."""
        return self.start_chains(self._n_chains)

    def start_chains(self, n_chains: int) -> FitState:
        """Return `n_chains` new chains, each with its own random streams."""
        root = make_seed_sequence(self._random_state)
        chains = [
            Chain(self._start_sampler(self._data, root, c), self._make_averages())
            for c in range(n_chains)
        ]
        return FitState(chains, root)

    def plan(self, run: Chain) -> Schedule:
        """Return the schedule of a chain."""
        if hasattr(run.sampler, "n_jobs"):
            run.sampler.n_jobs = self._n_jobs_of_chain
        return run.plan(*self._settings)

    @staticmethod
    def advance(run: Chain, plan: Schedule, n_steps: int) -> Chain:
        """Return a chain after `n_steps` more sweeps, or fewer if the schedule ends before."""
        for _ in islice(run.run(plan), n_steps):
            pass
        return run

    @staticmethod
    def n_steps(run: Chain) -> int:
        """Return the number of sweeps that a chain has done."""
        return run.n_sweeps

    @staticmethod
    def has_result(run: Chain) -> bool:
        """Return whether a chain has done a sweep."""
        return run.n_sweeps > 0

    def progress(self, runs: list[Chain]) -> str:
        """Return the log joint of each chain."""
        joints = ", ".join(f"{chain.sampler.log_joint():.6g}" for chain in runs)
        return f"log joint {joints}"

    def showing(self, state: FitState, *, final: bool = False) -> FitState:
        """Return chains with at least one kept and stored sample, if need be the current state."""
        return replace(state, runs=[chain.showing(final=final) for chain in state.runs])

    def may_show(self, estimator: Any, state: FitState) -> bool:
        """Return whether an interrupted fit sets attributes; warn if they are from the burn-in."""
        if not super().may_show(estimator, state):
            return False
        n_sweeps = [run.n_sweeps for run in state.runs if not run.kept]
        if not n_sweeps:
            return True
        # An earlier result is worth more than a state of the burn-in.
        if estimator.__sklearn_is_fitted__():
            return False
        with suppress(UserWarning):  # if filters make it an error, the interrupt still counts
            warn_user(
                f"{type(estimator).__name__}: the fit was interrupted in its burn-in, after "
                f"{min(n_sweeps)} sweep(s). Its attributes show the current state as the only "
                "sample.",
                UserWarning,
            )
        return True

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if chains still climb or disagree, or if there are too few sweeps to judge."""
        judged = [chain.judged() for chain in state.runs]
        n_sweeps = min(len(sweeps) for sweeps, _ in judged)
        if n_sweeps < LEAST_SWEEPS:
            warn_of_few_sweeps(estimator, n_sweeps)
        else:
            estimator._warn_of_trace(
                Trace.from_chains([rows for _, rows in judged], [sweeps for sweeps, _ in judged])
            )

    def attach(self, run: Chain) -> None:
        """Attach the data to a chain."""
        run.sampler.attach(self._data)

    @staticmethod
    def detach(run: Chain) -> None:
        """Drop the data of a chain."""
        run.sampler.detach()

    @staticmethod
    def detached(run: Chain) -> Chain:
        """Return a copy of a chain without its data."""
        return run.detached()
