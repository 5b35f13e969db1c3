"""KneserNeyLM against an independent implementation by dictionaries (see kneser_ney.py)."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from exact.language.arpa import read_arpa
from exact.language.kneser_ney import KneserNey

from skdp.data import TokenSequences
from skdp.language import KneserNeyLM

N_WORDS = 8


def draw_corpus(n_sentences, seed=0):
    """Return sentences of words that follow each other unevenly."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(N_WORDS - 1, 0.4), size=N_WORDS)
    corpus = []
    for _ in range(n_sentences):
        words = [int(rng.integers(N_WORDS - 1))]
        while rng.random() < 0.85:
            words.append(int(rng.choice(N_WORDS - 1, p=p[words[-1]])))
        corpus.append(words[: rng.integers(len(words) + 1)])
    return corpus


CASES = {
    "modified": (3, {}),
    "four words": (4, {}),
    "unigrams": (1, {}),
    "without ends": (3, {"end_of_sequence": False}),
    "absolute": (2, {"discount": "absolute"}),
    "a number": (3, {"discount": 0.6}),
    "numbers": (2, {"discount": [0.2, 0.9]}),
    "triples": (2, {"discount": [[0.2, 0.9, 1.1], [0.5, 1.5, 2.5]]}),
}


def fit(corpus, order, params):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*the counts of words")
        lm = KneserNeyLM(order, **params).fit(TokenSequences.from_sequences(corpus, N_WORDS))
    return lm, KneserNey(corpus, N_WORDS, order, **params)


@pytest.mark.parametrize("size", [2, 60])
@pytest.mark.parametrize("case", CASES)
def test_probabilities(case, size):
    order, params = CASES[case]
    lm, oracle = fit(draw_corpus(size), order, params)
    np.testing.assert_allclose(lm.discounts_, oracle.discounts)
    sentences = [*draw_corpus(30, seed=1), [7, 0, 7, 7], []]
    for sentence, found in zip(sentences, lm.log_proba(sentences), strict=True):
        np.testing.assert_allclose(found, oracle.log_proba(sentence), atol=1e-10)
    rows = lm.predict_proba(sentences)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0, rtol=1e-12)
    for sentence, row in zip(sentences, rows, strict=True):
        expected = [oracle.probability((-1, *sentence), w) for w in range(rows.shape[1])]
        np.testing.assert_allclose(row, expected, rtol=1e-10)


def test_counts_without_discounts_are_named():
    corpus = [[0, 1, 2], [0, 1, 2]]
    with pytest.warns(UserWarning, match="pass a number such as discount=0.5") as caught:
        lm = KneserNeyLM(3).fit(corpus)
    (warning,) = caught  # one for all contexts
    oracle = KneserNey(corpus, 3, 3)
    depths = {m for m, _ in oracle.fallbacks}
    named = re.search("contexts of (.*) words", str(warning.message))[1]
    assert set(map(int, named.split(", "))) == depths
    np.testing.assert_allclose(lm.discounts_, oracle.discounts)


@pytest.mark.parametrize("case", ["modified", "unigrams", "without ends"])
def test_arpa(case, tmp_path):
    order, params = CASES[case]
    lm, oracle = fit(draw_corpus(60), order, params)
    names = [f"w{i}" for i in range(N_WORDS)]
    lm.to_arpa(tmp_path / "lm.arpa", names)
    arpa = read_arpa((tmp_path / "lm.arpa").read_text(encoding="utf-8"))
    for sentence in draw_corpus(30, seed=1):
        found = arpa.log10_events([names[w] for w in sentence], end=lm.end_of_sequence)
        np.testing.assert_allclose(found, oracle.log_proba(sentence) / np.log(10), atol=2e-8)


@pytest.mark.parametrize("fails", ["names", "writing"])
def test_a_file_is_replaced_when_it_is_complete(fails, tmp_path, monkeypatch):
    lm, _ = fit(draw_corpus(20), 2, {"discount": 0.5})
    path, names = str(tmp_path / "lm.arpa"), np.arange(N_WORDS)
    lm.to_arpa(path, names)
    text = Path(path).read_text()
    lm.to_arpa(path, [*map(str, names)])
    if fails == "names":
        names = [*names[1:], "w\ud800"]
    else:
        monkeypatch.setattr("skdp.language._ngram._trie._ngrams", lambda *args: 1 / 0)
    with pytest.raises((ValueError, ZeroDivisionError)):
        lm.to_arpa(path, names)
    assert [each.read_text() for each in tmp_path.iterdir()] == [text]
