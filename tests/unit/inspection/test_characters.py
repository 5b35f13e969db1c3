import numpy as np
import pytest

from skdp.inspection._characters import break_lines, measure, split_characters

ACUTE, JOINER = "\N{COMBINING ACUTE ACCENT}", "\N{ZERO WIDTH JOINER}"


def lines_of(text, width, cuts=()):
    characters = split_characters(text)
    is_cut = np.zeros(len(characters) - 1, dtype=bool)
    is_cut[list(cuts)] = True
    return break_lines(characters, is_cut, width)


def texts_of(lines):
    return ["".join(text for text, _ in line.clusters) for line in lines]


def test_widths():
    assert measure(split_characters("a日e" + ACUTE + JOINER)).tolist() == [1, 2, 1, 0, 0]
    assert measure(["a", "12", "日本"]).tolist() == [2, 3, 5]  # with a space between names


def test_characters_as_drawn():
    assert split_characters("a b\n\x00") == ["a", "␣", "b", "␣", "\N{REPLACEMENT CHARACTER}"]
    assert split_characters([3, "xy", ""]) == ["3", "xy", "␣"]


@pytest.mark.parametrize("characters", [b"ab", 7, {"a": 1}, None])
def test_no_characters(characters):
    with pytest.raises(ValueError, match="characters must be a string or a list"):
        split_characters(characters)


def test_lines_end_with_words_where_they_can():
    assert texts_of(lines_of("thedogranfast", 10, cuts=[2, 5, 8])) == ["thedogran", "fast"]
    # No word ends in the last third of the line.
    assert texts_of(lines_of("thedogranfast", 10, cuts=[2])) == ["thedogranf", "ast"]
    assert texts_of(lines_of("thedog", 6)) == ["thedog"]
    assert texts_of(lines_of("thedog", 60)) == ["thedog"]


def test_lines_hold_all_characters_once():
    lines = lines_of("abcdefghij" * 7, 13, cuts=range(3, 60, 4))
    assert [line.start for line in lines[1:]] == [line.end for line in lines[:-1]]
    assert (lines[0].start, lines[-1].end) == (0, 70)
    assert "".join(texts_of(lines)) == "abcdefghij" * 7
    assert max(line.ends[-1] for line in lines) <= 13


def test_marks_stay_with_the_character_before_them():
    (line,) = lines_of(f"e{ACUTE}日a", 60)
    assert line.clusters == [(f"e{ACUTE}", 0.5), ("日", 2.0), ("a", 3.5)]
    assert line.ends.tolist() == [0.6, 1.0, 3.0, 4.0]
    lines = lines_of(f"ab{ACUTE}c", 2)
    assert texts_of(lines) == [f"ab{ACUTE}", "c"]


def test_a_mark_alone():
    (line,) = lines_of(ACUTE, 60)
    assert line.clusters == [(ACUTE, 0.0)]


def test_one_wide_character_in_a_narrow_line():
    assert texts_of(lines_of("日本", 1)) == ["日", "本"]
