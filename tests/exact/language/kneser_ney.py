"""Interpolated Kneser-Ney in dictionaries, by its formula alone.

    p(w | u) = (c_uw - D(c_uw)) / c_u + sum_v D(c_uv) / c_u p(w | u without its first word)

c_uw counts the events of a longest context; of a shorter one, the contexts one word longer in which
w was seen, and the events that have no longer context, at the beginning of a sentence. D(0) = 0,
and D(k) is that of 3 for all k > 3. Below the empty context all outcomes have the same probability.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import log

from exact.language.franchise import Cell, events_of


class KneserNey:
    """A model of sentences of words 0, ..., n_features - 1; their end is n_features. By depth there
    are `counts`, {context: Counter of outcomes}, and `discounts`, (D_1, D_2, D_3+); `fallbacks` are
    the (depth, k) whose counts of counts gave no D_k within (0, k)."""

    def __init__(
        self, corpus: Sequence[Sequence[int]], n_features: int, order: int,
        discount: str | float | Sequence = "modified", end_of_sequence: bool = True,
    ):  # fmt: skip
        self.order, self.n_features, self.end_of_sequence = order, n_features, end_of_sequence
        self.n_outcomes = n_features + end_of_sequence
        self.counts: list[dict] = [defaultdict(Counter) for _ in range(order)]
        for words in corpus:
            for context, outcome in self.events(words):
                self.counts[len(context)][context][outcome] += 1
        for depth in range(order - 1, 0, -1):
            for context, outcomes in self.counts[depth].items():
                for w in outcomes:
                    self.counts[depth - 1][context[1:]][w] += 1
        self.fallbacks: set[tuple[int, int]] = set()
        self.discounts = [self._discounts(depth, discount) for depth in range(order)]

    def events(self, words: Sequence[int]) -> list[Cell]:
        """Return (context, outcome) of each word, and of the end of the sentence."""
        return events_of(words, self.order, self.n_features if self.end_of_sequence else None)

    def _discounts(self, depth: int, discount) -> tuple[float, float, float]:
        if not isinstance(discount, str):
            own = discount if isinstance(discount, int | float) else discount[depth]
            return (own, own, own) if isinstance(own, int | float) else tuple(own)
        n = Counter(c for outcomes in self.counts[depth].values() for c in outcomes.values())
        share = n[1] / (n[1] + 2 * n[2]) if n[1] else 0.0
        if discount == "absolute":
            return (self._checked(depth, 1, share),) * 3
        one, two, three = (  # Chen and Goodman, 1999
            self._checked(depth, k, k - (k + 1) * share * n[k + 1] / n[k] if n[k] else 0.0)
            for k in (1, 2, 3)
        )
        return one, two, three

    def _checked(self, depth: int, k: int, value: float) -> float:
        if 0.0 < value < k:
            return value
        self.fallbacks.add((depth, k))
        return k / 2

    def probability(self, context: Sequence[int], w: int) -> float:
        """Return p(w | context), the context in reading order, of any length."""
        u = tuple(context)[max(0, len(context) + 1 - self.order) :]
        below = self.probability(u[1:], w) if u else 1.0 / self.n_outcomes
        outcomes = self.counts[len(u)].get(u)
        if not outcomes:
            return below
        total = sum(outcomes.values())
        taken = {v: self.discounts[len(u)][min(c, 3) - 1] for v, c in outcomes.items()}
        own = outcomes.get(w, 0) - taken.get(w, 0.0)
        return own / total + sum(taken.values()) / total * below

    def log_proba(self, words: Sequence[int]) -> list[float]:
        """Return the log-probability of each event of a sentence."""
        return [log(self.probability(u, w)) for u, w in self.events(words)]
