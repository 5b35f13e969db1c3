"""Slice sampling of a real number."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random._xoshiro import next_double, next_open_double


def draw_slice(
    log_density: Callable[[float], float],
    x: float,
    rng: NDArray[np.uint64],
    width: float = 2.0,
    max_steps: int = 100,
) -> float:
    """Return the next x of a chain that leaves a density invariant (Neal, 2003).
    An interval of length `width` is stepped out, up to `max_steps` times that, and shrunk toward x.
    """
    return float(make_draw_slice(log_density)(x, width, max_steps, rng))


def make_draw_slice(log_density: Callable[..., float]) -> Callable[..., float]:
    """Return `draw_slice` of a log density, for `njit` if the log density is a kernel.
    Its last arguments, after the stream, are those of the log density after x.
    """

    def draw(
        x: float, width: float, max_steps: int, rng: NDArray[np.uint64], *arguments: Any
    ) -> float:
        level = log_density(x, *arguments) + math.log(next_open_double(rng))
        low = x - width * next_double(rng)
        high = low + width
        steps_down = int(max_steps * next_double(rng))  # random, or the interval would depend on x
        for _ in range(steps_down):
            if not log_density(low, *arguments) > level:
                break
            low -= width
        for _ in range(max_steps - 1 - steps_down):
            if not log_density(high, *arguments) > level:
                break
            high += width
        while True:
            proposal = low + (high - low) * next_double(rng)
            if log_density(proposal, *arguments) > level or proposal == x:
                return proposal
            if proposal < x:
                low = proposal
            else:
                high = proposal

    return draw
