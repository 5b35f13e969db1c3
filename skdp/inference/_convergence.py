"""Warnings at the user's line, above all of fits that are not done."""

from __future__ import annotations

import re
import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from skdp._numeric._typing import Floats
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
    _, level = _users_frame()
    warnings.warn(message, category, stacklevel=level)


def _users_frame() -> tuple[FrameType, int]:
    """Return the frame of the user's line, and how far below the caller's it is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_internal(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return frame, level


class _Shown:
    """The warnings that have been shown, as Python's own registry in each module.

    scikit-learn changes the filters for each fit of a grid search, whereupon Python forgets what it
    has shown.
    """

    def __init__(self) -> None:
        self._keys: set[tuple[str, str, int]] = set()
        self._sink: Any = None

    def is_repeated(self, message: str, category: type[Warning], frame: FrameType) -> bool:
        """Return whether a line has warned of the same before and filters show that once only."""
        sink = getattr(warnings, "_showwarnmsg_impl", None)
        if sink is not self._sink or "__warningregistry__" not in frame.f_globals:
            self._keys.clear()  # someone else listens, or a notebook runs a cell again
            self._sink = sink
        key = message, frame.f_code.co_filename, frame.f_lineno
        is_known = key in self._keys
        self._keys.add(key)
        return is_known and _action_on(message, category, frame) in ("default", "module", "once")


def _action_on(message: str, category: type[Warning], frame: FrameType) -> str:
    """Return what Python's filters do with a warning."""
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
    """Warn the user of a fit that is not done, once at a line.

    The text has no numbers, so that all fits of a grid search share it. These are kept in the
    attribute `convergence_`, and printed with `verbose`.

    Parameters
    ----------
    estimator : fitted estimator
    kind : str
        The key in `convergence_`.
    problem : str
        Sentences of the warning.
    **numbers : float, int or dict
        What is kept.
    """
    name = type(estimator).__name__
    vars(estimator).setdefault("convergence_", {})[kind] = numbers
    if getattr(estimator, "verbose", 0):
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
    """Warn that so few sweeps after the burn-in do not tell whether chains have converged."""
    warn_unconverged(
        estimator,
        "few_sweeps",
        "there are too few sweeps after the burn-in to tell whether the chain has converged. Raise "
        "max_iter.",
        n_sweeps=n_sweeps,
    )


def warn_of_climbs(estimator: Any, trace: Trace) -> None:
    """Warn if chains of an estimator still climb or fall, by half a nat at least.

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
    warn_unconverged(
        estimator,
        "log_joint",
        f"the log joint still {verb} in the sweeps after the burn-in. Raise max_iter"
        f"{'' if estimator.burn_in is None else ' and burn_in'}.",
        change=height if verb == "climbs" else -height,
        error=error,
        n_chains=len(ways),
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
        estimator,
        "n_components",
        f"the number of {what} still {verb} in the sweeps after the burn-in. Raise max_iter, or do "
        "not rely on the number.",
        first=float(numbers[c, :third].mean()),
        last=float(numbers[c, -third:].mean()),
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

    Beyond the test of `find_gap`, means have to differ by half a nat and a thousandth of the log
    joint, or by a component and a tenth of their number: a large model has many modes, and hardly
    any two chains find the same. Nothing is said of a scalar that is still on its way in some
    chain, for that is said of that chain.
    """
    gaps: dict[str, Gap] = {}
    for name, least_share in _LEAST_SHARES.items():
        gap = None if name not in trace or _is_under_way(trace, name) else find_gap(trace[name])
        least = 1.0 if name == "n_components" else _LEAST_HEIGHT
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
            estimator,
            "n_active_components",
            "at least half of the stored samples use all available states. Raise n_components.",
            n_full=n_full,
            n_samples=len(n_active),
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
            estimator,
            "bound",
            f"at least half of the stored samples have as many {things} as there may be. Given "
            "priors that are far from the scale of X, or a few values that are far from all "
            "others, can make chains add them without end: leave the priors at their defaults, or "
            "correct these values.",
            bound=bound,
            n_full=n_full,
            n_samples=len(numbers),
        )


def _is_internal(module: str) -> bool:
    return module.split(".")[0] in ("skdp", "sklearn", "joblib")
