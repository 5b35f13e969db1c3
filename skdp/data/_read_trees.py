"""Reading of files of bracketed trees."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from skdp._checks import shorten
from skdp.data._brackets import parse_brackets
from skdp.data._parse_tree import ParseTree, check_label

_N_NAMED = 10
"""Largest number of malformed trees that a warning names."""


def read_trees(
    file: str | os.PathLike[str] | IO[Any],
    *,
    encoding: str = "utf-8",
    root_label: str = "ROOT",
    clean: bool = False,
    on_bad_trees: str = "error",
) -> list[ParseTree | None]:
    r"""Read the parse trees in a bracketed file, the format of treebanks.

    A tree may extend over several lines, and a line may hold several trees. An outermost bracket
    without a label, as in ``( (S (NP he) (VP ran)))``, is removed if it holds one tree. Labels and
    words are kept as written, including names of brackets such as ``-LRB-``, unless `clean` is set.
    Byte order marks are removed.

    Parameters
    ----------
    file : str, path or file object
        A path, or an open text or binary file, which is read to its end and stays open.
    encoding : str, default="utf-8"
        Encoding of the bytes, which is ignored for an open text file.
    root_label : str, default="ROOT"
        Label of an outermost bracket without a label that holds several trees or words, as in
        ``( (S (NP he) (VP ran)) (. .))``.
    clean : bool, default=False
        Whether to remove traces and other empty nodes, function tags and indices, as grammars are
        usually trained without them: see :meth:`ParseTree.without_traces` and
        :meth:`ParseTree.without_function_tags`.
    on_bad_trees : {"error", "warn"}, default="error"
        Treatment of malformed trees. "error": raise an error for the first. "warn": leave them out,
        with a warning that names their lines. A tree with a bracket that is never closed ends
        before the next line that begins with a bracket and is indented no further.

    Returns
    -------
    list of ParseTree or None
        None stands for an empty tree, ``(())`` or ``()``, which parsers write for a sentence that
        they cannot parse, and for a tree that holds nothing but traces if `clean` is set.

    Raises
    ------
    ValueError
        If a bracket is never closed or never opened, is empty, or has no label without being
        outermost, or if a word is outside of brackets. The message gives the file and the line.
        Also if `file` is the text of trees, not a path, or if another parameter is invalid.
    OSError
        If the file cannot be read.
    UnicodeDecodeError
        If the bytes are not valid in this encoding.

    Warns
    -----
    UserWarning
        If trees are left out.

    See Also
    --------
    ParseTree.from_brackets : Reads the tree in a string.

    Examples
    --------
    >>> import io
    >>> from skdp.grammar import read_trees
    >>> read_trees(io.StringIO("(S (NP he) (VP ran)) ( (S\n (NP she)\n (VP sat)))"))
    [<ParseTree (S (NP he) (VP ran))>, <ParseTree (S (NP she) (VP sat))>]
    >>> text = "( (S (NP-SBJ=1 he) (VP ran (NP (-NONE- *)))) (. .) )\n(())"
    >>> read_trees(io.StringIO(text), clean=True)
    [<ParseTree (ROOT (S (NP he) (VP ran)) (. .))>, None]
    """
    if on_bad_trees not in ("error", "warn"):
        raise ValueError(f"on_bad_trees must be 'error' or 'warn', got {on_bad_trees!r}.")
    check_label(root_label, "root_label")
    name = _name_of(file)
    bad: list[tuple[int, int, str]] = []
    skip = None if on_bad_trees == "error" else lambda *found: bad.append(found)
    where = f"{name}, " if name else ""
    with _open_text(file, encoding) as lines:
        trees = [
            ParseTree._from_flat(items) if items else None
            for items in parse_brackets(lines, root_label, where, skip)
        ]
    if bad:
        _warn_of(bad, name)
    return [None if tree is None else _clean(tree) for tree in trees] if clean else trees


def _clean(tree: ParseTree) -> ParseTree | None:
    kept = tree.without_traces()
    return None if kept is None else kept.without_function_tags()


def _name_of(file: Any) -> str:
    """Return the name of a file for messages, "" if it has no name."""
    name = file if isinstance(file, str | os.PathLike) else getattr(file, "name", "")
    name = os.fspath(name) if isinstance(name, os.PathLike) else name
    return name if isinstance(name, str) else ""


def _warn_of(bad: list[tuple[int, int, str]], name: str) -> None:
    """Warn that trees are left out, and name the lines of the first few."""
    named = [
        (f"line {first}" if first == last else f"lines {first} to {last}") + f" ({what})"
        for first, last, what in sorted(bad)[:_N_NAMED]
    ]
    if len(bad) > _N_NAMED:
        named.append("...")
    warnings.warn(
        f"{name or 'The file'}: {len(bad)} malformed {'trees are' if len(bad) > 1 else 'tree is'} "
        f"left out: {', '.join(named)}.",
        stacklevel=3,
    )


@contextmanager
def _open_text(file: Any, encoding: str) -> Iterator[IO[str]]:
    if not isinstance(file, str | os.PathLike) and not hasattr(file, "read"):
        # `open` takes integers as open files, and would close them.
        raise TypeError(f"file must be a path or an open file, got {type(file).__name__}.")
    if isinstance(file, str) and file.lstrip().startswith("("):
        raise ValueError(
            f"file must be a path or an open file, got trees, {shorten(file)}: use "
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
            text.detach()  # otherwise it would close the caller's file
