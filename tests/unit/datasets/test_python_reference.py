from pydoc_data.topics import topics

import pytest

from skdp.datasets import load_python_reference
from skdp.datasets._segmented_corpus import _clean, _prose

REFERENCE = load_python_reference()


def test_documents():
    assert 60 < len(REFERENCE.data) <= len(topics)
    assert len(REFERENCE.data) == len(REFERENCE.titles) == len(REFERENCE.names)
    assert REFERENCE.names == sorted(set(REFERENCE.names))
    assert set(REFERENCE.names) <= set(topics)
    assert all(REFERENCE.data)
    assert sum(map(len, REFERENCE.data)) > 1_000
    assert "Python Software Foundation" in REFERENCE.DESCR


def test_titles():
    titles = dict(zip(REFERENCE.names, REFERENCE.titles, strict=True))
    assert titles["assert"] == "The assert statement"
    assert titles["integers"] == "Integer literals"


def test_paragraphs_are_prose():
    paragraphs = [p for document in REFERENCE.data for p in document]
    assert len(set(paragraphs)) == len(paragraphs)
    for paragraph in paragraphs:
        assert len(paragraph.split()) >= 8
        assert paragraph == " ".join(paragraph.split())
        for mark in (">>>", "::=", "****", "====", "+---", "|===", "Footnotes"):
            assert mark not in paragraph


def test_reading_order():
    document = REFERENCE.data[REFERENCE.names.index("assert")]
    assert document[0].startswith("Assert statements are a convenient way to insert")
    assert document[-1].startswith("Assignments to")
    assert not any("raise AssertionError" in paragraph for paragraph in document)


def test_it_is_new_each_time():
    assert load_python_reference() == REFERENCE
    load_python_reference().data[0].clear()
    assert load_python_reference() == REFERENCE


@pytest.mark.parametrize(
    "block",
    [
        "Heading of some words that could be prose in the end\n=====",
        '   grammar ::= "a" rule that has the words of a text in it',
        "   >>> the_session = of('an') # interpreter with all of the words in it",
        "   ...     with the words of a text in it and some more",
        "+------+\n| the words of a table in which there is some text |\n+------+",
        "object.__new__(cls[, ...])",
        "   for i in range(10):\n       print(i)\n       i = 5  # this will be overwritten",
        "   with (\n       A() as a,\n       B() as b,\n   ):\n       SUITE",
        "   # If the class of the object defines this, then call it\n   call(it)",
        "See also:",
    ],
)
def test_not_prose(block):
    assert _prose(block) == []


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("* an item of *emphasis*\n  and **more**", "an item of emphasis and more"),
        ("[1] The foot-\nnote.", "The foot-note."),
        ("Changed in version 3.10: It is so.", "It is so."),
        ("Deprecated since version 3.8, will be removed in version 3.14: No.", "No."),
        ("the product 2 * 3 * 4 of *x*", "the product 2 * 3 * 4 of x"),
        ('the tuple "x[1]" and [] stay', 'the tuple "x[1]" and [] stay'),
    ],
)
def test_clean(block, expected):
    assert _clean(block) == expected
