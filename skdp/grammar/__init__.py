"""Grammars of inferred size, and parse trees of sentences."""

from skdp.data._binarize import binarize, debinarize, head_children, lexicalize, read_trees
from skdp.data._parse_tree import COLLINS_HEAD_RULES, ParseTree
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
