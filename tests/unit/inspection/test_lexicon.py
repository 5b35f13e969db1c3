import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import poisson
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skdp.data import TokenSequences
from skdp.inspection import LexiconDisplay
from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, NestedPitmanYorLM
from skdp.processes import expected_table_count

SENTENCES = [["a", "dog", "ran"], ["the", "dog", "sat"], [], ["a", "cat", "sat", "a"]]
IDS = TokenSequences.from_sequences([[0, 1, 1], [4, 1], [0, 2, 2, 2]], 6)
NAMES = ["a", "the", "dog", "no", "cat", "none"]
TEXTS = ["thedog", "thecat", "adog", "acat", "thedogsawacat", "thecatsawthedog"]


@pytest.fixture(scope="module")
def lm():
    return HierarchicalPitmanYorLM(order=2, max_iter=6, random_state=0).fit(IDS)


@pytest.fixture(scope="module")
def nested():
    return NestedPitmanYorLM(
        max_iter=4, n_samples=1, n_chains=1, anneal=None, max_word_length=6, random_state=0
    ).fit(TEXTS)


def labels_of(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def test_frequencies():
    display = LexiconDisplay(SENTENCES).plot()
    assert display.frequencies.tolist() == [3, 2, 2, 1, 1, 1]
    assert display.n_tokens == 10
    np.testing.assert_array_equal(
        display.line_.get_xydata(), [[1, 3], [2, 2], [3, 2], [4, 1], [6, 1]]
    )
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.discounts is None
    assert (display.draws_, display.law_, display.bars_) == ([], None, [])
    assert labels_of(display) == ["text"]


def test_growth():
    display = LexiconDisplay(SENTENCES).plot(kind="growth", name="mine")
    expected = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 4], [6, 5], [7, 5], [8, 6], [9, 6], [10, 6]]
    np.testing.assert_array_equal(display.line_.get_xydata(), expected)
    assert labels_of(display) == ["mine"]


def test_the_power_law_has_the_slope_of_the_discount():
    display = LexiconDisplay([[f"word {i}"] * (300 // (i + 1)) for i in range(100)], discount=0.4,
                             concentration=1.0).plot(n_draws=0)  # fmt: skip
    (x0, y0), (x1, y1) = display.law_.get_xydata()
    assert np.log(y1 / y0) / np.log(x1 / x0) == pytest.approx(-1 / 0.4)
    # Through the text at a fifth of the ranks.
    assert np.exp(np.interp(np.log(20), np.log([x0, x1]), np.log([y0, y1]))) == pytest.approx(15)
    assert y1 >= 1.0 - 1e-9
    assert labels_of(display) == ["text", "power law of d = 0.40"]


def test_no_power_law_without_discount():
    display = LexiconDisplay(SENTENCES, discount=0.0, concentration=1.0).plot(n_draws=1)
    assert display.law_ is None
    assert labels_of(display) == ["text", "draw"]


def test_the_expected_growth_is_that_of_the_process():
    display = LexiconDisplay(SENTENCES, discount=0.5, concentration=2.0)
    display.plot(kind="growth", n_draws=2, random_state=0)
    n, expected = display.law_.get_xydata().T
    np.testing.assert_allclose(expected, expected_table_count(n.astype(int), 0.5, 2.0))
    assert labels_of(display) == ["text", "2 draws", "expected"]
    for line in display.draws_:
        n, distinct = line.get_xydata().T
        assert n.tolist() == list(range(1, 11))
        assert set(np.diff(distinct).tolist()) <= {0, 1}
        assert distinct[0] == 1


@pytest.mark.parametrize("law", [{"base": np.full(9, 1 / 9)}, {"discount": [0.5, 0.2]}])
def test_no_closed_form_with_a_base_or_contexts(law):
    law = {"discount": [0.5], **law}
    concentration = np.ones(len(law["discount"]))
    display = LexiconDisplay(SENTENCES, concentration=concentration, **law)
    assert display.plot(kind="growth").law_ is None
    assert len(display.draws_) == 3


def test_lengths():
    display = LexiconDisplay(SENTENCES, word_length=2.5, max_word_length=4).plot(kind="lengths")
    distinct, every = ([bar.get_height() for bar in bars] for bars in display.bars_)
    np.testing.assert_allclose(distinct, [1 / 6, 0, 5 / 6])
    np.testing.assert_allclose(every, [0.3, 0, 0.7])
    x, law = display.law_.get_xydata().T
    weights = poisson.pmf(np.arange(1, 5), 2.5)
    assert x.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(law, weights / weights.sum())
    assert labels_of(display) == ["distinct words", "all words", "Poisson(2.5)"]
    assert display.line_ is None


def test_lengths_without_an_end():
    display = LexiconDisplay(SENTENCES, word_length=2.5).plot(kind="lengths")
    x, law = display.law_.get_xydata().T
    np.testing.assert_allclose(law, poisson.pmf(x, 2.5) / (1 - np.exp(-2.5)))
    assert law.sum() > 0.99
    assert LexiconDisplay(SENTENCES).plot(kind="lengths").law_ is None


def test_words_are_ids_or_arrays_of_ids():
    display = LexiconDisplay(IDS, feature_names=NAMES).plot(kind="lengths")
    assert display.frequencies.tolist() == [3, 3, 2, 1]
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_[0]], [0.25, 0, 0.75])
    listed = LexiconDisplay([sentence.tolist() for sentence in IDS], feature_names=NAMES)
    np.testing.assert_array_equal(listed.frequencies, display.frequencies)
    display = LexiconDisplay([[np.array([0, 1]), np.array([2])], [np.array([0, 1])]])
    assert display.frequencies.tolist() == [2, 1]
    display.plot(kind="lengths")
    np.testing.assert_allclose([bar.get_height() for bar in display.bars_[1]], [1 / 3, 2 / 3])


