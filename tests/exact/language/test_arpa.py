"""The reader of ARPA files: an example by hand, and texts that are not in the format."""

import pytest
from exact.language.arpa import read_arpa

HEAD = "\\data\\\nngram 1=4\nngram 2=2\n\n"
UNIGRAMS = "\\1-grams:\n-99\t<s>\t-0.3\n-0.5\t</s>\n-0.4\ta\t-0.2\n-0.7\tb\n\n"
BIGRAMS = "\\2-grams:\n-0.1\t<s> a\n-0.25\ta b\n\n"
TEXT = f"a line of comment\n{HEAD}{UNIGRAMS}{BIGRAMS}\\end\\\n"


def test_backs_off():
    model = read_arpa(TEXT)
    assert model.order == 2
    assert model.vocabulary == ["<s>", "</s>", "a", "b"]
    assert model.log10_probability((), "b") == -0.7
    assert model.log10_probability(("a",), "b") == -0.25
    assert model.log10_probability(("b", "a"), "b") == -0.25  # the last word alone counts
    assert model.log10_probability(("a",), "a") == pytest.approx(-0.2 - 0.4)
    assert model.log10_probability(("b",), "a") == -0.4  # no weight written is 0
    assert model.log10_probability(("unknown",), "a") == -0.4
    with pytest.raises(KeyError, match="unknown"):
        model.log10_probability(("a",), "unknown")


def test_backs_off_twice():
    trigrams = "\\3-grams:\n-0.05\t<s> a b\n\n"
    text = TEXT.replace("2=2", "2=2\nngram 3=1").replace("-0.25\ta b", "-0.25\ta b\t-0.6")
    model = read_arpa(text.replace("\\end", trigrams + "\\end"))
    assert model.log10_events(["a", "b", "b"]) == pytest.approx([-0.1, -0.05, -0.6 - 0.7, -0.5])
    assert model.log10_probability(("b", "a"), "b") == -0.25
    assert model.log10_probability(("b", "a"), "a") == pytest.approx(-0.2 - 0.4)
    assert model.log10_probability(("a", "b"), "a") == pytest.approx(-0.6 - 0.4)


def test_events_of_a_sentence():
    model = read_arpa(TEXT.replace("\n", "\r\n"))
    assert model.log10_events(["a", "b"]) == [-0.1, -0.25, -0.5]
    assert model.log10_events(["b", "a"], end=False) == pytest.approx([-0.3 - 0.7, -0.4])
    assert model.log10_events([]) == pytest.approx([-0.3 - 0.5])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ngram 2=2", "ngram 2=3", "announces"),
        ("ngram 2=2\n", "", "2 fields|3 fields|announces"),
        ("ngram 2=2", "bigrams 2", "not a count"),
        ("\\end\\", "", "no .end"),
        ("\\end\\\n", "\\end\\\nmore", "text after"),
        ("\\2-grams:", "\\3-grams:", "sections"),
        ("-0.25\ta b", "-0.25\ta b\t-0.1", "fields"),
        ("-0.25\ta b", "-0.25\tb", "not 2 words"),
        ("-0.25\ta b", "-0.25\ta  b", "not 2 words"),
        ("-0.25\ta b", "-0.1\t<s> a", "again"),
        ("-0.25\ta b", "-0.25\tc b", "missing"),
        ("-0.25\ta b", "0.25\ta b", "above 1"),
        ("-0.25\ta b", "nan\ta b", "above 1"),
        ("<s>\t-0.3", "<s>\t-inf", "no number"),
        ("-0.25\ta b", "-0.25 a b", "fields"),
        ("-0.25\ta b", "x\ta b", "could not convert"),
    ],
)
def test_refuses_what_is_no_arpa(old, new, message):
    assert TEXT.count(old) == 1
    with pytest.raises(ValueError, match=message):
        read_arpa(TEXT.replace(old, new))
