"""The throughput of a fit to partitions, described in words."""

from __future__ import annotations

from time import perf_counter

_MEGA = 1e6


class Throughput:
    """Throughput since the last line of `verbose` output."""

    # n_units is the number of units in a step; `unit` is a plural, such as "tokens".
    def __init__(self, n_partitions: int, n_units: int, unit: str, step: str):
        self._n_partitions = n_partitions
        self._n_units = n_units
        self._unit = unit
        self._step = step

    def begin(self, n_steps: int, n_moved: int) -> None:
        """Start measuring at a number of steps and of bytes."""
        self._begin(perf_counter(), n_steps, n_moved)

    def _begin(self, time: float, n_steps: int, n_moved: int) -> None:
        self._time, self._n_steps, self._n_moved = time, n_steps, n_moved

    def describe(self, n_steps: int, n_left: int, n_moved: int) -> str:
        """Return a description of the throughput since the last call; n_moved are bytes."""
        now = perf_counter()
        seconds = now - self._time
        n_new = n_steps - self._n_steps
        speed = self._n_units * n_new / seconds / _MEGA
        words = [f"{self._n_partitions} partitions", f"{speed:.3g} million {self._unit} a second"]
        if n_moved:
            words.append(f"{(n_moved - self._n_moved) / n_new / _MEGA:.3g} MB a {self._step}")
        if n_left:
            words.append(f"{_duration(seconds / n_new * n_left)} left")
        self._begin(now, n_steps, n_moved)
        return ", ".join(words)


def _duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, depending on its length."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 120 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
