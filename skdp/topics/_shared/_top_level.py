"""Concentrations of the two levels above topics, if the number of these is inferred."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TopPriors:
    """What is known of both concentrations before any document.

    Attributes
    ----------
    concentration, top_concentration : (shape, rate) or None
        Of the Gamma prior of one that is drawn. None: it is known.
    """

    concentration: tuple[float, float] | None
    top_concentration: tuple[float, float] | None


def in_range(concentration: float) -> float:
    """Return the nearest concentration under which single-precision weights do not vanish."""
    return min(max(concentration, 1e-8), 1e8)
