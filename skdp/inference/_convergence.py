"""Warnings at the user's line, most of them about fits that have not converged."""

from __future__ import annotations

import re
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from skdp._numeric import Floats
from skdp.inference._trace import Drift, Gap, Trace, find_climbs, find_gap

_FEW = 2
"""No warnings up to this number of components: such chains hardly climb, and use all of them. Other
bounds as low as this are meant to bind."""

_LEAST_SHARE_OF_JOINT, _LEAST_SHARE_OF_NUMBER = 1e-3, 0.1
"""Smallest difference between chains in the log joint or in the number of components that matters,
as a fraction of its mean."""


_LEAST_HEIGHT = 0.5
"""Smallest climb of a log joint, or difference between chains, that matters, in nats."""

SHARE_AT_BOUND = 0.05
"""A share of steps or words of the largest length that says that longer ones were cut."""

LEAST_SWEEPS = 12
"""Smallest number of sweeps after the burn-in by which a chain can be judged."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the user's line, outside all frames of skdp, scikit-learn and joblib."""
    _, level = _users_frame()
    warnings.warn(message, category, stacklevel=level)


def _users_frame() -> tuple[FrameType, int]:
    """Return the frame of the user's line, and its distance from the caller's frame."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return frame, level


class _Shown:
    """A registry of shown warnings, because each fit of a grid search clears that of Python."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str, int]] = set()
        self._sink: Any = None

    def is_repeated(self, message: str, category: type[Warning], frame: FrameType) -> bool:
        """Return whether the line has given this warning before and filters show it only once."""
        sink = getattr(warnings, "_showwarnmsg_impl", None)
        if sink is not self._sink or "__warningregistry__" not in frame.f_globals:
            self._keys.clear()  # warnings go elsewhere, or a notebook reruns a cell
            self._sink = sink
        key = message, frame.f_code.co_filename, frame.f_lineno
        is_known = key in self._keys
        self._keys.add(key)
        return is_known and _action_on(message, category, frame) in ("default", "module", "once")


def _action_on(message: str, category: type[Warning], frame: FrameType) -> str:
    """Return the action of Python's filters on a warning."""
    module = str(frame.f_globals.get("__name__", ""))
    for action, text, kind, place, line in warnings.filters:
        if (
            issubclass(category, kind)
            and (text is None or re.match(text, message))
            and (place is None or re.match(place, module))
            and line in (0, frame.f_lineno)
        ):
            return action
    return "default"


_shown = _Shown()


def warn_unconverged(estimator: Any, kind: str, problem: str, **numbers: Any) -> None:
    """Warn the user, once per line, of a fit that has not converged; store `numbers`.
    The text has no numbers, so that all fits of a grid search share it.
    """
    name = type(estimator).__name__
    vars(estimator).setdefault("convergence_", {})[kind] = numbers
    if getattr(estimator, "verbose", 0) > 0:
        shown = ", ".join(f"{key} {_format(value)}" for key, value in numbers.items())
        print(f"[{name}] {kind}: {shown}")
    message = f"{name}: {problem} See convergence_[{kind!r}]."
    frame, level = _users_frame()
    if not _shown.is_repeated(message, ConvergenceWarning, frame):
        warnings.warn(message, ConvergenceWarning, stacklevel=level)


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_format(each)}" for key, each in value.items()) + ")"
    return f"{value:.6g}"


def warn_of_few_sweeps(estimator: Any, n_sweeps: int) -> None:
    """Warn that there are too few sweeps after the burn-in to judge convergence."""
    warn_unconverged(
        estimator,
        "few_sweeps",
        "there are too few sweeps after the burn-in to tell whether the chain has converged. Raise "
        "max_iter.",
        n_sweeps=n_sweeps,
    )


def warn_of_climbs(estimator: Any, trace: Trace) -> None:
    """Warn if the log joint of any chain still climbs or falls, by at least half a nat.
    A chain falls if it starts from a partition that is more probable than typical ones.
    """
    n_components = getattr(estimator, "n_components", "auto")  # not all estimators have it
    if not isinstance(n_components, str) and n_components <= _FEW:
        return
    found = _find_way(trace["log_joint"])
    if found is None:
        return
    verb, ways = found
    height, error = max(ways.values())
    warn_unconverged(
        estimator,
        "log_joint",
        f"the log joint still {verb} in the sweeps after the burn-in. Raise max_iter"
        f"{'' if estimator.burn_in is None else ' and burn_in'}.",
        change=height if verb == "climbs" else -height,
        error=error,
        n_chains=len(ways),
    )


