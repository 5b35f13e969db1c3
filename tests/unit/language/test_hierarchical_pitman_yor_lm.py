"""Language models of small corpora, their bases and their samples."""

import warnings

import numpy as np
import pytest
from refusals.language import kn, lm
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from skdp.data import TokenSequences
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM


@pytest.mark.parametrize(
    "X",
    [
        [[0]],
        [[0, 0, 0, 0]],
        [[], [0]],
        [[0, 1]] * 50,  # closed: nothing occurs once
        [list(range(30))],  # open: nothing occurs twice
    ],
)
@pytest.mark.parametrize("order", [1, 2, 7, None])
def test_small_and_closed_corpora(X, order):
    models = [lm(X, order), lm(X, order, end_of_sequence=False)]
    for model in models if order is None else [*models, kn(X, order)]:
        rows = model.predict_proba([[], [0], [0, 0, 0]])
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert np.all(rows > 0.0)
        assert np.all(np.isfinite(model.score_samples(X)))


def test_long_text_that_recurs_has_too_many_contexts(monkeypatch):
    monkeypatch.setattr("skdp._checks.physical_memory", lambda: 2**20)
    rng = np.random.default_rng(0)
    words = rng.integers(0, 9, 2_000)
    assert lm([words], None)._trie.order < 20
    with pytest.raises(ValueError, match=r"order=None.*would take.*an order limits it"):
        lm([words, words], None)


def test_bases():
    """An array, a fitted model and a frozen one, which a search does not lose."""
    first = lm(random_state=0)
    unigrams = first._unigrams()
    X = TokenSequences.from_sequences([[0, 1], [1]], 3)
    expected = lm(X, base=unigrams, random_state=0).predict_proba([[2]])
    for base in (first, FrozenEstimator(first), kn()):
        found = lm(X, base=base, random_state=0)
        assert np.all(np.isfinite(found.predict_proba([[2]])))
        assert len(list(found.iter_sweeps(X))) == 4
        if not isinstance(base, KneserNeyLM):
            np.testing.assert_array_equal(found.predict_proba([[2]]), expected)
    search = GridSearchCV(
        HierarchicalPitmanYorLM(2, base=FrozenEstimator(first), max_iter=4), {"order": [1]}, cv=2
    )
    assert np.isfinite(search.fit(X).best_score_)


def test_samples():
    model = lm([[0, 1, 2]] * 40, random_state=0)
    drawn = model.sample(30, random_state=0)
    assert drawn.n_features == 3
    assert [0, 1, 2] in [x.tolist() for x in drawn]
    assert drawn == model.sample(30, random_state=0)
    with pytest.warns(UserWarning, match="of 5 sequences were cut at max_length=2"):
        assert max(map(len, model.sample(5, max_length=2, random_state=0))) == 2
    model = lm([[0, 1, 2]] * 20 + [[0, 1, 2, 0, 1]] * 20, random_state=0)
    cut = []
    for seed in range(20):
        (whole,) = model.sample(random_state=seed)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            (start,) = model.sample(max_length=3, random_state=seed)
        assert start.tolist() == whole[:3].tolist()
        cut.append(len(seen))
        assert cut[-1] == (len(whole) > 3)  # not for a sequence of exactly three words
    assert 0 < sum(cut) < 20
    endless = lm([[0, 1, 2]] * 40, end_of_sequence=False)
    assert list(map(len, endless.sample(4, max_length=9))) == [9] * 4
