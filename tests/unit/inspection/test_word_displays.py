"""Words in texts: the lexicon, segmentations of strings, and perplexities of language models."""

from random import Random

import numpy as np
import pandas as pd
import pytest
from refusals.inspection import kn
from scipy.stats import poisson
from unit.inspection.figures import check_texts, labels_of

from skdp.data import TokenSequences
from skdp.inspection import LexiconDisplay, PerplexityDisplay, SegmentationDisplay
from skdp.inspection._lexicon import WordLaw
from skdp.inspection._segmentation import break_lines, measure, split_characters
from skdp.language import HierarchicalPitmanYorLM, NestedPitmanYorLM
from skdp.processes import expected_table_count

SENTENCES = [["a", "dog", "ran"], ["the", "dog", "sat"], [], ["a", "cat", "sat", "a"]]
IDS = TokenSequences.from_sequences([[0, 1, 1], [4, 1], [0, 2, 2, 2]], 6)
NAMES = ["a", "the", "dog", "no", "cat", "none"]
TEXTS = ["thedog", "thecat", "adog", "acat", "thedogsawacat", "thecatsawthedog", "a"]


@pytest.fixture(scope="module")
def lm():
    return HierarchicalPitmanYorLM(order=2, max_iter=6, random_state=0).fit(IDS)


def nested(X, **params):
    model = NestedPitmanYorLM(
        max_iter=4, n_samples=2, n_chains=1, anneal=None, max_word_length=6, random_state=0
    )
    return model.set_params(**params).fit(X)


@pytest.fixture(scope="module")
def model():
    return nested(TEXTS)


# --- the lexicon ----------------------------------------------------------------------------------


def heights_of(bars):
    return [bar.get_height() for bar in bars]


def test_frequencies():
    display = LexiconDisplay(SENTENCES).plot()
    assert display.frequencies.tolist() == [3, 2, 2, 1, 1, 1]
    assert display.n_tokens == 10
    assert display.line_.get_xydata().tolist() == [[1, 3], [2, 2], [3, 2], [4, 1], [6, 1]]
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.discounts is None
    assert (display.draws_, display.law_, display.bars_) == ([], None, [])
    assert labels_of(display) == ["text"]
    display.plot(kind="growth", name="mine")
    expected = [[1, 1], [2, 2], [3, 3], [4, 4], [5, 4], [6, 5], [7, 5], [8, 6], [9, 6], [10, 6]]
    assert display.line_.get_xydata().tolist() == expected
    assert labels_of(display) == ["mine"]
    assert labels_of(display.plot(name="$x\n$")) == ["$x $"]
    check_texts(display)