def _find_way(log_joints: Floats) -> tuple[str, dict[int, Drift]] | None:
    """Return "climbs" and the climbing chains, else "falls" and the falling chains, else None."""
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
    """Warn if the number of components, called `what`, still grows or falls in any chain."""
    numbers = trace["n_components"]
    found = _find_drift(numbers)  # by more than two, and a tenth of the mean number
    if found is None:
        return
    c, verb = found
    third = -(-numbers.shape[1] // 3)
    warn_unconverged(
        estimator,
        "n_components",
        f"the number of {what} still {verb} in the sweeps after the burn-in. Raise max_iter, or do "
        "not rely on the number.",
        first=float(numbers[c, :third].mean()),
        last=float(numbers[c, -third:].mean()),
    )


def _find_drift(numbers: Floats) -> tuple[int, str] | None:
    """Return a chain whose number of components drifts, and the direction as a verb."""
    for sign, verb in ((1.0, "grows"), (-1.0, "falls")):
        for c, climb in find_climbs(sign * numbers).items():
            if climb.height > max(_FEW, 0.1 * numbers[c].mean()):
                return c, verb
    return None


def warn_of_disagreement(estimator: Any, trace: Trace) -> None:
    """Warn if chains clearly disagree about the log joint or the number of components."""
    # Small gaps are ignored: a large model has many modes, and hardly any two chains find the same
    # one. A scalar that still drifts has its own warning.
    gaps: dict[str, Gap] = {}
    for name, least, least_share in (
        ("log_joint", _LEAST_HEIGHT, _LEAST_SHARE_OF_JOINT),
        (estimator._name_of_number, 1.0, _LEAST_SHARE_OF_NUMBER),
    ):
        gap = None if name not in trace or _is_under_way(trace, name) else find_gap(trace[name])
        if gap is not None and gap.high - gap.low >= max(least, least_share * abs(gap.high)):
            gaps[name] = gap
    if not gaps:
        return
    warn_unconverged(
        estimator,
        "disagreement",
        "the chains disagree about the log joint or the number of components. They have not met "
        "yet, or are in different modes. Compare them in trace_, raise max_iter and try more "
        "chains, or do not rely on these numbers.",
        **{name: gap._asdict() for name, gap in gaps.items()},
    )


def _is_under_way(trace: Trace, name: str) -> bool:
    """Return whether the number of components or the log joint drifts in some chain."""
    find = _find_way if name == "log_joint" else _find_drift
    return find(trace[name]) is not None


def warn_of_truncation(
    estimator: Any, n_active: NDArray[np.integer] | list[int], by_matrix: bool = False
) -> None:
    """Warn if at least half of the stored samples use all available states, three or more.
    `by_matrix` says that a given matrix of similarities has a row for each state.
    """
    bound = estimator.n_components
    if bound <= _FEW:
        return
    n_full = int(np.count_nonzero(np.asarray(n_active) >= bound))
    if 2 * n_full >= len(n_active):
        cure = "Raise n_components."
        if by_matrix:
            cure = (
                "The given similarity has a row for each of them. If there may be other states, "
                "give a larger matrix and raise n_components."
            )
        warn_unconverged(
            estimator,
            "n_active_components",
            f"at least half of the stored samples use all available states. {cure}",
            n_full=n_full,
            n_samples=len(n_active),
        )


def warn_of_bound(
    estimator: Any, kind: str, is_reached: ArrayLike, bound: int, problem: str
) -> None:
    """Warn if at least half of the samples reach an upper bound; `problem` ends the sentence."""
    reached = np.asarray(is_reached)
    if bound > _FEW and 2 * np.count_nonzero(reached) >= max(len(reached), 1):
        warn_unconverged(
            estimator,
            kind,
            f"at least half of the stored samples {problem}",
            bound=bound,
            n_full=int(np.count_nonzero(reached)),
            n_samples=len(reached),
        )


def warn_of_latent_bound(estimator: Any, numbers: list[int], bound: int, things: str) -> None:
    """Warn if at least half of the stored samples have as many latent features as there may be."""
    warn_of_bound(
        estimator,
        "bound",
        [number >= bound for number in numbers],
        bound,
        f"have as many {things} as there may be. Given priors that are far from the scale of X, or "
        "a few values that are far from all others, can make chains add them without end: leave "
        "the priors at their defaults, or correct these values.",
    )


def _is_internal(module: str) -> bool:
    # A Pipeline fits its steps through joblib's Memory.
    return module.split(".")[0] in ("skdp", "sklearn", "joblib")
