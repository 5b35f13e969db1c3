"""Files of bracketed trees."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from skdp.data._brackets import parse_brackets
from skdp.data._parse_tree import ParseTree


def read_trees(
    file: str | os.PathLike[str] | IO[Any], *, encoding: str = "utf-8"
) -> list[ParseTree]:
    r"""Read the parse trees of a bracketed file, as treebanks are kept.

    A tree may run over several lines, and a line may hold several trees. An outermost bracket
    without a label, as in ``( (S (NP he) (VP ran)))``, is taken off. Labels and words are what is
    written: function tags and the treebank's names of brackets (``-LRB-``) are left in place.

    Parameters
    ----------
    file : str, path or file object
        A path, or an open file of text or of bytes, which is read to its end and left open.
    encoding : str, default="utf-8"
        Of the bytes. Not used for an open file of text.

    Returns
    -------
    list of ParseTree

    Raises
    ------
    ValueError
        With the number of the line, if brackets are malformed: one that is never closed or never
        opened, one that holds nothing, one without a label that is not outermost, or a word
        outside.
    OSError
        If the file cannot be read.
    UnicodeDecodeError
        If its bytes are not of this encoding.

    See Also
    --------
    ParseTree.from_brackets : The tree of a string.

    Examples
    --------
    >>> import io
    >>> from skdp.grammar import read_trees
    >>> read_trees(io.StringIO("(S (NP he) (VP ran)) ( (S\n (NP she)\n (VP sat)))"))
    [<ParseTree (S (NP he) (VP ran))>, <ParseTree (S (NP she) (VP sat))>]
    """
    with _open_text(file, encoding) as lines:
        return [ParseTree._from_flat(items) for items in parse_brackets(lines)]


@contextmanager
def _open_text(file: Any, encoding: str) -> Iterator[IO[str]]:
    if not isinstance(file, str | os.PathLike) and not hasattr(file, "read"):
        # Numbers are open files to `open`, which would close them.
        raise TypeError(f"file must be a path or an open file, got {type(file).__name__}.")
    if not hasattr(file, "read"):
        with open(file, encoding=encoding) as opened:
            yield opened
    elif isinstance(file.read(0), str):
        yield file
    else:
        text = io.TextIOWrapper(file, encoding=encoding)
        try:
            yield text
        finally:
            text.detach()  # else it would close what the caller has opened
