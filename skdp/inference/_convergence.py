"""Warnings at the user's line, above all of fits that are not done."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skdp.inference._diagnostics import N_BATCHES, find_climbs
from skdp.inference._trace import Trace

_FEW = 2
"""With so many components a chain has no time to climb, and uses all it has: nothing is said."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line, below all of skdp's and scikit-learn's own."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_unconverged(message: str) -> None:
    """Warn the user of a fit that is not done."""
    warn_user(message, ConvergenceWarning)


def warn_of_climbs(estimator: Any, trace: Trace) -> None:
    """Warn if chains of an estimator still climb; its burn-in and truncation are parameters."""
    n_components = getattr(estimator, "n_components", "auto")  # or there is no such parameter
    if not isinstance(n_components, str) and n_components <= _FEW:
        return
    climbs = find_climbs(trace["log_joint"])
    if not climbs:
        return
    height, error = max(climbs.values())
    which = "the log joint" if trace.n_chains == 1 else (
        f"the log joint of {len(climbs)} of {trace.n_chains} chains"
    )  # fmt: skip
    given = "" if estimator.burn_in is None else f" and burn_in (now {estimator.burn_in})"
    warn_unconverged(
        f"{type(estimator).__name__}: {which} still climbs, from the first to the last third of "
        f"the kept sweeps, by {height:.4g}, with a Monte Carlo error of {error:.2g}. Raise "
        f"max_iter (now {estimator.max_iter}){given}."
    )


def warn_of_drifts(estimator: Any, trace: Trace, what: str) -> None:
    """Warn if the number of components, `what`, still grows or falls in a chain of an estimator.

    A few that come or go are no drift: it has to be a tenth of the number.
    """
    numbers = trace["n_components"]
    for sign, verb in ((1.0, "grows"), (-1.0, "falls")):
        for c, climb in find_climbs(sign * numbers).items():
            if climb.height > max(_FEW, 0.1 * numbers[c].mean()):
                third = -(-numbers.shape[1] // 3)
                warn_unconverged(
                    f"{type(estimator).__name__}: the number of {what} still {verb}, from "
                    f"{numbers[c, :third].mean():.0f} to {numbers[c, -third:].mean():.0f}, means "
                    f"of the first and the last third of the kept sweeps. Raise max_iter (now "
                    f"{estimator.max_iter}), or do not rely on the number."
                )
                return


def warn_of_truncation(
    estimator: Any, trace: Trace, n_active: NDArray[np.integer] | list[int]
) -> None:
    """Warn if half of the stored samples, or more, use all the states that there may be."""
    bound = estimator.n_components
    if bound <= _FEW or len(trace.sweeps) < N_BATCHES:
        return
    n_full = int(np.count_nonzero(np.asarray(n_active) >= bound))
    if 2 * n_full >= len(n_active):
        warn_unconverged(
            f"{type(estimator).__name__}: {n_full} of {len(n_active)} stored samples use all "
            f"{bound} available states. Raise n_components."
        )


def _is_internal(module: str) -> bool:
    return module.split(".")[0] in ("skdp", "sklearn")
