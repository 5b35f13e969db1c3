"""Markov chains: running them, keeping, tracing and aligning their samples, and diagnostics."""

from skdp._part import Part
from skdp.inference._alignment import align_labels
from skdp.inference._chain import Averages, Chain, NoAverages, Sampler
from skdp.inference._convergence import (
    LEAST_SWEEPS,
    warn_of_bound,
    warn_of_climbs,
    warn_of_disagreement,
    warn_of_drifts,
    warn_of_few_sweeps,
    warn_of_truncation,
    warn_unconverged,
    warn_user,
)
from skdp.inference._interrupt import InterruptGuard, check_interrupts, is_interrupted
from skdp.inference._schedule import Schedule
from skdp.inference._sweeps import SweepIterator
from skdp.inference._trace import Trace

__all__ = [
    "LEAST_SWEEPS",
    "Averages",
    "Chain",
    "InterruptGuard",
    "NoAverages",
    "Part",
    "Sampler",
    "Schedule",
    "SweepIterator",
    "Trace",
    "align_labels",
    "check_interrupts",
    "is_interrupted",
    "warn_of_bound",
    "warn_of_climbs",
    "warn_of_disagreement",
    "warn_of_drifts",
    "warn_of_few_sweeps",
    "warn_of_truncation",
    "warn_unconverged",
    "warn_user",
]
