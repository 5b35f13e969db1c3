"""Files of trees, malformed ones among them, and words as treebanks write them."""

import io

import pytest

from skdp.data._parse_tree import as_in_treebanks
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


def read(text, **params):
    return read_trees(io.StringIO(text), **params)


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029", "\u200b", "\u200e", "\ufeff"])
def test_ends_of_lines_and_invisible_characters(end):
    """No character that nobody sees is a word or part of a label; within words they stay."""
    text = TEXT.replace("\n", f" {end} ").replace("(S", f"({end}S{end}")
    assert read(text) == TREES
    assert read(f"({end}(S (A a)){end}(B b))", root_label="S")[0].leaves == ("a", "b")
    assert read("(A a\u00adb)")[0].leaves == ("a\u00adb",)


def test_files_and_encodings(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text(TEXT, encoding="utf-8")
    assert read_trees(path, on_bad_trees="warn") == read_trees(str(path)) == TREES
    with open(path, encoding="utf-8") as text, open(path, "rb") as data:
        assert read_trees(text) == read_trees(data) == TREES
        assert not text.closed
        assert not data.closed
    assert read(TEXT) == read_trees(io.BytesIO(TEXT.encode())) == TREES
    assert read_trees(io.BytesIO(TEXT.encode("utf-16")), encoding="utf-16") == TREES
    assert read("\ufeff" + TEXT + "\ufeff" + TEXT) == TREES * 2
    path.write_text(TEXT, encoding="utf-8-sig")
    assert read_trees(path) == TREES
    path.write_bytes(TEXT.encode("latin-1"))
    assert read_trees(path, encoding="latin-1") == TREES
    with pytest.raises(UnicodeDecodeError):
        read_trees(path)
    with pytest.raises(FileNotFoundError):
        read_trees(tmp_path / "none.mrg")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_line_of_an_error(tmp_path, newline):
    path = tmp_path / "trees.mrg"
    path.write_bytes(newline.join(["(S a)", "", "(S (A a)", "(B))"]).encode())
    with pytest.raises(ValueError, match=r"line 4: the bracket \(B\) is empty"):
        read_trees(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("(()\n(S (A a)))", 1),
        ("((S (A a))\n())", 2),
        ("(()\na)", 1),
        ("(()\n())", 2),
        ("(S (A a)\n())", 2),
    ],
    ids=["first", "last", "before a word", "twice", "with a label"],
)
def test_empty_inner_brackets(text, line):
    """They would be dropped, and the tree with them could be half of a sentence."""
    message = ""
    try:
        read(text)
    except ValueError as error:
        message = str(error)
    assert f"line {line}: the bracket () is empty." in message
    with pytest.warns(UserWarning, match="1 malformed"):
        trees = read(f"{text} (()) ( (S (A a)))", on_bad_trees="warn")
    assert [str(tree) for tree in trees] == ["None", "(S (A a))"]


BAD = """(S (A a))
(S
  ((B b)))
*x* a comment *x*
(S (A) (B b))
(S (C c)))
(S (A a)
(S (D d))
( (E e) )
(S
"""


def test_bad_trees_are_left_out(tmp_path):
    """A bracket that is never closed takes only its own tree along."""
    path = tmp_path / "bad.mrg"
    path.write_text(BAD, encoding="utf-8")
    with pytest.warns(UserWarning, match="6 malformed") as caught:
        trees = read_trees(path, on_bad_trees="warn")
    assert [str(tree) for tree in trees] == ["(S (A a))", "(S (C c))", "(S (D d))", "(E e)"]
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        f"{path}: 6 malformed trees are left out: lines 2 to 3 (an inner bracket has no "
        "label), line 4 ('*x*' is outside of brackets), line 5 (the bracket (A) is empty), line 6 "
        "(a closing bracket without an opening bracket), line 7 (a bracket is never closed), line "
        "10 (a bracket is never closed)."
    )
    with pytest.raises(ValueError, match=r"bad.mrg, line 3: an inner bracket has no label"):
        read_trees(path)
    with open(path) as file, pytest.raises(ValueError, match=r"bad.mrg, line 3"):
        read_trees(file)
    with pytest.raises(ValueError, match=r"^line 3"):
        read(BAD)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(A)\n" * 15, r"^The file: 15 malformed .*line 10 \(.*empty\), ...\.$"),
        ("x (S", r"line 1 \(a bracket is never closed"),
        ("(S (A))", r"^The file: 1 malformed tree is left out: line 1 \("),
    ],
)
def test_bad_trees_are_counted(text, message):
    with pytest.warns(UserWarning, match=message):
        assert read(text, on_bad_trees="warn") == []


@pytest.mark.parametrize("indent", ["", "  "])
def test_brackets_that_are_never_closed(indent):
    """Trees after them are read, wherever lines begin."""
    bad, good = ["(S", "  (A a", "  (B b))", ""], ["( (S", "  (C c)", ") )"]
    lines = [indent + line for line in [*bad, *good, *bad, *bad, *good, *bad]]
    message = "4 .*: lines 1 to 4 .*, lines 8 .*, lines 12 .*, lines 19"
    with pytest.warns(UserWarning, match=message):
        trees = read("\ufeff" + "\n".join(lines), on_bad_trees="warn")
    assert trees == [ParseTree.from_brackets("(S (C c))")] * 2


def test_empty_trees():
    tree = ParseTree.from_brackets("(S (A a))")
    text = "(S (A a))\n(())\n( )\n()(S (A a))\n( ( ) )"
    assert read(text) == [tree, None, None, None, tree, None]
    assert read("\n \n") == []


def test_several_trees_in_the_outermost_bracket():
    text = "( (S (NP (PRP he)) (VP (VBD ran)))\n (. .) )"
    (tree,) = read(text, root_label="TOP")
    assert str(tree) == "(TOP (S (NP (PRP he)) (VP (VBD ran))) (. .))"
    (tree,) = read("( (S (A a)) (S (B b)) )")
    assert str(tree) == "(ROOT (S (A a)) (S (B b)))"


def test_clean_trees():
    text = """( (S-1 (NP-SBJ=2 (-NONE- *)) (VP (VB go) (ADVP|PRT (RP up)) (-LRB- -LRB-))) )
        (NP (-NONE- *))"""
    trees = read(text, clean=True)
    assert trees[1:] == [None]
    assert str(trees[0]) == "(S (VP (VB go) (ADVP (RP up)) (-LRB- -LRB-)))"


def test_words_as_in_treebanks():
    words = ["(", "-rrb-", "f[x]", "{}", "\ufeffThe", "well-known", "-lab-", "dog", ""]
    plain = [
        "-LRB-", "-RRB-", "f-LSB-x-RSB-", "-LCB--RCB-", "The", "well-known", "-lab-", "dog", "",
    ]  # fmt: skip
    assert list(map(as_in_treebanks, words)) == plain
