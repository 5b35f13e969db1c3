"""Topics that are given as word probabilities, from parameters of an estimator to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from skdp._checks import as_floats
from skdp.data import SegmentedCorpus
from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._fixed import SMALLEST_FIXED, FixedTopics

_TOLERANCE = 1e-6
"""Largest difference of a sum of fixed probabilities from 1, for those in single precision."""


def check_topics(
    topics: ArrayLike, name: str, shape: tuple[int, int] | None
) -> NDArray[np.float64]:
    """Return given topics as word probabilities."""
    array, sums = _check_rows(topics, name)
    if shape is not None and array.shape != shape:
        raise ValueError(
            f"{name} must have shape (n_components, n_features) = {shape}, got {array.shape}."
        )
    return array / sums


def _check_rows(topics: Any, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return given topics as non-negative numbers, and the sums of rows."""
    given = as_floats(topics.toarray() if hasattr(topics, "toarray") else topics, name)
    if given.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D array (n_components, n_features), got shape {given.shape}."
        )
    if not given.size:
        raise ValueError(f"{name} must hold at least one topic, got shape {given.shape}.")
    array = check_array(given, dtype=np.float64, input_name=name)
    with np.errstate(over="ignore"):
        sums = array.sum(axis=1, keepdims=True)
    if np.any(array < 0) or np.any(sums == 0):
        raise ValueError(f"{name} must hold non-negative numbers, and no row may be all zero.")
    if not np.isfinite(sums).all():
        raise ValueError(f"{name} must have rows with finite sums.")
    return array, sums


class FixedComponentsMixin:
    """Mixin of the topic models: the topics whose words are given."""

    fixed_components: Any = None
    """Default for models without this parameter."""

    _n_fixed_in_fit = 0
    """Number of topics in `components_` whose words were given."""

    def _fixed_topics(self, n_words: int | None = None) -> FixedTopics | None:
        """Return the topics with given words, or None; raise a ValueError if they are invalid."""
        if self.fixed_components is None:
            return None
        phi, sums = _check_rows(self.fixed_components, "fixed_components")
        n_most = getattr(self, "n_components", "auto")
        if not isinstance(n_most, str) and len(phi) > n_most:
            raise ValueError(
                f"fixed_components has {len(phi)} topics, but n_components is {n_most}."
            )
        if n_words is not None and phi.shape[1] != n_words:
            raise ValueError(
                f"fixed_components must have shape (n_fixed, n_features) with n_features={n_words},"
                f" got {phi.shape}."
            )
        if (far := np.abs(sums[:, 0] - 1.0) > _TOLERANCE).any():
            k = int(far.argmax())
            raise ValueError(
                f"fixed_components must have rows that sum to 1, but row {k} sums to "
                f"{float(sums[k, 0]):.8g}."
            )
        return FixedTopics(phi.copy())

    @property
    def _n_fixed(self) -> int:
        """Number of topics whose words are given."""
        fixed = self._fixed_topics()
        return 0 if fixed is None else len(fixed.phi)


def check_possible(
    fixed: FixedTopics, corpus: SegmentedCorpus, allowed: AllowedTopics, most_topics: int | None
) -> None:
    """Raise if a word can have none of its allowed topics, because all are fixed and exclude it."""
    n_fixed, tokens = len(fixed.phi), corpus.tokens
    for s, own in enumerate(allowed.sets):
        if own[n_fixed:most_topics].any():
            continue
        possible: NDArray[np.bool_] = fixed.possible[own[:n_fixed]].any(axis=0)
        bad = (allowed.set_of == s) & ~possible[tokens]
        if bad.any():
            i = int(bad.argmax())
            place = corpus._locate((corpus.doc_ptr, corpus.segment_ptr), i)
            raise ValueError(
                f"The word {tokens[i]} ({place}) can have no topic: all topics that it may have "
                "are in fixed_components, where its probability is 0 or less than "
                f"{SMALLEST_FIXED:g}."
            )
