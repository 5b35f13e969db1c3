"""Coarse trees of sentences under a refined grammar: prune, sum over subsymbols, project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._typing import Floats, Ints
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement import _kernels_coarse as coarse
from skdp.grammar._refinement import _kernels_forest as forest
from skdp.grammar._refinement._messages import RefinedTables, ScaledWeights
from skdp.grammar._refinement._treebank import CoarseRules


class Forest(NamedTuple):
    """What is left of a sentence's chart: items, and edges by which they are made.

    Attributes
    ----------
    symbols : (n_items,) int32
    edge_ptr : (n_items + 1,) int64
    edges : (n_edges, 4) int32
        See `_kernels_coarse`.
    root_items : (R,) int32
        Items of whole sentences with the roots' symbols, -1: none.
    """

    symbols: Ints
    edge_ptr: NDArray[np.int64]
    edges: Ints
    root_items: Ints


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
        more than the first width are pruned; where nothing is left that the refined grammars
        allow, by more than the next.
    others : sequence of RefinedTables, default=()
        Logarithms of the weights of more refined grammars of the same rules. A rule at a place then
        has the product of its posterior probabilities under all.
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
        others: Sequence[RefinedTables] = (),
    ):
        self.rules = rules
        self.widths = widths
        emission = _pool(rules.emission, logs.emission, n_known)[0]
        coarse_pooled = _pool(rules.emission, coarse_logs.emission, n_known)[1]
        uses = _pool(rules.emission, np.log(coarse_counts.emission), n_known)[1]
        self._scaled = [
            ScaledWeights.of(t._replace(emission=_pool(rules.emission, t.emission, n_known)[1]))
            for t in (logs, *others)
        ]
        table = _by_word(emission, len(rules.emission), n_words)
        self._emission, self._word_ptr = table
        self._log_emission = np.ascontiguousarray(coarse_pooled[self._emission[:, 1], 0])
        self._uses = uses[self._emission[:, 1], 0]
        self._flat_root = rules.symbols[rules.roots[int(np.argmax(coarse_counts.root[:, 0]))]]
        self._log_root = np.ascontiguousarray(coarse_logs.root[:, 0])
        self._log_unary = np.ascontiguousarray(coarse_logs.unary[:, 0, 0])
        self._log_binary = np.ascontiguousarray(coarse_logs.binary[:, 0, 0, 0])
        symbols = np.arange(rules.n_symbols + 1)
        self._unary_ptr = np.searchsorted(rules.unary[:, 0], symbols)
        self._rule_ptr = np.searchsorted(rules.binary[:, 0], symbols)
        order = np.argsort(rules.binary[:, 1], kind="stable")
        by_left = np.ascontiguousarray(rules.binary[order])
        left_ptr = np.searchsorted(by_left[:, 1], symbols)
        self._by_left = (by_left, left_ptr, np.ascontiguousarray(self._log_binary[order]))

    def make_forest(self, words: Ints, width: float) -> Forest | None:
        """Return the forest of a sentence of one word or more; None if it has no tree."""
        n, rules = len(words), self.rules
        shape = (n * (n + 1) // 2, rules.longest_chain + 2, rules.n_symbols)
        best_in, best_out = np.empty(shape), np.empty(shape)
        lexical = (words, self._emission, self._word_ptr)
        unary = (rules.unary, self._log_unary)
        binary = (rules.binary, self._rule_ptr, self._log_binary)
        possible, n_possible = np.empty(shape[::2], dtype=np.int32), np.empty(shape[0], np.int32)
        ends = np.empty((n, rules.n_symbols, n), dtype=np.int32)
        n_ends = np.empty((n, rules.n_symbols), dtype=np.int32)
        coarse.fill_inside(
            *lexical, self._log_emission, *unary, *self._by_left, best_in,
            possible, n_possible, ends, n_ends,
        )  # fmt: skip
        cut = coarse.fill_outside(
            n, rules.roots, self._log_root, *unary, *binary, best_in, ends, n_ends, width, best_out
        )
        if np.isneginf(cut):
            return None
        items = np.empty(shape, dtype=np.int32)
        n_items = coarse.number_items(n, best_in, best_out, cut, items)
        edge_ptr = np.empty(n_items + 1, dtype=np.int64)
        edges = np.empty((0, 4), dtype=np.int32)
        for _ in range(2):  # count, then write
            n_edges = coarse.link_items(
                *lexical, rules.unary, self._unary_ptr, self._log_unary, *binary, best_in,
                best_out, cut, items, ends, n_ends, edge_ptr, edges,
            )  # fmt: skip
            edges = np.full((n_edges, 4), -1, dtype=np.int32) if len(edges) == 0 else edges
        symbols = np.empty(n_items, dtype=np.int32)
        kept = np.flatnonzero(items >= 0)
        symbols[items.reshape(-1)[kept]] = kept % rules.n_symbols
        top = coarse.span_of(0, n)
        return Forest(symbols, edge_ptr, edges, items[top, -1, rules.roots])

    def project(self, trees: Forest) -> Projection:
        """Return the edges' posterior probabilities, multiplied over the refined grammars.

        The logs of the summed weights are added; -inf if no tree is left that all allow.
        """
        log_sum, shares = self._sum(trees, self._scaled[0])
        for scaled in self._scaled[1:]:
            if np.isneginf(log_sum):
                break
            other = self._sum(trees, scaled)
            log_sum, shares = log_sum + other.log_sum, shares * other.shares
        if len(self._scaled) > 1 and log_sum > -np.inf and self._choose(trees, shares)[0] < 0:
            log_sum = -np.inf
        return Projection(log_sum, shares)

    @staticmethod
    def _sum(trees: Forest, scaled: ScaledWeights) -> Projection:
        weights, scale = scaled
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

    def parse(self, words: Ints, leaves: Any) -> ParseTree | None:
        """Return the best binary coarse tree, None if there is none."""
        for width in self.widths:
            trees = self.make_forest(words, width)
            if trees is None:
                return None
            log_sum, shares = self.project(trees)
            if log_sum > -np.inf:
                return self._find_tree(trees, shares, leaves)
        return None

    def _find_tree(self, trees: Forest, shares: Floats, leaves: Any) -> ParseTree:
        """Return the best tree of the projection."""
        root, choice = self._choose(trees, shares)
        return self._build(trees, choice, root, leaves)

    @staticmethod
    def _choose(trees: Forest, shares: Floats) -> tuple[int, NDArray[np.int64]]:
        """Return the root's item of the best tree, -1 if there is none, and all items' edges."""
        n_items = len(trees.symbols)
        choice = np.empty(n_items, dtype=np.int64)
        root = forest.find_projected(
            trees.edge_ptr, trees.edges, trees.root_items, shares, np.empty(n_items), choice
        )
        return root, choice

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
