"""Input, results and continuation of NestedPitmanYorLM."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from skdp.data import TokenSequences
from skdp.feature_extraction import TokenVectorizer
from skdp.language import HierarchicalPitmanYorLM, NestedPitmanYorLM, strip_spaces
from skdp.language._nested import _layout
from skdp.topics import GibbsLDA

SPACED = ["the dog ran", "a dog sat", "the cat sat", "a cat ran", "the dog and a cat ran"] * 8
X, Y = strip_spaces(SPACED)
ALPHABET = sorted(set("".join(X)))
IDS = [[ALPHABET.index(c) for c in text] for text in X]
pytestmark = pytest.mark.filterwarnings(
    "ignore:The log joint:sklearn.exceptions.ConvergenceWarning"
)


def model(*args, **params):
    return NestedPitmanYorLM(
        *args, **{"max_iter": 8, "anneal": (1.5, 4), "n_chains": 1, "random_state": 0, **params}
    )


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model(n_chains=2).fit(X)


def test_strip_spaces():
    assert X[0] == "thedogran"
    assert Y[0].tolist() == [0, 0, 1, 0, 0, 1, 0, 0]
    assert Y[0].dtype == np.int8
    texts, cuts = strip_spaces(["", " a\t\u3000b ", "x", " "])
    assert texts == ["", "ab", "x", ""]
    assert [c.tolist() for c in cuts] == [[], [1], [], []]
    assert strip_spaces(["\ufeffa b"])[0] == ["ab"]
    for wrong in ("a b", ["a", 1], [["a"]]):
        with pytest.raises(TypeError, match="texts must be a list of strings"):
            strip_spaces(wrong)


def test_byte_order_marks(fitted):
    marked = ["\ufeff" + X[0], *X[1:]]
    other = model(n_chains=2).fit(marked)
    assert other.alphabet_ == fitted.alphabet_
    assert other.predict(marked[:2]) == fitted.predict(X[:2])
    np.testing.assert_array_equal(fitted.score_samples(marked), fitted.score_samples(X))


def one_string(**params):
    return model(max_iter=2, anneal=None, **params)


@pytest.mark.parametrize("is_text", [True, False], ids=["text", "ids"])
def test_a_text_that_nobody_cut(is_text):
    """Its words would be learned from other strings, and there are none."""
    text, ids = "".join(X * 5), [letter for _ in range(5) for sample in IDS for letter in sample]
    with pytest.warns(UserWarning, match="one string, of 1920 characters.*cut it into lines"):
        one_string().fit([text, ""] if is_text else [ids, []])


@pytest.mark.parametrize("texts", [["".join(X)], ["".join(X * 5)] * 2], ids=["short", "two"])
def test_other_texts_are_let_be(texts):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "one string")
        one_string().fit(texts)


def test_one_string_is_no_list():
    with pytest.raises(ValueError, match=r"got one string, .*such as X\.splitlines\(\)"):
        model().fit("thedog")


def test_words_join_to_the_string(fitted):
    for method in ("mbr", "viterbi"):
        fitted.set_params(predict_method=method)
        assert ["".join(words) for words in fitted.predict(X)] == X
    fitted.set_params(predict_method="mbr")


def test_kernels_get_strings_in_portions(fitted, monkeypatch):
    """How many letters go through a kernel at a time does not matter."""
    fit, words, scores = model().fit(X), fitted.predict(X), fitted.score_samples(X)
    cuts = np.concatenate(fitted.predict_proba(X))
    monkeypatch.setattr(_layout, "_LETTERS_A_CALL", 20)
    assert len(list(_layout.portions(np.array([len(x) for x in X])))) > 10
    assert fitted.predict(X) == words
    np.testing.assert_array_equal(fitted.score_samples(X), scores)
    np.testing.assert_array_equal(np.concatenate(fitted.predict_proba(X)), cuts)
    again = model().fit(X)
    assert again.trace_["log_joint"].tolist() == fit.trace_["log_joint"].tolist()


@pytest.mark.parametrize("init", ["online", "whole"])
def test_lengths_far_beyond_the_mean(init):
    """Poisson probabilities of 100 letters underflow; a log joint does not."""
    lm = model(word_length=0.001, max_word_length=100, init=init).fit(["abcabc" * 20] * 3)
    assert np.isfinite(lm.trace_["log_joint"]).all()
    assert "".join(lm.predict(["abcabc" * 20])[0]) == "abcabc" * 20


def test_lexicon(fitted):
    assert list(fitted.lexicon_counts_) == sorted(fitted.lexicon_counts_, reverse=True)
    assert fitted.lexicon_counts_.min() > 0.0
    letters = sum(
        len(word) * n for word, n in zip(fitted.lexicon_, fitted.lexicon_counts_, strict=True)
    )
    assert letters == pytest.approx(sum(map(len, X)))


def test_transform_and_back(fitted):
    sequences = fitted.transform([*X, "zzz", ""])
    assert isinstance(sequences, TokenSequences)
    assert sequences.n_features == len(fitted.lexicon_) + 1
    words = fitted.inverse_transform(sequences)
    known = set(fitted.lexicon_)
    expected = [[w if w in known else None for w in of] for of in fitted.predict([*X, "zzz", ""])]
    assert words == expected
    assert words[-1] == []
    assert None in words[-2]
    assert fitted.inverse_transform([[0]]) == [[fitted.lexicon_[0]]]
    with pytest.raises(ValueError, match="X must hold ids of"):
        fitted.inverse_transform(TokenSequences.from_sequences([[10**6]]))


def test_scores(fitted):
    samples = fitted.score_samples(X)
    assert fitted.score(X) == pytest.approx(samples.sum() / sum(map(len, X)))
    assert fitted.perplexity(X) == pytest.approx(np.exp(-fitted.score(X)))
    assert np.isfinite(fitted.score_samples(["", "z", "é", "\U00010000x", "\ud800"])).all()
    with pytest.raises(ValueError, match="no characters to score"):
        fitted.score([""])


def test_cut_probabilities(fitted):
    found = fitted.predict_proba(["", "a", *X])
    assert [len(p) for p in found] == [0, 0, *(len(text) - 1 for text in X)]
    assert all(((p >= 0.0) & (p <= 1.0)).all() for p in found)


def test_a_sample_does_not_depend_on_the_others(fitted):
    alone = [fitted.score_samples([text])[0] for text in X[:5]]
    np.testing.assert_allclose(fitted.score_samples(X[:5][::-1])[::-1], alone, rtol=1e-12)
    assert [fitted.predict([text])[0] for text in X[:5]] == fitted.predict(X[:5])


def test_ids_as_strings(fitted):
    of_ids = model(n_chains=2).fit(IDS)
    assert of_ids.alphabet_ is None
    assert fitted.alphabet_ == ALPHABET
    words = [["".join(ALPHABET[x] for x in w) for w in of] for of in of_ids.predict(IDS)]
    assert words == fitted.predict(X)
    assert of_ids.score(IDS) == fitted.score(X)
    assert fitted.score(IDS) == fitted.score(X)
    sequences = TokenSequences.from_sequences(IDS)
    assert clone(of_ids).fit(sequences).score(sequences) == fitted.score(X)
    with pytest.raises(ValueError, match="was fitted on ids of characters"):
        of_ids.predict(X)
    with pytest.raises(ValueError, match="word id"):
        of_ids.predict([[len(ALPHABET)]])


def test_rows_of_an_array():
    rows = np.random.default_rng(0).integers(0, 3, (30, 6))
    estimator = model().fit(rows)
    assert estimator.n_features_in_ == 6
    assert [len(p) for p in estimator.predict_proba(rows)] == [5] * 30
    with pytest.raises(ValueError, match="expecting 6 features"):
        estimator.predict([[0, 1]])


def test_known_cuts():
    estimator = model(warm_start=True).fit(X, Y)
    assert estimator.segmentations_ == [text.split() for text in SPACED]
    half = [y if i % 2 else None for i, y in enumerate(Y)]
    estimator = model(warm_start=True).fit(X, half)
    assert estimator.segmentations_[1::2] == [text.split() for text in SPACED[1::2]]
    labels = np.arange(len(X)) % 2
    expected = model().fit(X).score(X)
    assert model().fit(X, labels).score(X) == expected
    assert model().fit(X, ["a"] * len(X)).score(X) == expected


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:3], "known cuts of 40 samples, got 3"),
        ([np.zeros(3), *Y[1:]], "sample 0 has 8 places"),
        ([*Y[:-1], np.full(len(Y[-1]), 2)], "sample 39 has"),
    ],
)
def test_wrong_cuts(y, message):
    with pytest.raises(ValueError, match=message):
        model().fit(X, y)


def test_words_that_are_too_long():
    """The message contains the longest requirement of all samples."""
    y = [np.zeros(len(cuts)) for cuts in Y]
    message = "in sample 4 so that a word would have 16 .*: raise max_word_length to 16"
    with pytest.raises(ValueError, match=message):
        model(max_word_length=7).fit(X, y)
    estimator = model(max_word_length=16, max_iter=2, anneal=None).fit(X, y)
    assert X[4] in estimator.lexicon_


def test_long_words_by_default():
    texts, y = strip_spaces(["a characteristically long word", "an internationalization"] * 3)
    lexicon = model(max_iter=2, anneal=None).fit(texts, y).lexicon_
    assert {"characteristically", "internationalization"} < set(lexicon)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"anneal": (1.5, 5)}, "anneal must not outlast the burn-in"),
        ({"anneal": (0.5, 2)}, "anneal must be a temperature"),
        ({"anneal": (1.5, 1.5)}, "anneal must be a temperature"),
        ({"anneal": (1.5,)}, "anneal must be a temperature"),
        ({"anneal": "always"}, "anneal"),
        ({"length_correction": [1.0]}, "length_correction must hold max_word_length=20"),
        ({"length_correction": [0.0] * 20}, "length_correction must hold"),
        ({"length_correction": "gamma"}, "length_correction"),
        ({"length_correction": "none", "word_length": 4}, "word_length has no effect without"),
        ({"length_correction": [1.0] * 20, "word_length": "auto"}, "word_length has no effect"),
        ({"length_correction": "none", "length_prior": (1, 1)}, "length_prior has no effect"),
        ({"word_order": 4}, "word_order"),
        ({"word_order": 0}, "word_order"),
        ({"character_order": 0}, "character_order"),
        ({"discount": 1.0}, "discount"),
        ({"discount": (0.5, [0.1, 0.2])}, "discount must hold, for words and for characters"),
        ({"discount": (0.5, 0.5, 0.5)}, "discount must be a number, 'auto' or a pair"),
        ({"concentration": (0.0, 1.0)}, "concentration must hold"),
        ({"end_probability": 1.0}, "end_probability"),
        ({"end_probability": "learned"}, "end_probability"),
        ({"end_probability": "auto", "end_probability_prior": (0.0, 1.0)}, "end_probability_prior"),
        ({"word_length": "poisson"}, "word_length"),
        ({"length_prior": (0.0, 1.0)}, "length_prior"),
        ({"init": "random"}, "init"),
        ({"word_price": 1.5}, "word_price"),
        ({"type_moves": -1.0}, "type_moves"),
        ({"burn_in": 8}, "burn_in must be smaller than max_iter"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        model(**params).fit(X)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("thedog", "X must be a list of strings"),
        ([""], "Found array with 0 feature"),
        (["", ""], "Found array with 0 feature"),
        (np.array([[0, -1]]), "Negative values"),
        ([[0, -1]], "sentence 0: word id -1 is out of range"),
        ([], "0 sample"),
    ],
)
def test_wrong_data(data, message):
    with pytest.raises(ValueError, match=message):
        model().fit(data)


def test_one_string_to_predict(fitted):
    with pytest.raises(ValueError, match=r"got one string, 'thedog'. Pass \[X\]"):
        fitted.predict("thedog")


@pytest.mark.parametrize(
    "params",
    [
        {"word_order": 1},
        {"character_order": 1},
        {"character_order": 6, "max_word_length": 2},
        {"max_word_length": 1},
        {"length_correction": "none"},
        {"length_correction": np.arange(1.0, 21.0)},
        {"word_length": "auto"},
        {"word_length": "auto", "length_prior": (20.0, 10.0)},
        {"word_length": 3.0},
        {"end_probability": "auto", "end_probability_prior": (2.0, 1.0)},
        {"discount": 0.0, "concentration": 1.0},
        {"discount": ("auto", 0.3), "concentration": ([1.0, 2.0], "auto")},
        {"init": "whole", "anneal": None},
        {"type_moves": 2.0, "max_word_length": 1},
        {"type_moves": 2.0, "word_order": 1},
    ],
    ids=str,
)
def test_every_parameter(params):
    estimator = model(**params).fit([*X, "", "t"])
    assert ["".join(words) for words in estimator.predict(X)] == X
    longest = max(len(word) for words in estimator.predict(X) for word in words)
    assert longest <= estimator.max_word_length
    assert len(estimator.word_discounts_) == estimator.word_order
    assert len(estimator.character_concentrations_) == estimator.character_order
    if "concentration" in params and not isinstance(params["concentration"], float):
        assert estimator.word_concentrations_.tolist() == [1.0, 2.0]
        assert estimator.character_discounts_.tolist() == [0.3] * 4
    is_poisson = "length_correction" not in params
    assert is_poisson == hasattr(estimator, "word_length_") == ("word_length" in estimator.trace_)
    for name in ("word_length", "end_probability")[not is_poisson :]:
        values = estimator.trace_[name]
        if params.get(name) == "auto":
            assert values.std() > 0.0
            assert getattr(estimator, f"{name}_") == pytest.approx(values.mean())
        else:
            given = params.get(name, {"word_length": 7.0, "end_probability": 0.95}[name])
            assert (values == given).all()
            assert getattr(estimator, f"{name}_") == given


@pytest.mark.slow
@pytest.mark.parametrize("init", ["online", "whole"])
def test_two_words_of_context(init):
    """All methods and moves with ``word_order=3``, which has separate kernels."""
    params = {"burn_in": 4, "warm_start": True, "type_moves": 1.0, "init": init}
    texts = [*X, "", "t"]
    estimator = model(word_order=3, **params).fit(texts)
    assert ["".join(words) for words in estimator.predict(texts)] == texts
    assert len(estimator.word_discounts_) == 3
    assert estimator.trace_["acceptance"].min() > 0.5
    for state in model(word_order=3, **params).iter_sweeps(texts):
        assert state.word_tables[1] >= state.word_tables[0] > 0
        assert state.word_tables[2] > 0
    first = model(3, max_iter=5, **params).fit(texts)
    second = pickle.loads(pickle.dumps(first)).set_params(max_iter=8).fit(texts)
    assert second.segmentations_ == estimator.segmentations_
    assert second.trace_["log_joint"].tolist() == estimator.trace_["log_joint"].tolist()
    known = model(3, warm_start=True).fit(X, Y)
    assert known.segmentations_ == [text.split() for text in SPACED]
    # A text of known words knows the word that two others ask for.
    assert known.score_samples(["adogsat"]) > known.score_samples(["adogran"])


@pytest.mark.slow
def test_two_words_of_context_in_long_strings():
    """Each rescaling leaves the probability of the rest as it is; no underflow."""
    rng = np.random.default_rng(0)
    text = "".join(rng.choice(["the", "dog", "ran", "acat", "sat"], 4000))[:10_000]
    estimator = model(word_order=3, max_iter=4, anneal=None).fit([text, "\u4e00" * 3])
    assert ["".join(w) for w in estimator.predict([text])] == [text]
    score = estimator.score_samples([text])[0]
    assert -20_000 < score < -1000
    halves = estimator.score_samples([text[:5000], text[5000:]]).sum()
    assert abs(score - halves) < 50.0
    assert 0.05 < estimator.predict_proba([text])[0].mean() < 0.9  # words have up to 20 letters
    strange = "".join(chr(0x5000 + i % 3000) for i in range(10_000))
    assert np.isfinite(estimator.score([strange]))


@pytest.mark.parametrize("longest", [3, 12])
def test_first_state_of_whole_strings(longest):
    """No cut but those that are known, or that the longest word asks for."""
    texts = ["abcdefgh", "ab", "abcabcab", "a"]
    cuts = [None, [0], [-1, 0, 0, 1, 0, -1, -1], None]
    y = [cut if cut is None else np.array(cut) for cut in cuts]
    estimator = model(init="whole", anneal=None, max_word_length=longest)
    strings = estimator._check_input(texts, y)
    sampler = estimator._start_sampler(strings, np.random.SeedSequence(0), 0)
    words = [["".join("abcdefgh"[x] for x in word) for word in of] for of in sampler.segmentation()]
    if longest == 12:
        assert words == [["abcdefgh"], ["ab"], ["abca", "bcab"], ["a"]]
    else:
        assert words == [["abc", "def", "gh"], ["ab"], ["a", "bca", "bca", "b"], ["a"]]
    assert sampler.tables_of_levels()[-1] >= len({word for of in words for word in of})


def test_jobs_do_not_matter():
    one, two = (model(n_chains=2, n_jobs=n).fit(X) for n in (1, 2))
    assert one.score(X) == two.score(X)
    assert one.lexicon_ == two.lexicon_


@pytest.mark.parametrize("moves", [0.0, 1.0])
def test_going_on(moves):
    """A fit in two parts, pickled between them, is one in a whole, bit for bit."""
    params = {"burn_in": 4, "warm_start": True, "type_moves": moves}
    straight = model(**params).fit(X)
    first = model(max_iter=5, **params).fit(X)
    second = pickle.loads(pickle.dumps(first)).set_params(max_iter=8).fit(X)
    assert second.segmentations_ == straight.segmentations_
    assert second.score(X) == straight.score(X)
    assert second.trace_["log_joint"].tolist() == straight.trace_["log_joint"].tolist()
    with pytest.raises(ValueError, match="needs the same X"):
        second.fit(X[1:])


def test_state():
    states = [state.copy() for state in model().iter_sweeps(X)]
    *_, live = model().iter_sweeps(X)
    assert len(states) == 8
    last = states[-1]
    assert np.array_equal(last.cuts, live.cuts)
    assert last.log_joint() == live.log_joint()
    assert not live.cuts.flags.writeable
    assert last.word_tables.shape == last.word_discounts.shape == (2,)
    assert last.character_tables.shape == last.character_concentrations.shape == (4,)
    assert last.word_tables[1] >= last.word_tables[0] > 0
    assert last.character_discounts.shape == last.word_concentrations[:1].repeat(4).shape
    assert last.word_length == 7.0
    assert last.end_probability == 0.95
    assert states[0].log_joint() != last.log_joint()


def test_pickle_is_small(fitted):
    other = pickle.loads(pickle.dumps(fitted))
    assert other.score(X) == fitted.score(X)
    assert len(pickle.dumps(fitted)) < 200_000


def test_words_feed_a_topic_model():
    words = model().fit_transform(X)
    documents = [[sequence.tolist()] for sequence in words]
    assert GibbsLDA(2, max_iter=4).fit(documents).components_.shape[0] == 2
    lengths = make_pipeline(model()).fit_transform(X)
    assert lengths.tokens.tolist() == words.tokens.tolist()


@pytest.mark.parametrize("kind", [tuple, np.array, lambda X: np.array(X, dtype=object)])
def test_kinds_of_strings(fitted, kind):
    assert fitted.predict(kind(X)) == fitted.predict(X)
    assert model(n_chains=2).fit(kind(X)).score(kind(X[:3])) == fitted.score(X[:3])


def test_columns_of_strings(fitted):
    pd = pytest.importorskip("pandas")
    column = pd.Series(X, index=range(7, 7 + len(X)))
    assert fitted.predict(column) == fitted.predict(X)
    known = model(warm_start=True).fit(column, pd.Series(Y, index=column.index))
    assert known.segmentations_ == [text.split() for text in SPACED]
    with pytest.raises(ValueError, match=r"one column of strings.*X\['text'\]"):
        fitted.predict(pd.DataFrame({"id": range(len(X)), "text": X}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([["the", "dog"], ["a", "cat"]], r"characters: sample 0 is a list of words, \['the'.*join"),
        ([[], np.array(["the", "dog"])], "sample 1 is a list of words"),
        (["thedog", None], "sample 1 is None"),
        (["thedog", [0, 1]], r"sample 1 is \[0, 1\]"),
        ([b"thedog", b"acat"], "sample 0 is b'thedog'.*Decode"),
    ],
)
def test_text_of_another_kind(fitted, wrong, message):
    for use in (model().fit, fitted.predict, fitted.score):
        with pytest.raises(ValueError, match=message):
            use(wrong)


def test_characters_of_a_vectorizer(fitted):
    """Without a class of unknown characters, ids are as in strings, and so is everything else."""
    pipeline = make_pipeline(
        TokenVectorizer(analyzer="char", min_count=1, unknown_words="drop"), model(n_chains=2)
    ).fit(X)
    assert pipeline.score(X) == fitted.score(X)
    assert pipeline.score_samples(X).tolist() == fitted.score_samples(X).tolist()
    for found, expected in zip(pipeline.predict_proba(X), fitted.predict_proba(X), strict=True):
        assert found.tolist() == expected.tolist()
    words = [pipeline[0].inverse_transform(words) for words in pipeline.predict(X)]
    assert [["".join(word) for word in of] for of in words] == fitted.predict(X)
    assert pipeline.transform(X).tokens.tolist() == fitted.transform(X).tokens.tolist()
    known = pipeline.set_params(nestedpitmanyorlm__warm_start=True).fit(X, Y)[-1]
    assert [len(words) for words in known.segmentations_] == [len(t.split()) for t in SPACED]


def test_characters_to_words_to_a_language_model():
    pipeline = make_pipeline(
        TokenVectorizer(analyzer="char"), model(), HierarchicalPitmanYorLM(2, max_iter=4)
    ).fit(X, Y)
    assert pipeline[-1].n_features_in_ == len({w for text in SPACED for w in text.split()}) + 1
    assert -5.0 < pipeline.score([*X, "thez"]) < 0.0


def test_language_model_of_characters():
    pipeline = make_pipeline(
        TokenVectorizer(analyzer="char"), HierarchicalPitmanYorLM(4, max_iter=8, random_state=0)
    ).fit(SPACED)
    assert pipeline.score(["the dog ran"]) > pipeline.score(["nar god eht"])
    drawn = pipeline[-1].sample(5, random_state=0)
    texts = ["".join(text) for text in pipeline[0].inverse_transform(drawn)]
    assert {letter for text in texts for letter in text} <= {" ", *ALPHABET}


def test_sweeps_with_known_cuts():
    """`iter_sweeps` takes what is known of the cuts, and runs the chain that `fit` runs."""
    *_, live = model().iter_sweeps(X, Y)
    assert live.cuts[: len(X[0]) - 1].tolist() == Y[0].tolist()
    with_y = model(warm_start=True).fit(X, Y)
    assert live.log_joint() == with_y.trace_["log_joint"][0, -1]
    with pytest.raises(ValueError, match="y must hold known cuts of 40 samples, got 2"):
        model().iter_sweeps(X, Y[:2])


def test_long_strings():
    """No underflow, and time in proportion to the length."""
    rng = np.random.default_rng(0)
    words = ["the", "dog", "ran", "acat", "sat"]
    text = "".join(rng.choice(words, 4000))[:10_000]
    estimator = model(max_iter=4, anneal=None).fit([text, "\u4e00" * 3])
    assert ["".join(w) for w in estimator.predict([text])] == [text]
    score = estimator.score_samples([text])[0]
    assert -20_000 < score < -1000
    halves = estimator.score_samples([text[:5000], text[5000:]]).sum()
    assert abs(score - halves) < 50.0
    cuts = estimator.predict_proba([text])[0]
    assert 0.05 < cuts.mean() < 0.9
    # 10,000 characters that were never seen: tiny probabilities, none of them 0.
    strange = "".join(chr(0x5000 + i % 3000) for i in range(10_000))
    assert np.isfinite(estimator.score([strange]))


def test_large_alphabets():
    rng = np.random.default_rng(0)
    texts = ["".join(chr(0x4E00 + c) for c in rng.integers(0, 5000, 12)) for _ in range(300)]
    estimator = model(max_iter=2, anneal=None).fit(texts)
    assert estimator.n_features_in_ == len(set("".join(texts)))
    assert ["".join(w) for w in estimator.predict(texts)] == texts


def test_characters_are_code_points():
    texts = ["e\u0301a", "\U0001f600b"] * 3
    estimator = model(max_iter=2, anneal=None).fit(texts)
    assert estimator.alphabet_ == ["a", "b", "e", "\u0301", "\U0001f600"]


@pytest.mark.parametrize(
    ("params", "same"),
    [
        ({"max_iter": 1}, 0),
        ({"max_iter": 10}, 5),
        ({"max_iter": 8, "burn_in": 7}, 7),
        ({"max_iter": 8, "burn_in": 0}, 0),
        ({"max_iter": 34}, 15),
        ({"max_iter": 4, "burn_in": 20, "warm_start": True}, 15),
    ],
    ids=str,
)
def test_annealing_ends_with_the_burn_in(params, same):
    """By default a fit of any number of sweeps works."""
    cuts = [
        [state.cuts.copy() for state in estimator.iter_sweeps(X[:5])]
        for estimator in (
            NestedPitmanYorLM(n_chains=1, random_state=0, **params),
            model(anneal=(1.5, same), **params),
        )
    ]
    assert np.array_equal(*cuts)
    NestedPitmanYorLM(n_chains=1, random_state=0, **params).fit(X[:5])
