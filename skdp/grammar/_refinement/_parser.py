"""Coarse trees of sentences under a refined grammar: prune, sum over subsymbols, choose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._typing import Floats, Ints
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement import _kernels_coarse as coarse
from skdp.grammar._refinement import _kernels_forest as forest
from skdp.grammar._refinement._decoding import Forest, score_rules
from skdp.grammar._refinement._messages import RefinedTables, ScaledWeights
from skdp.grammar._refinement._treebank import CoarseRules


class Projection(NamedTuple):
    """Posterior probabilities of a forest's edges, summed over subsymbols.

    `log_sum` is the log of the summed weight of its trees.
    """

    log_sum: float
    shares: Floats


class RefinedParser:
    """A refined grammar made ready for parsing.

    Parameters
    ----------
    rules : CoarseRules
    coarse_counts, coarse_logs, logs : RefinedTables
        How often the trees use the coarse rules; logarithms of the weights of the grammar with one
        subsymbol, and of the refined one.
    n_words, n_known : int
        Words from `n_known` are classes of unknown words. Those that no tree shows are emitted as
        all of them together are, by every symbol that emits one.
    widths : sequence of float
        Items and edges whose best coarse tree has a log weight lower than that of the best tree by
        more than the first width are pruned; where nothing is left that the refined grammar
        allows, by more than the next.
    """

    def __init__(
        self,
        rules: CoarseRules,
        coarse_counts: RefinedTables,
        coarse_logs: RefinedTables,
        logs: RefinedTables,
        n_words: int,
        n_known: int,
        widths: Sequence[float],
    ):
        self.rules = rules
        self.widths = widths
        emission, pooled = _pool(rules.emission, logs.emission, n_known)
        coarse_pooled = _pool(rules.emission, coarse_logs.emission, n_known)[1]
        uses = _pool(rules.emission, np.log(coarse_counts.emission), n_known)[1]
        self._scaled = ScaledWeights.of(logs._replace(emission=pooled))
        table = _by_word(emission, len(rules.emission), n_words)
        self._emission, self._word_ptr = table
        self._log_emission = np.ascontiguousarray(coarse_pooled[self._emission[:, 1], 0])
        self._uses = uses[self._emission[:, 1], 0]
        self._flat_root = rules.symbols[rules.roots[int(np.argmax(coarse_counts.root[:, 0]))]]
        self._log_root = np.ascontiguousarray(coarse_logs.root[:, 0])
        self._log_unary = np.ascontiguousarray(coarse_logs.unary[:, 0, 0])
        self._log_binary = np.ascontiguousarray(coarse_logs.binary[:, 0, 0, 0])
        self._rule_ptr = np.searchsorted(rules.binary[:, 0], np.arange(rules.n_symbols + 1))

    def make_forest(self, words: Ints, width: float) -> Forest | None:
        """Return the forest of a sentence of one word or more; None if it has no tree."""
        n, rules = len(words), self.rules
        shape = (n * (n + 1) // 2, rules.longest_chain + 2, rules.n_symbols)
        best_in, best_out = np.empty(shape), np.empty(shape)
        lexical = (words, self._emission, self._word_ptr)
        unary = (rules.unary, self._log_unary)
        binary = (rules.binary, self._rule_ptr, self._log_binary)
        coarse.fill_inside(
            *lexical, self._log_emission, *unary, rules.binary, self._log_binary, best_in
        )
        cut = coarse.fill_outside(
            n, rules.roots, self._log_root, *unary, *binary, best_in, width, best_out
        )
        if np.isneginf(cut):
            return None
        items = np.empty(shape, dtype=np.int32)
        n_items = coarse.number_items(n, best_in, best_out, cut, items)
        edge_ptr = np.empty(n_items + 1, dtype=np.int64)
        edges = np.empty((0, 4), dtype=np.int32)
        for _ in range(2):  # count, then write
            n_edges = coarse.link_items(
                *lexical, *unary, *binary, best_in, best_out, cut, items, edge_ptr, edges
            )
            edges = np.full((n_edges, 4), -1, dtype=np.int32) if len(edges) == 0 else edges
        symbols = np.empty(n_items, dtype=np.int32)
        _, _, places = np.nonzero(items >= 0)
        symbols[items[items >= 0]] = places
        top = coarse.span_of(0, n)
        return Forest(symbols, edge_ptr, edges, items[top, -1, rules.roots])

    def project(self, trees: Forest) -> Projection:
        """Return the posterior probabilities of the edges under the refined grammar."""
        weights, scale = self._scaled
        n_items, n = len(trees.symbols), weights.n_components
        inside, outside = np.empty((2, n_items, n))
        log_in, shares = np.empty(n_items), np.empty(len(trees.edges))
        pairs = np.empty((n, n))
        forest.sum_inside(
            trees.edge_ptr, trees.edges, *weights[1:], *scale[1:], inside, log_in, pairs
        )
        log_sum = forest.sum_outside(
            trees.edge_ptr, trees.edges, trees.root_items, *weights, *scale, inside, log_in,
            outside, pairs, shares,
        )  # fmt: skip
        return Projection(log_sum, shares)

    def parse(self, words: Ints, leaves: Any, decoding: str) -> ParseTree | None:
        """Return the best binary coarse tree, None if there is none."""
        for width in self.widths:
            trees = self.make_forest(words, width)
            if trees is None:
                return None
            log_sum, shares = self.project(trees)
            if log_sum > -np.inf:
                scored = score_rules(trees, shares, decoding)
                return self._build(trees, scored.choice, scored.root, leaves)
        return None

    def make_flat(self, words: Ints, leaves: Any) -> ParseTree:
        """Return a tree of the commonest root and the commonest preterminal of every word."""
        names, children = self.rules.symbols, []
        for word, leaf in zip(words, leaves, strict=True):
            start, stop = self._word_ptr[word : word + 2]
            place = start + int(np.argmax(self._uses[start:stop]))
            children.append(ParseTree(names[self._emission[place, 0]], [leaf]))
        return ParseTree(self._flat_root, children)

    def _build(self, trees: Forest, choice: NDArray[np.int64], root: int, leaves: Any) -> ParseTree:
        """Return the tree of chosen edges."""
        names, rest = self.rules.symbols, iter(leaves)
        flat: list[Any] = []
        stack: list[Any] = [root]
        while stack:
            item = stack.pop()
            if not isinstance(item, int):
                flat.append(item)
                continue
            kind, _, first, second = trees.edges[choice[item]].tolist()
            label = names[trees.symbols[item]]
            if kind == coarse.COPY:
                stack.append(first)
            elif kind == coarse.WORD:
                flat += [next(rest), (label, 1)]
            elif kind == coarse.UNARY:
                stack += [(label, 1), first]
            else:
                stack += [(label, 2), second, first]
        return ParseTree._from_flat(flat)


def _pool(emission: Ints, logs: Floats, n_known: int) -> tuple[Ints, Floats]:
    """Return symbols and words, and logs, with rows for unknown words that no tree shows.

    Those rows have word -1 and hold the summed weights of all unknown words of a symbol.
    Where the trees show no unknown word, all words are taken for unknown.
    """
    rare = emission[:, 1] >= n_known
    if not rare.any():
        rare[:] = True
    symbols = np.unique(emission[rare, 0])
    sums = np.full((len(symbols), logs.shape[1]), -np.inf)
    np.logaddexp.at(sums, np.searchsorted(symbols, emission[rare, 0]), logs[rare])
    rows = np.column_stack([symbols, np.full(len(symbols), -1)]).astype(np.int32)
    return np.concatenate([emission, rows]), np.concatenate([logs, sums])


def _by_word(emission: Ints, n_shown: int, n_words: int) -> tuple[Ints, NDArray[np.int64]]:
    """Return symbols and rows of the emissions, ordered by words, and where those of a word are."""
    shown, pooled = emission[:n_shown], np.arange(n_shown, len(emission))
    order = np.argsort(shown[:, 1], kind="stable")
    sizes = np.bincount(shown[:, 1], minlength=n_words)
    rows, ptr = [], [0]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for word in range(n_words):
        mine = order[starts[word] : starts[word + 1]] if sizes[word] else pooled
        rows.append(mine)
        ptr.append(ptr[-1] + len(mine))
    places = np.concatenate(rows)
    return (
        np.column_stack([emission[places, 0], places]).astype(np.int32),
        np.array(ptr, dtype=np.int64),
    )
