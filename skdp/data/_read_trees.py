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
    r"""Read the parse trees in a bracketed file, the format of treebanks.

    A tree may extend over several lines, and a line may hold several trees. An outermost bracket
    without a label, as in ``( (S (NP he) (VP ran)))``, is removed. Labels and words are kept as
    written, including function tags and names of brackets such as ``-LRB-``.

    Parameters
    ----------
    file : str, path or file object
        A path, or an open text or binary file, which is read to its end and left open.
    encoding : str, default="utf-8"
        Encoding of the bytes. Not used for an open text file.

    Returns
    -------
    list of ParseTree

    Raises
    ------
    ValueError
        If a bracket is never closed or never opened, is empty, or has no label without being
        outermost, or if a word is outside of brackets. The message gives the line number. If `file`
        is the text of trees, not a path.
    OSError
        If the file cannot be read.
    UnicodeDecodeError
        If its bytes are not valid in this encoding.

    See Also
    --------
    ParseTree.from_brackets : Reads the tree in a string.

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
    if isinstance(file, str) and file.lstrip().startswith("("):
        raise ValueError(
            f"file must be a path or an open file, got trees, {file!r:.40}: use "
            "ParseTree.from_brackets for one, and io.StringIO(text) for several."
        )
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
