"""The treebank's own grammar, for sentences that a finer grammar cannot parse."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from skdp.data._binarize import binarize
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement._ascent import count_coarse
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._maximum_likelihood import MaximumLikelihoodRefinement
from skdp.grammar._refinement._parser import RefinedParser
from skdp.grammar._refinement._parses import Asked
from skdp.grammar._refinement._treebank import flatten


def make_backoff(
    trees: Sequence[ParseTree],
    sentences: Sequence[Sequence[str]],
    lexicon: TreebankLexicon,
    widths: Sequence[float],
) -> Asked:
    """Return the grammar of trees without siblings, ancestors and subsymbols in its symbols.

    It has every rule of grammars of higher orders, and so parses every sentence that they parse.
    """
    flat = flatten(
        [binarize(tree) for tree in trees], [lexicon.encode(sentence) for sentence in sentences]
    )
    own = copy(lexicon)
    own.count_symbols(sentences, flat.word_symbols.tolist())
    counts = count_coarse(flat)
    logs = MaximumLikelihoodRefinement(flat.rules, 0.0, 1).updated(counts).weights()
    parser = RefinedParser(flat.rules, counts, logs, logs, logs, len(own), own.n_known, widths)
    return Asked(own, parser, 1)
