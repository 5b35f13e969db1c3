"""Grammars, and the parse trees that they give sentences."""

from skdp.data._binarize import binarize, debinarize
from skdp.data._parse_tree import ParseTree
from skdp.data._read_trees import read_trees

__all__ = ["ParseTree", "binarize", "debinarize", "read_trees"]
