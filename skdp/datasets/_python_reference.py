"""The Python language reference, which is part of every Python installation."""

from __future__ import annotations

import re
from pydoc_data.topics import topics

from sklearn.utils import Bunch

_DESCR = """\
The Python language reference
-----------------------------

Sections of the Python language reference, and some of the library reference, which every CPython
includes for ``help()``: English technical prose, about 75 documents of one to 150 paragraphs. The
text comes from the running interpreter, so it varies a little between versions of Python.

Headings, grammar, tables, signatures, code and interpreter sessions are left out. Some sections
quote others at length; a paragraph is kept only in the shortest section in which it occurs.

Copyright (c) Python Software Foundation, under its license: see ``license()``.
"""

_MIN_WORDS = 8
_MIN_PLAIN = 0.55
_MIN_FUNCTION = 0.12
"""Bounds for a paragraph of prose: number of words, share of words without the punctuation of code,
and share of English function words."""

_FUNCTION_WORDS = frozenset(
    "a an and are as at be been but by can do does for from has have if in into is it its may must "
    "no not of on only or so such than that the their then there these they this to used using "
    "was when where whether which while will with would".split()
)
_PLAIN_WORD = re.compile(r"[\"“‘(]*[A-Za-z][A-Za-z'’-]*[.,;:?!\"”’)]*")
_NOT_PROSE = re.compile(
    r"""
      \A\s*(?:\.\.\.\s|\$\s|\(Pdb\)|\#)  # begins as a session, a comment
    | ^\s*(?:>>>|\|)                     # session, table
    | ^\s*\+[-=+]{3}                     # table
    | ^\s*([*=\-~^"'+\#])\1{3,}\s*$      # underlined heading
    | ::= | ^\s{2,}[a-z]\w*:[ ]+\S       # grammar, before and from Python 3.14
    | \s{2}\#                            # code with a comment
    | ^\s*(?:async|class|def|elif|else|except|finally|for|if|match|try|while|with)\b.*[:(]\n  # code
    """,
    re.MULTILINE | re.VERBOSE,
)

_MARKUP = (
    (re.compile(r"(?<=\w-)\s+(?=\w)"), ""),  # words broken at their hyphen
    (re.compile(r"\s+"), " "),
    (re.compile(r"^(?:[*•-]|\d+\.|\[\d+\]) "), ""),  # bullets and footnotes' numbers
    (re.compile(r"(?<!\w)(\*{1,2})(?=\w)(.+?)(?<=[\w)])\1(?!\w)"), r"\2"),  # emphasis
    (re.compile(r" \[\d+\](?!\w)"), ""),  # references to footnotes
    (re.compile(r"^(?:Changed|New|Added|Deprecated)[\w ,]* version \d[^:]*: "), ""),
)


def load_python_reference() -> Bunch:
    """Return the sections of the Python language reference as documents of paragraphs.

    This is real prose that needs no download: `pydoc_data.topics`, which is part of every CPython.

    Returns
    -------
    Bunch
        Dictionary-like, with

        data : list of list of str
            The documents, each a list of its paragraphs in reading order, as input for
            `skdp.feature_extraction.SegmentVectorizer`.
        titles : list of str
            The headings of the documents.
        names : list of str
            The sorted names by which ``help()`` finds the documents, which are in the same order.
        DESCR : str
            Description of the data and of how they were cleaned.

    Examples
    --------
    >>> from skdp.datasets import load_python_reference
    >>> reference = load_python_reference()
    >>> i = reference.names.index("assert")
    >>> reference.titles[i]
    'The assert statement'
    >>> reference.data[i][0]
    'Assert statements are a convenient way to insert debugging assertions into a program:'
    """
    paragraphs = {name: _prose(text) for name, text in topics.items()}
    names, seen = [], set()
    for name in sorted(topics, key=lambda name: (len(topics[name]), name)):
        paragraphs[name] = [p for p in dict.fromkeys(paragraphs[name]) if p not in seen]
        seen.update(paragraphs[name])
        if paragraphs[name]:
            names.append(name)
    names.sort()
    return Bunch(
        data=[paragraphs[name] for name in names],
        titles=[_title(topics[name]) for name in names],
        names=names,
        DESCR=_DESCR,
    )


def _title(text: str) -> str:
    """Return the heading, the first line, without markup."""
    return re.sub(r'["*]', "", text.strip().split("\n", 1)[0])


def _prose(text: str) -> list[str]:
    """Return the paragraphs of prose of a section."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    paragraphs = [_clean(block) for block in blocks if not _NOT_PROSE.search(block)]
    return [paragraph for paragraph in paragraphs if _is_prose(paragraph)]


def _clean(block: str) -> str:
    """Return a block as one line of plain text."""
    block = block.strip()
    for pattern, replacement in _MARKUP:
        block = pattern.sub(replacement, block)
    return block


def _is_prose(paragraph: str) -> bool:
    words = paragraph.split()
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    function = sum(word.strip('.,;:()"').lower() in _FUNCTION_WORDS for word in words)
    return (
        len(words) >= _MIN_WORDS
        and plain >= _MIN_PLAIN * len(words)
        and function >= _MIN_FUNCTION * len(words)
    )
