import pytest

from skdp.feature_extraction._text import split_lines, split_paragraphs, split_sentences


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
        ("E.g. Tolkien. As in Fig. 3. No.", ["E.g. Tolkien.", "As in Fig. 3.", "No."]),
        ("Smith et al. 2004, pp. 3. See No. 7.", ["Smith et al. 2004, pp. 3.", "See No. 7."]),
        ("1. First. 2.1. Then. 3. I. Last.", ["1. First.", "2.1. Then.", "3. I. Last."]),
        ("It costs 5. Then 7.", ["It costs 5.", "Then 7."]),
        ("A title\n\nA sentence.", ["A title", "A sentence."]),
        ("Der Baum. Über ihm. Ökonomie.", ["Der Baum.", "Über ihm.", "Ökonomie."]),
        ("no end", ["no end"]),
        ("  \n\n", []),
        ("Variante b. Wir gehen.", ["Variante b.", "Wir gehen."]),
        ("Kapitel 1. Öl.", ["Kapitel 1.", "Öl."]),
        ("etc. \n\nand", ["etc.", "and"]),
        ("etc.\r\n\r\nand", ["etc.", "and"]),
        ("No.  Yes. ", ["No.", "Yes."]),
        ("Он. Она.", ["Он.", "Она."]),
        ("„Ja.“ «Non.» Oui.", ["„Ja.“", "«Non.»", "Oui."]),
    ],
)
def test_sentences(text, expected):
    assert split_sentences(text) == expected


@pytest.mark.parametrize("gap", ["\n", "  ", "\r\n", " \n", "\n  ", "\t", "\u00a0 ", "\u2009"])
@pytest.mark.parametrize("letter", ["a", "ü", "ж", "é", "e\u0301", "ω"])
def test_no_cut_before_lower_case(gap, letter):
    for stop in ("etc.", "ca.", "!)", "…"):
        text = f"Pears, {stop}{gap}{letter}nd so on"
        assert split_sentences(text) == [text]
        other = f"Pears, {stop}{gap}{letter.upper()}nd so on"
        assert split_sentences(other) == [f"Pears, {stop}", f"{letter.upper()}nd so on"]


@pytest.mark.parametrize(
    "text",
    [
        "J. R. R. Tolkien wrote.", "Ö. Müller kam.", "O\u0308. Müller kam.",
        "А. С. Пушкин пришёл.", "Α. Παπανδρέου είπε.", "É.  Zola", "א. ב. יהושע", "z. B. Berlin",
        "d.\u00a0h. nie", "(z. B. Hamburg)", "J.R.R. Tolkien",
    ],
)  # fmt: skip
def test_no_cut_behind_initials(text):
    assert split_sentences(text) == [text]


def test_line_ends_do_not_matter():
    text = "One. two\nthree. Four\n\nfive. six\nSeven."
    pieces = [piece.split() for piece in split_sentences(text)]
    assert [piece.split() for piece in split_sentences(text.replace("\n", "\r\n"))] == pieces
