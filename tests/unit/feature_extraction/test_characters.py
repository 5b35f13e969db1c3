"""Invisible characters, line endings, and words that look the same."""

import sys
import unicodedata
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skdp.data._frames import normalize_text, normalize_word
from skdp.feature_extraction import SegmentVectorizer, TokenVectorizer
from skdp.grammar import HDPPCFGRefiner, ParseTree
from skdp.language import NestedPitmanYorLM
from skdp.topics import GibbsLDA

FORMAT = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Cf"]
JOINERS = "\u200c\u200d"
VISIBLE = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
INVISIBLE = [c for c in FORMAT if c not in JOINERS + VISIBLE]


def words(vectorizer, text):
    """Return the words that a vectorizer finds in a text, segment by segment."""
    found = vectorizer.inverse_transform(vectorizer.fit_transform([text]))[0]
    return [str(w) for part in found for w in ([part] if isinstance(part, str) else part)]


VECTORIZERS = [TokenVectorizer(min_count=1, unknown_words="drop"), SegmentVectorizer()]
both = pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=lambda v: type(v).__name__)


@both
def test_invisible_characters(vectorizer):
    """In a word, at its ends and alone: as if they were not there."""
    assert len(INVISIBLE) > 140
    text = " ".join(f"{c}so{c}me{c} {c} words" for c in INVISIBLE)
    assert words(vectorizer, text) == ["some", "words"] * len(INVISIBLE)


@both
def test_joiners_are_no_words(vectorizer):
    for joiner in JOINERS:
        found = words(vectorizer, f"می{joiner}خواهم {joiner} words")
        assert found == [f"می{joiner}خواهم", "words"]


@both
def test_composed_and_decomposed_letters(vectorizer):
    for text in ("café señor Ångström", "한국어 단어"):
        expected = words(vectorizer, text)
        assert words(vectorizer, unicodedata.normalize("NFD", text)) == expected


WRITTEN = ["cafe\u0301", "ca\u00adfé"]


@pytest.mark.parametrize("word", WRITTEN)
@pytest.mark.parametrize("cls", [TokenVectorizer, SegmentVectorizer])
def test_given_vocabularies(cls, word):
    vectorizer = cls(vocabulary=["lait", word])
    assert vectorizer.transform(["café"]).tokens.tolist() == [1]
    with pytest.raises(ValueError, match="each word once, got 'café' twice"):
        cls(vocabulary=["café", word]).fit(["café"])


@pytest.mark.parametrize("word", WRITTEN)
def test_words_to_leave_out(word):
    vectorizer = SegmentVectorizer(stop_words=[word], segmenter="line")
    assert words(vectorizer, "café lait") == ["lait"]
    suffixes = TokenVectorizer(suffixes=[word], min_count=2).fit(["netcafé supercafé"])
    assert "UNK:-café" in suffixes.vocabulary_


@pytest.mark.parametrize("word", WRITTEN)
def test_seed_words(word):
    corpus = SegmentVectorizer().fit_transform(["café lait", "thé lait"] * 3)
    model = GibbsLDA(2, seed_words={"drinks": [word]}, max_iter=4)
    expected = clone(model).set_params(seed_words={"drinks": ["café"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = [m.set_params(random_state=0).fit(corpus).components_ for m in (model, expected)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028"])
@pytest.mark.parametrize("segmenter", ["line", "paragraph", "sentence"])
def test_ends_of_lines_and_paragraphs(segmenter, end):
    texts = {
        "line": ["one line{end}another line"],
        "paragraph": ["one paragraph{end} {end}another paragraph"],
        "sentence": ["A sentence.{end}Another one", "No stop{end}{end}another one"],
    }[segmenter]
    for text in [text.format(end=end) for text in texts] + ["one here\u2029another there"]:
        corpus = SegmentVectorizer(segmenter=segmenter).fit_transform([text])
        assert corpus.doc_ptr.tolist() == [0, 2]


def test_strings_of_letters():
    """Models of letters have none for invisible characters."""
    model = NestedPitmanYorLM(max_iter=2, anneal=None).fit(["the\u00addog\u200b", "\u202athecat"])
    assert sorted(model.alphabet_) == sorted(set("thedogcat"))


def test_words_of_trees():
    """A composed word is known if the trees have it decomposed; trees have words as given."""
    trees = [ParseTree.from_brackets(f"(S (A cafe\u0301) (B {w}))") for w in ("open", "closed")]
    model = HDPPCFGRefiner(1, min_word_count=1, max_iter=2)
    model.fit([tree.leaves for tree in trees], trees)
    composed, decomposed = ["caf\u00e9", "open"], ["cafe\u0301", "open"]
    (one,), (two,) = model.score_samples([composed]), model.score_samples([decomposed])
    assert one == two > model.score_samples([["other", "open"]])[0]
    assert model.predict([composed])[0].leaves == tuple(composed)


def test_words_are_not_lost():
    assert normalize_word("\u200b") == "\u200b"
    assert normalize_word("so\u00adme") == "some"
    assert normalize_text("a\r\rb\r\n") == "a\n\nb\n"
