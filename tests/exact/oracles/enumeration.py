"""What oracles of topic models share: the factors of their joints, and means over all states."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import prod
from types import SimpleNamespace

import numpy as np


def rising(x, n: int, step=1.0):
    """Pochhammer symbol (x|step)_n = x (x + step) ... (x + (n - 1) step)."""
    return prod((x + i * step for i in range(n)), start=1.0)


@cache
def stirling(n: int, m: int, a: float) -> float:
    """Return the generalized Stirling number S^n_{m, a}."""
    if n == 0 or m == 0 or m > n:
        return float(n == m)
    return stirling(n - 1, m - 1, a) + (n - 1 - m * a) * stirling(n - 1, m, a)


def dirichlet_multinomial(prior: Sequence[float], counts: Sequence[int]) -> float:
    """Beta(prior + counts) / Beta(prior)."""
    vector = prod(rising(p, int(n)) for p, n in zip(prior, counts, strict=True))
    return vector / rising(sum(prior), int(sum(counts)))


def word_factor(words, topics, prior, fixed=()) -> float:
    """Return the probability of words given their topics. The first topics are `fixed`, (F, V). The
    others have Dirichlet priors, the rows of `prior`."""
    counts = [[0] * len(row) for row in prior]
    given = 1.0
    for k, w in zip(topics, words, strict=True):
        if k < len(fixed):
            given *= float(fixed[k][w])
        else:
            counts[k - len(fixed)][w] += 1
    return given * prod(dirichlet_multinomial(*pair) for pair in zip(prior, counts, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Words:
    """What a problem with a given number of topics says of their words."""

    gamma: float | None = None  # of the Dirichlet prior
    n_features: int | None = None  # None: the features that occur
    seeds: np.ndarray | None = None  # (K, V), pseudo-counts that are added to gamma
    fixed: np.ndarray | None = None  # (F, V), the word probabilities of the first topics
    phi: np.ndarray | None = None  # (K, V), those of all topics: nothing else is learned

    @property
    def n_words(self) -> int:
        return max(self.words) + 1 if self.n_features is None else self.n_features

    def word_factor(self, topics: Sequence[int], n_topics: int) -> float:
        if self.phi is not None:
            return word_factor(self.words, topics, (), self.phi)
        fixed = () if self.fixed is None else self.fixed
        seeds = np.zeros((n_topics, self.n_words)) if self.seeds is None else self.seeds
        prior = (self.gamma + seeds[len(fixed) :]).tolist()
        return word_factor(self.words, topics, prior, fixed)


def of_topics(topics: Sequence[int], n_topics: int) -> dict[str, np.ndarray]:
    """Return indicators of each word's topic, and of words with the same topic."""
    return {
        "topics": np.equal.outer(topics, range(n_topics)).reshape(-1, n_topics),
        "coassignment": np.equal.outer(topics, topics),
    }


def average(states: Iterable[tuple[float, dict]]) -> SimpleNamespace:
    """Return the log of the sum of weights, `log_evidence`, and the means of all values."""
    total, sums = 0.0, {}
    for weight, values in states:
        total += weight
        for name, value in values.items():
            sums[name] = sums.get(name, 0.0) + weight * np.asarray(value)
    means = {name: value / total for name, value in sums.items()}
    return SimpleNamespace(log_evidence=float(np.log(total)), **means)


def split(values: Sequence, lengths: Iterable[int]) -> list[list]:
    """Return consecutive runs of some lengths."""
    ends = np.cumsum([0, *lengths]).tolist()
    return [list(values[b:e]) for b, e in pairwise(ends)]
