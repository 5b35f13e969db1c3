"""Warnings at the user's line, above all of fits that are not done."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skdp._typing import Floats
from skdp.inference._diagnostics import Climb, Gap, find_climbs, find_gap
from skdp.inference._trace import Trace

_FEW = 2
"""With so many components a chain has no time to climb, and uses all it has: nothing is said."""

_LEAST_SHARES = {"log_joint": 1e-3, "n_components": 0.1}
"""How far chains may be apart in a scalar, as a share of its mean, before it matters."""


_LEAST_HEIGHT = 0.5
"""Nats by which a log joint has to climb, or chains to be apart, before it matters."""

LEAST_SWEEPS = 12
"""With fewer sweeps after the burn-in nothing can be said of a chain."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line, below all of skdp's, scikit-learn's and joblib's own.

    A Pipeline fits its steps by way of joblib's Memory.
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_unconverged(message: str) -> None:
    """Warn the user of a fit that is not done."""
    warn_user(message, ConvergenceWarning)


def warn_of_few_sweeps(estimator: Any, n_sweeps: int) -> None:
    """Warn that so few sweeps after the burn-in do not tell whether chains have converged."""
    are = "sweep after the burn-in is" if n_sweeps == 1 else "sweeps after the burn-in are"
    warn_unconverged(
        f"{type(estimator).__name__}: {n_sweeps} {are} too few to tell "
        f"whether the chain has converged. Raise max_iter (now {estimator.max_iter})."
    )


def warn_of_climbs(estimator: Any, trace: Trace) -> None:
    """Warn if chains of an estimator still climb or fall.

    Its burn-in and truncation are parameters. A chain falls if it began with a partition that is
    better than most, such as one of too few components: there are fewer of these.
    """
    n_components = getattr(estimator, "n_components", "auto")  # or there is no such parameter
    if not isinstance(n_components, str) and n_components <= _FEW:
        return
    found = _find_way(trace["log_joint"])
    if found is None:
        return
    verb, ways = found
    height, error = max(ways.values())
    which = "the log joint" if trace.n_chains == 1 else (
        f"the log joint of {len(ways)} of {trace.n_chains} chains"
    )  # fmt: skip
    given = "" if estimator.burn_in is None else f" and burn_in (now {estimator.burn_in})"
    warn_unconverged(
        f"{type(estimator).__name__}: {which} still {verb}, from the first to the last third of "
        f"the sweeps after the burn-in, by {height:.4g}, with a Monte Carlo error of {error:.2g}. "
        f"Raise max_iter (now {estimator.max_iter}){given}."
    )


def _find_way(log_joints: Floats) -> tuple[str, dict[int, Climb]] | None:
    """Return whether chains climb or, if none does, fall, and which of them do."""
    for sign, verb in ((1.0, "climbs"), (-1.0, "falls")):
        ways = {
            c: climb
            for c, climb in find_climbs(sign * log_joints).items()
            if climb.height >= _LEAST_HEIGHT
        }
        if ways:
            return verb, ways
    return None


def warn_of_drifts(estimator: Any, trace: Trace, what: str) -> None:
    """Warn if the number of components, `what`, still grows or falls in a chain of an estimator.

    A few that come or go are no drift: it has to be a tenth of the number.
    """
    numbers = trace["n_components"]
    found = _find_drift(numbers)
    if found is None:
        return
    c, verb = found
    third = -(-numbers.shape[1] // 3)
    warn_unconverged(
        f"{type(estimator).__name__}: the number of {what} still {verb}, from "
        f"{numbers[c, :third].mean():.0f} to {numbers[c, -third:].mean():.0f}, means "
        f"of the first and the last third of the sweeps after the burn-in. Raise max_iter (now "
        f"{estimator.max_iter}), or do not rely on the number."
    )


def _find_drift(numbers: Floats) -> tuple[int, str] | None:
    """Return a chain whose number of components drifts, and which way."""
    for sign, verb in ((1.0, "grows"), (-1.0, "falls")):
        for c, climb in find_climbs(sign * numbers).items():
            if climb.height > max(_FEW, 0.1 * numbers[c].mean()):
                return c, verb
    return None


def warn_of_disagreement(estimator: Any, trace: Trace) -> None:
    """Warn if chains plainly disagree about the log joint or the number of components.

    Beyond the test of `find_gap`, means have to differ by a thousandth of the log joint, or by a
    component and a tenth of their number: a large model has many modes, and hardly any two chains
    find the same. Nothing is said of a scalar that is still on its way in some chain, for that is
    said of that chain.
    """
    gaps: dict[str, Gap] = {}
    for name, least_share in _LEAST_SHARES.items():
        gap = None if name not in trace or _is_under_way(trace, name) else find_gap(trace[name])
        least = 1.0 if name == "n_components" else _LEAST_HEIGHT
        if gap is not None and gap.high - gap.low >= max(least, least_share * abs(gap.high)):
            gaps[name] = gap
    if not gaps:
        return
    which = " and of ".join(
        f"{name} from {gap.low:.6g} to {gap.high:.6g} (R-hat {gap.r_hat:.3g})"
        for name, gap in gaps.items()
    )
    warn_unconverged(
        f"{type(estimator).__name__}: the {trace.n_chains} chains disagree, with means of {which}. "
        f"They have not met yet, or are in different modes. Compare them in trace_, raise max_iter "
        f"(now {estimator.max_iter}) and try more chains, or do not rely on these numbers."
    )


def _is_under_way(trace: Trace, name: str) -> bool:
    """Tell whether the number of components or the log joint drifts in some chain."""
    find = _find_drift if name == "n_components" else _find_way
    return find(trace[name]) is not None


def warn_of_truncation(estimator: Any, n_active: NDArray[np.integer] | list[int]) -> None:
    """Warn if half of the stored samples, or more, use all the states that there may be."""
    bound = estimator.n_components
    if bound <= _FEW:
        return
    n_full = int(np.count_nonzero(np.asarray(n_active) >= bound))
    if 2 * n_full >= len(n_active):
        warn_unconverged(
            f"{type(estimator).__name__}: {n_full} of {len(n_active)} stored samples use all "
            f"{bound} available states. Raise n_components."
        )


def warn_of_bound(estimator: Any, numbers: list[int], bound: int, things: str) -> None:
    """Warn if half of the stored samples, or more, have as many things as there may be.

    Parameters
    ----------
    estimator : object
    numbers : list of int
        How many things each stored sample has.
    bound : int
    things : str
        Their name.
    """
    n_full = sum(number >= bound for number in numbers)
    if 2 * n_full >= len(numbers):
        warn_unconverged(
            f"{type(estimator).__name__}: {n_full} of {len(numbers)} stored samples have {bound} "
            f"{things} or more, the bound. Given priors that are far from the scale of X, or a few "
            "values that are far from all others, can make chains add them without end: leave the "
            "priors at their defaults, or correct these values."
        )


def _is_internal(module: str) -> bool:
    return module.split(".")[0] in ("skdp", "sklearn", "joblib")
