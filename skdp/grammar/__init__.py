"""Grammars of inferred size, and parse trees of sentences."""

from skdp.data._binarize import binarize, debinarize
from skdp.data._head_rules import COLLINS_HEAD_RULES
from skdp.data._lexicalize import head_children, lexicalize
from skdp.data._parse_tree import ParseTree
from skdp.data._read_trees import read_trees
from skdp.grammar._hdp_pcfg import HDPPCFG
from skdp.grammar._hdp_pcfg_refiner import HDPPCFGRefiner
from skdp.grammar._inside_outside import inside_outside

__all__ = [
    "COLLINS_HEAD_RULES",
    "HDPPCFG",
    "HDPPCFGRefiner",
    "ParseTree",
    "binarize",
    "debinarize",
    "head_children",
    "inside_outside",
    "lexicalize",
    "read_trees",
]
