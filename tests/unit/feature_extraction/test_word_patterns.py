import re
import sys
import unicodedata

import pytest

from skdp.feature_extraction._text import WordPattern, _marks

DEFAULT = r"(?u)\w+(?:[-'’.,]\w+)*|[^\w\s]"

WORDS = {
    "Hindi": "नमस्ते",
    "Hindi with a joiner": "क्\u200dष",
    "Tamil": "தமிழ்",
    "Thai": "ภาษาที่",
    "Arabic": "مُحَمَّد",
    "Hebrew": "שָׁלוֹם",
    "Persian": "می\u200cخواهم",
    "decomposed French": "cafe\u0301",
    "decomposed Vietnamese": unicodedata.normalize("NFD", "Nguyễn"),
    "Turkish in lower case": "İzmir".lower(),
    "hyphen behind a mark": "cafe\u0301-creme\u0300",
    "apostrophe behind a mark": "l’e\u0301te\u0301",
    "supplementary marks": "𑄌𑄋𑄴𑄟𑄳𑄦",  # Chakma
    "symbol with a variation selector": "❤\ufe0f",
}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_words_with_marks(word):
    assert WordPattern(DEFAULT)(f"{word}, a {word} ({word})!") == [
        word, ",", "a", word, "(", word, ")", "!"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "text", "words"),
    [
        (r"(?u)\b\w\w+\b", "नमस्ते a दुनिया é", ["नमस्ते", "दुनिया"]),
        (r"\w", "cafe\u0301", ["c", "a", "f", "e\u0301"]),
        (r"[a-z]+", "cafe\u0301 bar", ["cafe\u0301", "bar"]),
        (r"\W", "é\u0301 ❤\ufe0f", [" ", "❤\ufe0f"]),
        (r"[^\W\d_]+", "नमस्ते2_में", ["नमस्ते", "में"]),
        (r"[\W]+", "में, में", [", "]),
        (r"[\w'-]+", "cafe\u0301-d'e\u0301 x", ["cafe\u0301-d'e\u0301", "x"]),
        (r"[]\w]+", "e\u0301] x", ["e\u0301]", "x"]),
        (r"[\w\W]+", "e\u0301 x", ["e\u0301 x"]),
        (r"\\w|\[\w+", "\\w [e\u0301", ["\\w", "[e\u0301"]),
        (r"(?i)(\w+)!", "E\u0301t! la\u0300", ["E\u0301t"]),
        (r"\Be\u0301\B|\bx\b", "le\u0301s x e\u0301", ["e\u0301", "x"]),
        (r"(?a)\w+", "cafe\u0301 über", ["cafe", "ber"]),
    ],
)
def test_patterns(pattern, text, words):
    assert WordPattern(pattern)(text) == words


def test_other_texts_are_cut_as_by_re():
    for text in ("It's well-known: 1.5% (U.S.)", "Größe, »Ähre« – 1,5 €", "日本語 🙂 x"):
        assert WordPattern(DEFAULT)(text) == re.findall(DEFAULT, text)


@pytest.mark.parametrize("with_supplementary", [False, True])
def test_all_marks_are_there(with_supplementary):
    end = sys.maxunicode + 1 if with_supplementary else 0x10000
    is_mark = re.compile(f"[{_marks(with_supplementary)}]").match
    every = "".join(map(chr, range(end)))
    found = set(re.findall(f"[{_marks(with_supplementary)}]", every))
    wanted = {c for c in every if unicodedata.category(c)[0] == "M"} | {"\u200c", "\u200d"}
    assert found == wanted
    assert not is_mark("a")
