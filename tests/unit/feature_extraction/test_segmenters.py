import pytest

from skdp.feature_extraction._segmenters import split_lines, split_paragraphs, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", ["one\ntwo", "three"]),
        ("\n\none\n \t\n\n\ntwo\n", ["one", "two\n"]),
        ("one\r\n\r\ntwo", ["one\r", "two"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_paragraphs(text, expected):
    assert split_paragraphs(text) == expected


def test_lines():
    assert split_lines("one\n\ntwo\r\n three ") == ["one", "two", " three "]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."]),
        ("Why? Because! Well… Yes.", ["Why?", "Because!", "Well…", "Yes."]),
        ("It costs 3.5 dollars.  More?", ["It costs 3.5 dollars.", "More?"]),
        ("One\nline. Two\nlines.", ["One\nline.", "Two\nlines."]),
        ('"No." (He left.) "Why?" she said.', ['"No."', "(He left.)", '"Why?" she said.']),
        (
            "Dr. Who met J. R. Smith. Mrs. Peel left.",
            ["Dr. Who met J. R. Smith.", "Mrs. Peel left."],
        ),
        ("Some, e.g. this, i.e. that. End.", ["Some, e.g. this, i.e. that.", "End."]),
        ("A title\n\nA sentence.", ["A title", "A sentence."]),
        ("Der Baum. Über ihm. Ökonomie.", ["Der Baum.", "Über ihm.", "Ökonomie."]),
        ("no end", ["no end"]),
        ("  \n\n", []),
    ],
)
def test_sentences(text, expected):
    assert split_sentences(text) == expected
