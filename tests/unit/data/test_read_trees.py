import io

import pytest

from skdp.grammar import ParseTree, read_trees

TEXT = """(S (NP he)
   (VP ran)) (S (É b))

( (S
    (NP she)
    (VP sat)) )
"""
TREES = [
    ParseTree.from_brackets(text)
    for text in ("(S (NP he) (VP ran))", "(S (É b))", "(S (NP she) (VP sat))")
]


@pytest.fixture
def path(tmp_path):
    (tmp_path / "trees.mrg").write_text(TEXT, encoding="utf-8")
    return tmp_path / "trees.mrg"


def test_paths(path):
    assert read_trees(path) == read_trees(str(path)) == TREES


def test_files(path):
    with open(path, encoding="utf-8") as text, open(path, "rb") as data:
        assert read_trees(text) == read_trees(data) == TREES
        assert not text.closed
        assert not data.closed
    assert read_trees(io.StringIO(TEXT)) == read_trees(io.BytesIO(TEXT.encode())) == TREES


def test_encoding(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_bytes(TEXT.encode("latin-1"))
    assert read_trees(path, encoding="latin-1") == TREES
    assert read_trees(io.BytesIO(TEXT.encode("utf-16")), encoding="utf-16") == TREES
    with pytest.raises(UnicodeDecodeError):
        read_trees(path)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_of_an_error(tmp_path, newline):
    path = tmp_path / "trees.mrg"
    path.write_bytes(newline.join(["(S a)", "", "(S (A a)", "(B))"]).encode())
    with pytest.raises(ValueError, match=r"line 4: the bracket \(B\) is empty"):
        read_trees(path)


def test_empty(tmp_path):
    assert read_trees(io.StringIO("\n \n")) == []
    with pytest.raises(FileNotFoundError):
        read_trees(tmp_path / "none.mrg")