def test_from_a_language_model(lm):
    display = LexiconDisplay.from_estimator(lm, IDS, n_draws=2, random_state=0)
    np.testing.assert_array_equal(display.discounts, lm.discounts_)
    np.testing.assert_array_equal(display.concentrations, lm.concentrations_)
    assert display.frequencies.tolist() == [3, 3, 2, 1]
    assert len(display.draws_) == 2
    assert max(line.get_xdata().max() for line in display.draws_) <= IDS.n_features
    display = LexiconDisplay.from_estimator(lm, [[0, 1]], kind="lengths", feature_names=NAMES)
    assert labels_of(display) == ["distinct words", "all words"]


def test_the_base_of_a_language_model_has_no_end():
    base = [0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.8]
    lm = HierarchicalPitmanYorLM(1, base=base, max_iter=4, random_state=0).fit(
        TokenSequences.from_sequences([[1, 5]], 6)
    )
    display = LexiconDisplay.from_estimator(lm, [[1, 5, 5]])
    np.testing.assert_allclose(display._law.base, [0, 0.5, 0, 0, 0, 0.5])


def test_from_a_nested_model(nested):
    display = LexiconDisplay.from_estimator(nested, TEXTS, kind="lengths")
    words = nested.predict(TEXTS)
    assert display.n_tokens == sum(map(len, words))
    assert len(display.frequencies) == len({word for line in words for word in line})
    np.testing.assert_array_equal(display.discounts, nested.word_discounts_)
    assert display.law_.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert display.law_.get_ydata().sum() == pytest.approx(1.0)
    plain = clone(nested).set_params(length_correction="none").fit(TEXTS)
    assert LexiconDisplay.from_estimator(plain, TEXTS, kind="lengths").law_ is None


def test_random_state():
    display = LexiconDisplay(SENTENCES * 5, discount=0.5, concentration=2.0)
    draws = [
        [line.get_ydata().tolist() for line in display.plot(random_state=seed).draws_]
        for seed in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_given_axes():
    figure, ax = plt.subplots(layout="constrained")
    display = LexiconDisplay.from_predictions(SENTENCES, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert plt.get_fignums() == [figure.number]


def test_one_word():
    display = LexiconDisplay([["a"]], discount=0.5, concentration=1.0)
    for kind in ("rank-frequency", "growth", "lengths"):
        display.plot(kind=kind).figure_.draw_without_rendering()


def test_dollars_in_the_name_are_no_formula():
    display = LexiconDisplay(SENTENCES).plot(name="$x\n$")
    assert labels_of(display) == ["$x $"]
    display.figure_.draw_without_rendering()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a dog", "words must be a list of sentences"),
        (7, "words must be a list of sentences"),
        (["a dog", "a cat"], "sentence 0 is 'a dog'. Split text into words first"),
        ([["a"], 3], "sentence 1 is 3"),
        ([], "at least one word"),
        ([[], []], "at least one word"),
        ([["a", None]], "sentence 0 holds None"),
        ([["a", 1.5]], "sentence 0 holds 1.5"),
        (np.ma.masked_array([[1, 2]]), "masked"),
    ],
)
def test_invalid_words(words, message):
    with pytest.raises(ValueError, match=message):
        LexiconDisplay(words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"discount": 0.5}, "belong together"),
        ({"word_length": 0}, "word_length must be a positive number"),
        ({"word_length": "auto"}, "word_length must be a positive number"),
        ({"max_word_length": 0}, "max_word_length must be an integer >= 1"),
        ({"feature_names": ["a"]}, "feature_names are names of word ids"),
        ({"kind": "zipf"}, "kind must be one of 'rank-frequency', 'growth', 'lengths', got 'zipf'"),
        ({"n_draws": -1}, "n_draws must be an integer >= 0"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        LexiconDisplay.from_predictions(SENTENCES, **arguments)


def test_lengths_of_ids_need_names():
    with pytest.raises(ValueError, match='kind="lengths" needs the words themselves'):
        LexiconDisplay(IDS).plot(kind="lengths")
    with pytest.raises(ValueError, match="feature_names must hold 6 names, got 2"):
        LexiconDisplay(IDS, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="words must hold ids from 0 to 1"):
        LexiconDisplay([[0, 1, 4]], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="at least one character"):
        LexiconDisplay([[0, 1]], feature_names=["a", ""])


def test_invalid_estimators(lm, nested):
    with pytest.raises(NotFittedError):
        LexiconDisplay.from_estimator(clone(lm), IDS)
    with pytest.raises(NotFittedError):
        LexiconDisplay.from_estimator(clone(nested), TEXTS)
    with pytest.raises(TypeError, match=r"got KneserNeyLM\. from_predictions plots the words"):
        LexiconDisplay.from_estimator(KneserNeyLM(2, discount=0.5).fit(IDS), IDS)
    with pytest.raises(ValueError, match="X holds text"):
        LexiconDisplay.from_estimator(lm, TEXTS)
    with pytest.raises(ValueError, match=r"Pass \[X\]"):
        LexiconDisplay.from_estimator(nested, "thedog")
    with pytest.raises(ValueError, match="at least one word"):
        LexiconDisplay.from_estimator(lm, [[]])


def test_without_matplotlib(monkeypatch, lm):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"LexiconDisplay\.plot needs matplotlib"):
        LexiconDisplay(SENTENCES).plot()
    with pytest.raises(ImportError, match=r"pip install skdp\[plot\]"):
        LexiconDisplay.from_estimator(lm, IDS)
