"""Words drawn from the prior of a hierarchical Pitman-Yor process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_floats, shorten

_BEGINNING = -1
"""The symbol before the first word of a sentence."""


class WordLaw(NamedTuple):
    """A hierarchical Pitman-Yor process of words."""

    discounts: NDArray[np.float64]  # (order,), of contexts of 0, 1, ... words
    concentrations: NDArray[np.float64]  # (order,)
    base: NDArray[np.float64] | None  # (n_words,); None: every draw is a new word

    @classmethod
    def of(cls, discount: Any, concentration: Any, base: Any) -> WordLaw | None:
        """Return a law with checked parameters, or None if there are no parameters."""
        if discount is None and concentration is None:
            if base is not None:
                raise ValueError("base needs a discount and a concentration, too.")
            return None
        if discount is None or concentration is None:
            raise ValueError("discount and concentration belong together: give both or neither.")
        discounts = np.atleast_1d(as_floats(discount, "discount"))
        concentrations = np.atleast_1d(as_floats(concentration, "concentration"))
        if discounts.ndim != 1 or not len(discounts) or discounts.shape != concentrations.shape:
            raise ValueError(
                "discount and concentration must be numbers, or hold one for each length of "
                f"context, got shapes {discounts.shape} and {concentrations.shape}."
            )
        if not np.all((discounts >= 0.0) & (discounts < 1.0)):
            raise ValueError(f"discount must be in [0, 1), got {shorten(discount)}.")
        if not np.all((concentrations > 0.0) & np.isfinite(concentrations)):
            raise ValueError(f"concentration must be finite and > 0, got {shorten(concentration)}.")
        if base is not None:
            base = as_floats(base, "base", 1)
            if not (np.all(base >= 0.0) and abs(base.sum() - 1.0) < 1e-6):
                raise ValueError(f"base must hold probabilities with sum 1, got {shorten(base)}.")
        return cls(discounts, concentrations, base)

    def draw(self, lengths: NDArray[np.int64], random: Random) -> NDArray[np.int64]:
        """Return the concatenated words of sentences of given lengths."""
        return np.fromiter(self._draw(lengths, random), np.int64, int(lengths.sum()))

    def _draw(self, lengths: NDArray[np.int64], random: Random) -> Iterator[int]:
        """Yield words, with a Chinese restaurant for each context."""
        uniform = random.random
        new_words = self._new_words(random)
        d, theta = self.discounts.tolist(), self.concentrations.tolist()
        root = _Restaurant()
        for length in lengths.tolist():
            history = [_BEGINNING]
            for _ in range(length):
                path = [root]  # the restaurants of increasingly long contexts
                for symbol in reversed(history[-(len(d) - 1) :] if len(d) > 1 else []):
                    path.append(path[-1].child(symbol))
                opened = []  # restaurants with a new table, whose word comes from the next
                word = -1
                for m in range(len(path) - 1, -1, -1):
                    here = path[m]
                    n = len(here.seats)
                    if not n or uniform() * (theta[m] + n) < theta[m] + d[m] * len(here.sizes):
                        opened.append(here)
                        continue
                    # A table of m customers has weight m - d: the new customer joins that of a
                    # random earlier customer, and stays with probability 1 - d / m.
                    table = here.seats[int(uniform() * n)]
                    while uniform() * here.sizes[table] < d[m]:
                        table = here.seats[int(uniform() * n)]
                    here.seats.append(table)
                    here.sizes[table] += 1
                    word = here.words[table]
                    break
                else:
                    word = next(new_words)
                for here in opened:
                    here.seats.append(len(here.sizes))
                    here.sizes.append(1)
                    here.words.append(word)
                history.append(word)
                yield word

    def _new_words(self, random: Random) -> Iterator[int]:
        """Yield draws from the base."""
        if self.base is None:
            yield from count()
            return
        cumulative = np.cumsum(self.base)
        bounds = (cumulative / cumulative[-1]).tolist()
        while True:
            yield bisect_right(bounds, random.random())


class _Restaurant:
    """A context with the table of each customer, and the size and word of each table."""

    __slots__ = ("children", "seats", "sizes", "words")

    def __init__(self) -> None:
        self.seats: list[int] = []
        self.sizes: list[int] = []
        self.words: list[int] = []
        self.children: dict[int, _Restaurant] = {}

    def child(self, symbol: int) -> _Restaurant:
        """Return the restaurant of the context with one more preceding symbol."""
        found = self.children.get(symbol)
        if found is None:
            found = self.children[symbol] = _Restaurant()
        return found