def test_the_power_law_has_the_slope_of_the_discount():
    words = [[f"word {i}"] * (300 // (i + 1)) for i in range(100)]
    display = LexiconDisplay(words, discount=0.4, concentration=1.0).plot(n_draws=0)
    (x0, y0), (x1, y1) = display.law_.get_xydata()
    assert np.log(y1 / y0) / np.log(x1 / x0) == pytest.approx(-1 / 0.4)
    # Through the text at a fifth of the ranks.
    assert np.exp(np.interp(np.log(20), np.log([x0, x1]), np.log([y0, y1]))) == pytest.approx(15)
    assert y1 >= 1.0 - 1e-9
    assert labels_of(display) == ["text", "power law of d = 0.40"]
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
    drawn = [
        [line.get_ydata().tolist() for line in display.plot(random_state=seed).draws_]
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("law", [{"base": np.full(9, 1 / 9)}, {"discount": [0.5, 0.2]}])
def test_no_closed_form_with_a_base_or_contexts(law):
    law = {"discount": [0.5], **law}
    display = LexiconDisplay(SENTENCES, concentration=np.ones(len(law["discount"])), **law)
    assert display.plot(kind="growth").law_ is None
    assert len(display.draws_) == 3


def test_lengths():
    display = LexiconDisplay(SENTENCES, word_length=2.5, max_word_length=4).plot(kind="lengths")
    distinct, every = map(heights_of, display.bars_)
    np.testing.assert_allclose(distinct, [1 / 6, 0, 5 / 6])
    np.testing.assert_allclose(every, [0.3, 0, 0.7])
    x, law = display.law_.get_xydata().T
    weights = poisson.pmf(np.arange(1, 5), 2.5)
    assert x.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(law, weights / weights.sum())
    assert labels_of(display) == ["distinct words", "all words", "Poisson(2.5)"]
    assert display.line_ is None
    without_end = LexiconDisplay(SENTENCES, word_length=2.5).plot(kind="lengths")
    x, law = without_end.law_.get_xydata().T
    np.testing.assert_allclose(law, poisson.pmf(x, 2.5) / (1 - np.exp(-2.5)))
    assert law.sum() > 0.99
    assert LexiconDisplay(SENTENCES).plot(kind="lengths").law_ is None
    display = LexiconDisplay([["a"]], discount=0.5, concentration=1.0)
    for kind in ("rank-frequency", "growth", "lengths"):
        check_texts(display.plot(kind=kind))


def test_words_are_ids_or_arrays_of_ids():
    display = LexiconDisplay(IDS, feature_names=NAMES).plot(kind="lengths")
    assert display.frequencies.tolist() == [3, 3, 2, 1]
    np.testing.assert_allclose(heights_of(display.bars_[0]), [0.25, 0, 0.75])
    listed = LexiconDisplay([sentence.tolist() for sentence in IDS], feature_names=NAMES)
    np.testing.assert_array_equal(listed.frequencies, display.frequencies)
    display = LexiconDisplay([[np.array([0, 1]), np.array([2])], [np.array([0, 1])]])
    assert display.frequencies.tolist() == [2, 1]
    np.testing.assert_allclose(heights_of(display.plot(kind="lengths").bars_[1]), [1 / 3, 2 / 3])


def test_lexicon_of_a_language_model(lm):
    display = LexiconDisplay.from_estimator(lm, IDS, n_draws=2, random_state=0)
    np.testing.assert_array_equal(display.discounts, lm.discounts_)
    np.testing.assert_array_equal(display.concentrations, lm.concentrations_)
    assert display.frequencies.tolist() == [3, 3, 2, 1]
    assert max(line.get_xdata().max() for line in display.draws_) <= IDS.n_features
    display = LexiconDisplay.from_estimator(lm, [[0, 1]], kind="lengths", feature_names=NAMES)
    assert labels_of(display) == ["distinct words", "all words"]
    base = [0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.8]
    short = TokenSequences.from_sequences([[1, 5]], 6)
    based = HierarchicalPitmanYorLM(1, base=base, max_iter=4, random_state=0).fit(short)
    display = LexiconDisplay.from_estimator(based, [[1, 5, 5]])
    np.testing.assert_allclose(display._law.base, [0, 0.5, 0, 0, 0, 0.5])  # without the end


def test_lexicon_of_a_nested_model(model):
    display = LexiconDisplay.from_estimator(model, TEXTS, kind="lengths")
    words = model.predict(TEXTS)
    assert display.n_tokens == sum(map(len, words))
    assert len(display.frequencies) == len({word for line in words for word in line})
    np.testing.assert_array_equal(display.discounts, model.word_discounts_)
    assert display.law_.get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert display.law_.get_ydata().sum() == pytest.approx(1.0)
    plain = nested(TEXTS, length_correction="none")
    assert LexiconDisplay.from_estimator(plain, TEXTS, kind="lengths").law_ is None


def test_laws_of_words():
    assert WordLaw.of(None, None, None) is None
    law = WordLaw.of(0.5, 2, None)
    assert (law.discounts.tolist(), law.concentrations.tolist()) == ([0.5], [2.0])
    law = WordLaw.of([0.5, 0.5], [1.0, 1.0], [0.5, 0.5])
    words = law.draw(np.array([3, 0, 2]), Random(0))
    assert words.shape == (5,)
    assert set(words.tolist()) <= {0, 1}
    assert law.draw(np.array([0]), Random(0)).shape == (0,)
    np.testing.assert_array_equal(law.draw(np.array([3, 0, 2]), Random(0)), words)
    words = WordLaw.of(0.9, 5.0, None).draw(np.array([200]), Random(0))
    _, first = np.unique(words, return_index=True)
    assert np.all(np.diff(first) > 0)  # new words are numbered as they come
    assert words.max() + 1 == len(first)


# --- segmentations of strings ---------------------------------------------------------------------

PROBABILITIES = [0.1, 0.0, 0.9, 0.6, 0.2]


def words_of(display):
    """Return the characters whose middle is in each box."""
    words = []
    for path in display.boxes_.get_paths():
        box = path.get_extents()
        words.append("".join(
            text.get_text() for text in display.texts_ if box.contains(*text.get_position())
        ))  # fmt: skip
    return words


def places_of(display, name):
    return np.round(display.marks_[name].get_xdata()).astype(int).tolist()


def test_words_and_bars():
    display = SegmentationDisplay("thedog", PROBABILITIES).plot()
    assert display.predicted.tolist() == [0, 0, 1, 1, 0]
    assert words_of(display) == ["the", "d", "og"]
    bars = display.bars_.get_segments()
    assert [bar[0][0] for bar in bars] == [1, 3, 4, 5]
    heights = np.array([bar[1][1] - bar[0][1] for bar in bars])
    np.testing.assert_allclose(heights / heights[1] * 0.9, [0.1, 0.9, 0.6, 0.2])
    assert labels_of(display) == ["probability of a cut"]
    assert display.marks_ == {}
    assert display.ax_.get_title(loc="left") == ""


def test_true_and_known_cuts():
    display = SegmentationDisplay.from_predictions(
        "thedog", PROBABILITIES, [0, 0, 1, 1, 0], [0, 1, 1, 0, -1]
    )
    assert places_of(display, "true cut, found") == [3]
    assert places_of(display, "true cut, missed") == [2]
    assert places_of(display, "cut that is not true") == [4]
    assert display.ax_.get_title(loc="left") == "1 of 2 true cuts found, 1 others"
    assert len(labels_of(display)) == 4
    known = [-1, 0, 1, -1, -1]
    display = SegmentationDisplay("thedog", PROBABILITIES, true=["the", "dog"], known=known).plot()
    assert places_of(display, "known: a cut") == [3]
    assert places_of(display, "known: no cut") == [2]
    heights = {name: mark.get_ydata() for name, mark in display.marks_.items()}
    assert heights["known: a cut"][0] < heights["true cut, found"][0]
    display = SegmentationDisplay("thedog", PROBABILITIES, ["th", "edog"], ["the", "dog"])
    assert display.predicted.tolist() == [0, 1, 0, 0, 0]
    assert display.true.tolist() == [0, 0, 1, 0, 0]


def test_lines_of_characters():
    """They end with words where they can."""
    probabilities = np.zeros(199)
    probabilities[4::5] = 1.0
    display = SegmentationDisplay("abcde" * 40, probabilities).plot(width=32)
    rows = {text.get_position()[1] for text in display.texts_}
    assert len(rows) == 7  # of 30 columns
    assert words_of(display) == ["abcde"] * 40
    assert max(text.get_position()[0] for text in display.texts_) < 30
    assert len(display.bars_.get_segments()) == 39
    display = SegmentationDisplay("abcdefghij", np.zeros(9)).plot(width=6)
    assert words_of(display) == ["abcdef", "ghij"]
    display = SegmentationDisplay("a", []).plot()
    assert words_of(display) == ["a"]
    assert display.predicted.shape == (0,)
    assert len(display.bars_.get_segments()) == 0
    assert SegmentationDisplay("a", [], ["a"], ["a"]).true.shape == (0,)


def test_characters_do_not_overlap():
    """But for pixels of anti-aliasing."""
    display = SegmentationDisplay("thedogmWWW" * 12, np.full(119, 0.3)).plot()
    check_texts(display, touch=1.5)


ACUTE, JOINER = "\N{COMBINING ACUTE ACCENT}", "\N{ZERO WIDTH JOINER}"


def lines_of(text, width, cuts=()):
    characters = split_characters(text)
    is_cut = np.zeros(len(characters) - 1, dtype=bool)
    is_cut[list(cuts)] = True
    return break_lines(characters, is_cut, width)


def texts_of(lines):
    return ["".join(text for text, _ in line.clusters) for line in lines]


def test_characters_as_drawn():
    assert split_characters("a b\n\x00") == ["a", "␣", "b", "␣", "\N{REPLACEMENT CHARACTER}"]
    assert split_characters([3, "xy", ""]) == ["3", "xy", "␣"]
    assert measure(split_characters(f"a日e{ACUTE}{JOINER}")).tolist() == [1, 2, 1, 0, 0]
    assert measure(["a", "12", "日本"]).tolist() == [2, 3, 5]  # with a space between names


def test_where_lines_end():
    assert texts_of(lines_of("thedogranfast", 10, cuts=[2, 5, 8])) == ["thedogran", "fast"]
    # No word ends in the last third of the line.
    assert texts_of(lines_of("thedogranfast", 10, cuts=[2])) == ["thedogranf", "ast"]
    assert texts_of(lines_of("thedog", 6)) == texts_of(lines_of("thedog", 60)) == ["thedog"]
    assert texts_of(lines_of("日本", 1)) == ["日", "本"]
    lines = lines_of("abcdefghij" * 7, 13, cuts=range(3, 60, 4))
    assert [line.start for line in lines[1:]] == [line.end for line in lines[:-1]]
    assert (lines[0].start, lines[-1].end) == (0, 70)
    assert "".join(texts_of(lines)) == "abcdefghij" * 7
    assert max(line.ends[-1] for line in lines) <= 13


def test_marks_stay_with_the_character_before_them():
    (line,) = lines_of(f"e{ACUTE}日a", 60)
    assert line.clusters == [(f"e{ACUTE}", 0.5), ("日", 2.0), ("a", 3.5)]
    assert line.ends.tolist() == [0.6, 1.0, 3.0, 4.0]
    assert texts_of(lines_of(f"ab{ACUTE}c", 2)) == [f"ab{ACUTE}", "c"]
    (alone,) = lines_of(ACUTE, 60)
    assert alone.clusters == [(ACUTE, 0.0)]


@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
def test_combining_and_wide_characters():
    text = f"cafe{ACUTE}日本$x$ \n"
    display = SegmentationDisplay(text, np.full(len(text) - 1, 0.2)).plot()
    display.figure_.draw_without_rendering()
    drawn = [t.get_text() for t in display.texts_]
    assert drawn == [*"caf", f"e{ACUTE}", *"日本$x$␣␣"]
    ends = [bar[0][0] for bar in display.bars_.get_segments()]
    assert ends == [1, 2, 3, 3.6, 4, 6, 8, 9, 10, 11, 12]


def test_segmentation_of_a_model(model):
    y = [0, 0, 1, 0, 0]
    display = SegmentationDisplay.from_estimator(model, TEXTS, y)
    np.testing.assert_array_equal(display.probabilities, model.predict_proba(TEXTS[:1])[0])
    assert words_of(display) == model.predict(TEXTS[:1])[0]
    assert display.true.tolist() == y
    display = SegmentationDisplay.from_estimator(model, np.array(TEXTS), sample=4, width=40)
    assert words_of(display) == model.predict(TEXTS[4:5])[0]
    assert words_of(SegmentationDisplay.from_estimator(model, TEXTS, sample=6)) == ["a"]


def test_segmentation_of_ids():
    X = np.array([[0, 1, 2, 0], [2, 0, 1, 1], [0, 1, 0, 1]])
    for data in (X.tolist(), X, pd.DataFrame(X)):
        model = nested(data, max_word_length=3)
        display = SegmentationDisplay.from_estimator(model, data, sample=1)
        assert display.characters == list("2011")
    names = ["ka", "ri", "n"]
    display = SegmentationDisplay.from_estimator(model, data, sample=1, feature_names=names)
    assert display.characters == ["n", "ka", "ri", "ri"]
    words = model.predict(data[1:2])[0]
    assert words_of(display) == ["".join(names[i] for i in word) for word in words]


# --- perplexities ---------------------------------------------------------------------------------

TRAIN = TokenSequences.from_sequences([[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]], 3)
TEST = [[0, 1, 2], [0, 2]]


def test_perplexities():
    """Each class has a line unless labels or a dict say otherwise."""
    plain = [kn(TRAIN, order) for order in (3, 1, 2)]
    bayes = [HierarchicalPitmanYorLM(m, max_iter=4, random_state=0).fit(TRAIN) for m in (1, 2)]
    compare = PerplexityDisplay.from_estimators
    display = compare([*plain, *bayes], TEST)
    assert labels_of(display) == ["KneserNeyLM", "HierarchicalPitmanYorLM"]
    first, second = display.lines_
    assert first.get_xdata().tolist() == [1, 2, 3]
    expected = [plain[i].perplexity(TEST) for i in (1, 2, 0)]
    np.testing.assert_array_equal(first.get_ydata(), expected)
    assert second.get_xdata().tolist() == [1, 2]
    assert display.ax_.get_xticks().tolist() == [1, 2, 3]
    assert display.ax_.get_xlabel() == "order"
    assert first.get_color() != second.get_color()
    assert first.get_marker() != second.get_marker()
    display = compare(plain, TEST, labels=["a", "b", "b"])
    curves = {label: list(curve) for label, curve in display.perplexities.items()}
    assert curves == {"a": [3], "b": [1, 2]}
    display = compare({"many": plain, "$one$": bayes[1]}, TEST)
    assert labels_of(display) == ["many", "$one$"]
    assert list(display.perplexities["$one$"]) == [2]
    check_texts(display)
    display = compare(plain[0], TEST)
    assert display.ax_.get_xticks().tolist() == [3]
    assert display.ax_.get_xlim() == (2.0, 4.0)
    assert display.lines_[0].get_marker() == "o"
    given = PerplexityDisplay({"a": {2: 90, 1: 100.0}}).plot()
    assert given.lines_[0].get_xydata().tolist() == [[1, 100], [2, 90]]
