"""Checks of estimators that model sequences of words, and score them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skdp.data import TokenSequences
from skdp.utils._check_samples import N_WORDS, make_sentences
from skdp.utils._checking import clone_fitted, same_fit, seeded


def check_text_forms(estimator: Any) -> None:
    """Check that a container, lists and the rows of an array mean the same."""
    sentences = make_sentences()
    sentences = TokenSequences(sentences.tokens, sentences.ptr, sentences.tokens.max() + 1)
    expected = seeded(estimator).fit(sentences)
    for lists in (list(sentences), [x.tolist() for x in sentences]):
        same_fit(expected, seeded(estimator).fit(lists))
    rows = sentences.tokens[: len(sentences.tokens) // 3 * 3].reshape(-1, 3)
    expected = seeded(estimator).fit(list(rows))
    same_fit(expected, seeded(estimator).fit(rows.tolist()))
    of_array = seeded(estimator).fit(rows)
    same_fit(of_array, seeded(estimator).fit(rows.astype(float)))
    scores = expected.score_samples(list(rows))
    for matrix in (rows, rows.astype(float), rows.tolist()):
        assert_array_equal(of_array.score_samples(matrix), scores)
    assert expected.n_features_in_ == rows.max() + 1
    assert (of_array.n_words_, of_array.n_features_in_) == (rows.max() + 1, 3)


def check_text_scores(estimator: Any) -> None:
    """Check that a sequence's score is its own, and that score and perplexity are means of them."""
    sentences = make_sentences()
    fitted = seeded(estimator).fit(sentences)
    scores = fitted.score_samples(sentences)
    assert scores.shape == (len(sentences),)
    assert np.all(scores < 0.0)
    order = np.random.default_rng(0).permutation(len(sentences))
    assert_allclose(fitted.score_samples(sentences[order]), scores[order], rtol=1e-10)
    for i in range(len(sentences)):
        assert_allclose(fitted.score_samples(sentences[i : i + 1])[0], scores[i], rtol=1e-10)
    assert_array_equal(clone_fitted(fitted).set_params(n_jobs=2).score_samples(sentences), scores)
    n_events = scores.sum() / fitted.score(sentences)
    assert_allclose(n_events, np.round(n_events))
    assert len(sentences.tokens) <= round(n_events) <= len(sentences.tokens) + len(sentences)


def check_text_without_words(estimator: Any) -> None:
    """Check that sequences without words and of one word are legal, and no words at all are not."""
    import pytest

    lists: list[Any] = [[], *(x.tolist() for x in make_sentences()), [0], []]
    mixed = TokenSequences.from_sequences(lists, N_WORDS)
    fitted = seeded(estimator).fit(mixed)
    scores = fitted.score_samples(mixed)
    assert np.all(np.isfinite(scores))
    assert scores[0] == scores[-1]
    assert np.all(np.isfinite(fitted.score_samples([[], [0]])))
    with pytest.raises(ValueError, match="minimum of 1 is required"):
        seeded(estimator).fit([])
