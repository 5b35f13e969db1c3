"""Fits of `HDPPCFGRefiner`."""

from __future__ import annotations

from typing import Any

from skdp._fit import FitState
from skdp.grammar._ascents import Ascents
from skdp.grammar._coordinate_ascent import warn_unless_converged
from skdp.grammar._refinement._split_merge import SubsymbolSplitMerge
from skdp.inference._convergence import warn_unconverged


class RefinementAscents(Ascents):
    """Ascents of refined grammars, or cycles of splits and merges."""

    keeps_runs = False
    """False: an interrupted fit only continues from a checkpoint."""

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if one of the grammars has not converged."""
        run = min(state.runs, key=lambda run: run.converged)
        if not isinstance(run, SubsymbolSplitMerge):
            warn_unless_converged(estimator, run)
        elif not run.converged:
            warn_unconverged(
                estimator,
                "cycles",
                "the cycles of splits and merges are not done. Raise max_iter.",
                n_iter=run.n_iter,
                n_cycles=run.schedule.n_cycles,
            )
