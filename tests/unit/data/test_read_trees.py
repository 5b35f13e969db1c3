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


def message_of(text):
    """Return the message of the error about malformed trees, empty if there is none."""
    try:
        read_trees(io.StringIO(text))
    except ValueError as error:
        return str(error)
    return ""


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
    assert f"line {line}: the bracket () is empty." in message_of(text)
    with pytest.warns(UserWarning, match="1 malformed"):
        trees = read_trees(io.StringIO(f"{text} (()) ( (S (A a)))"), on_bad_trees="warn")
    assert [str(tree) for tree in trees] == ["None", "(S (A a))"]


def test_empty(tmp_path):
    assert read_trees(io.StringIO("\n \n")) == []
    with pytest.raises(FileNotFoundError):
        read_trees(tmp_path / "none.mrg")


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


@pytest.fixture
def bad_path(tmp_path):
    (tmp_path / "bad.mrg").write_text(BAD, encoding="utf-8")
    return tmp_path / "bad.mrg"


def test_bad_trees_are_left_out(bad_path):
    """A bracket that is never closed takes only its own tree along."""
    with pytest.warns(UserWarning, match="6 malformed") as caught:
        trees = read_trees(bad_path, on_bad_trees="warn")
    assert [str(tree) for tree in trees] == ["(S (A a))", "(S (C c))", "(S (D d))", "(E e)"]
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        f"{bad_path}: 6 malformed trees are left out: lines 2 to 3 (an inner bracket has no "
        "label), line 4 ('*x*' is outside of brackets), line 5 (the bracket (A) is empty), line 6 "
        "(a closing bracket without an opening bracket), line 7 (a bracket is never closed), line "
        "10 (a bracket is never closed)."
    )


def test_many_bad_trees_are_counted():
    text = io.StringIO("(A)\n" * 15)
    with pytest.warns(UserWarning, match=r"^The file: 15 malformed .*line 10 \(.*empty\), ...\.$"):
        assert read_trees(text, on_bad_trees="warn") == []


def test_good_files_do_not_warn(path, recwarn):
    assert read_trees(path, on_bad_trees="warn") == TREES
    assert not recwarn


def test_errors_name_the_file(bad_path):
    with pytest.raises(ValueError, match=r"bad.mrg, line 3: an inner bracket has no label"):
        read_trees(bad_path)
    with open(bad_path) as file, pytest.raises(ValueError, match=r"bad.mrg, line 3"):
        read_trees(file)
    with pytest.raises(ValueError, match=r"^line 3"):
        read_trees(io.StringIO(BAD))


def test_empty_trees():
    text = "(S (A a))\n(())\n( )\n()(S (A a))\n( ( ) )"
    tree = ParseTree.from_brackets("(S (A a))")
    assert read_trees(io.StringIO(text)) == [tree, None, None, None, tree, None]


def test_several_trees_in_the_outermost_bracket():
    text = "( (S (NP (PRP he)) (VP (VBD ran)))\n (. .) )"
    (tree,) = read_trees(io.StringIO(text), root_label="TOP")
    assert str(tree) == "(TOP (S (NP (PRP he)) (VP (VBD ran))) (. .))"
    (tree,) = read_trees(io.StringIO("( (S (A a)) (S (B b)) )"))
    assert str(tree) == "(ROOT (S (A a)) (S (B b)))"


def test_clean_trees():
    text = """( (S-1 (NP-SBJ=2 (-NONE- *)) (VP (VB go) (ADVP|PRT (RP up)) (-LRB- -LRB-))) )
        (NP (-NONE- *))"""
    trees = read_trees(io.StringIO(text), clean=True)
    assert trees[1:] == [None]
    assert str(trees[0]) == "(S (VP (VB go) (ADVP (RP up)) (-LRB- -LRB-)))"


def test_byte_order_marks(tmp_path):
    path = tmp_path / "trees.mrg"
    path.write_text(TEXT, encoding="utf-8-sig")
    assert read_trees(path) == TREES
    assert read_trees(io.StringIO("\ufeff" + TEXT + "\ufeff" + TEXT)) == TREES * 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"on_bad_trees": "skip"}, "on_bad_trees must be 'error' or 'warn'"),
        ({"root_label": ""}, "root_label must not be empty"),
    ],
)
def test_bad_parameters(path, params, message):
    with pytest.raises(ValueError, match=message):
        read_trees(path, **params)


@pytest.mark.parametrize("indent", ["", "  "])
def test_brackets_that_are_never_closed(indent):
    """Trees after them are read, wherever lines begin."""
    bad, good = ["(S", "  (A a", "  (B b))", ""], ["( (S", "  (C c)", ") )"]
    lines = [indent + line for line in [*bad, *good, *bad, *bad, *good, *bad]]
    with pytest.warns(
        UserWarning, match="4 .*: lines 1 to 4 .*, lines 8 .*, lines 12 .*, lines 19"
    ):
        trees = read_trees(io.StringIO("\ufeff" + "\n".join(lines)), on_bad_trees="warn")
    assert trees == [ParseTree.from_brackets("(S (C c))")] * 2
    with pytest.warns(UserWarning, match=r"line 1 \(a bracket is never closed"):
        assert read_trees(io.StringIO("x (S"), on_bad_trees="warn") == []
    with pytest.warns(UserWarning, match=r"^The file: 1 malformed tree is left out: line 1 \("):
        assert read_trees(io.StringIO("(S (A))"), on_bad_trees="warn") == []
