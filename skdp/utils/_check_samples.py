"""Samples for the checks of estimators, and tests of which estimator accepts which sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import is_clusterer
from sklearn.utils import get_tags

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences
from skdp.emissions import BernoulliEmission

N_WORDS = 12


def make_documents(n_documents: int = 12, seed: int = 0) -> list[list[list[int]]]:
    """Return documents of one to four segments; every third one has an empty segment."""
    rng = np.random.default_rng(seed)
    documents = []
    for d in range(n_documents):
        lengths = rng.integers(2, 9, size=rng.integers(1, 5))
        if d % 3 == 2:
            lengths[-1] = 0
        half = N_WORDS // 2 * (d % 2)
        documents.append([(half + rng.integers(0, N_WORDS // 2, n)).tolist() for n in lengths])
    return documents


def make_corpus(n_documents: int = 12) -> SegmentedCorpus:
    return SegmentedCorpus.from_documents(make_documents(n_documents), n_features=N_WORDS)


def make_panel(n_sequences: int = 12, seed: int = 0, n_given: int = 0) -> SequencePanel:
    """Return sequences of whole numbers, which suit all emissions but bits, after given steps."""
    rng = np.random.default_rng(seed)
    lengths = [n_given + 1 + 7 * (i % 3) for i in range(n_sequences)]
    return SequencePanel.from_sequences(
        [3 * (rng.random(n) < 0.5) + rng.integers(0, 2, n).astype(float) for n in lengths]
    )


def make_sentences(n_sentences: int = 12, seed: int = 0) -> TokenSequences:
    """Return sentences of one word to four, of two kinds."""
    rng = np.random.default_rng(seed)
    return TokenSequences.from_sequences(
        [(i % 2) * 3 + rng.integers(0, 3, 1 + i % 4) for i in range(n_sentences)], N_WORDS
    )


def takes_bits(estimator: Any) -> bool:
    emission = getattr(estimator, "emission", None)
    return isinstance(emission, BernoulliEmission) or emission == "bernoulli"


def takes_sequences(estimator: Any) -> bool:
    is_of_words = takes_text(estimator) or get_tags(estimator).input_tags.sparse
    return hasattr(estimator, "predict_proba") and not is_of_words


def count_given(estimator: Any) -> int:
    """Return the number of first steps of a sequence that count as given: the emission's lags."""
    return int(getattr(getattr(estimator, "emission", None), "n_lags", 0))


def count_scored_rows(fitted: Any, panel: SequencePanel) -> int:
    """Return the number of rows over which a score is a mean: half of a group, rounded down."""
    if is_clusterer(fitted):
        return int((np.diff(panel.ptr) // 2).sum())
    observed = ~np.isnan(panel.values).all(axis=1)
    places = np.arange(len(panel.values)) - np.repeat(panel.ptr[:-1], np.diff(panel.ptr))
    return int((observed & (places >= count_given(fitted))).sum())


def has_factors(estimator: Any) -> bool:
    """Tell whether features are activities of factors: each in [0, 1], with any sum."""
    return "n_factors" in estimator.get_params(deep=False)


def assert_shares(estimator: Any, shares: Any) -> None:
    """Assert that rows are distributions, or shares of time in which factors are on."""
    if has_factors(estimator):
        assert np.all((shares >= 0.0) & (shares <= 1.0))
    else:
        assert_allclose(shares.sum(axis=1), 1.0)


def takes_text(estimator: Any) -> bool:
    """Tell whether an estimator models sequences of words and has no features."""
    return getattr(estimator, "_sample_kind", None) == "text"


def takes_sentences(estimator: Any) -> bool:
    return getattr(estimator, "_sample_kind", None) == "sentence"


def climbs(estimator: Any) -> bool:
    """Tell whether a fit climbs from some starts, where others draw samples."""
    return "n_init" in estimator.get_params() and not hasattr(estimator, "iter_sweeps")


def make_samples(estimator: Any, n_samples: int = 12) -> Any:
    """Return a corpus, sentences or a panel for the estimator, with gaps if NaN is legal."""
    if takes_sentences(estimator) or takes_text(estimator):
        return make_sentences(n_samples)
    if not takes_sequences(estimator):
        return make_corpus(n_samples)
    panel = make_panel(n_samples, n_given=count_given(estimator))
    if takes_bits(estimator):
        panel = SequencePanel(panel.values > 1.5, panel.ptr)
    if not get_tags(estimator).input_tags.allow_nan:
        return panel
    values = panel.values.copy()
    values[4::9] = np.nan
    return SequencePanel(values, panel.ptr)
