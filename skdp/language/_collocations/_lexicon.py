"""Collocations in stored samples."""

from __future__ import annotations

import numpy as np

from skdp._numeric._typing import Floats, Ints
from skdp.language._collocations._model import CollocationModel


def count_collocations(models: list[CollocationModel]) -> tuple[list[list[Ints]], Floats]:
    """Return the collocations of samples, the most frequent first, and their mean numbers."""
    counts: dict[tuple[tuple[int, ...], ...], float] = {}
    for model in models:
        for words, n in zip(model.collocations(), model.counts[:-1, 0].tolist(), strict=True):
            key = tuple(tuple(word.tolist()) for word in words)
            counts[key] = counts.get(key, 0.0) + n
    found = sorted(counts, key=lambda words: (-counts[words], words))
    means = np.array([counts[words] / len(models) for words in found])
    return [[np.array(word, dtype=np.int32) for word in words] for words in found], means
