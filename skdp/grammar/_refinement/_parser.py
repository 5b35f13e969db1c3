"""Coarse trees of sentences under a refined grammar, by pruning and sums over subsymbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Ints
from skdp.data._parse_tree import ParseTree
from skdp.grammar._k_best import Steps
from skdp.grammar._refinement import _kernels_coarse as coarse
from skdp.grammar._refinement import _kernels_forest as forest
from skdp.grammar._refinement._decoding import (
    Forest,
    Lexical,
    ScoredForest,
    best_steps,
    score_rules,
)
from skdp.grammar._refinement._messages import RefinedTables, ScaledWeights
from skdp.grammar._refinement._treebank import CoarseRules


class Projection(NamedTuple):
    """Posterior probabilities of a forest's edges, summed over subsymbols."""

    log_sum: float  # log of the summed weight of the forest's trees
    shares: Floats


_SMOOTHING = 0.5
"""Pseudo-count of the tags of a rare word's class, in addition to the word's own tags. Also the
count of unknown words in trees without any."""


class RefinedParser:
    """A refined grammar prepared for parsing."""

    def __init__(
        self,
        rules: CoarseRules,
        coarse_counts: RefinedTables,  # in the trees
        coarse_logs: RefinedTables,  # of weights with one subsymbol
        logs: RefinedTables,  # of weights
        log_means: RefinedTables,  # of the probabilities of rules
        n_words: int,
        n_known: int,  # words from here on are classes of unknown words
        widths: Sequence[float],  # differences in log weight at which to prune, tried in turn
        others: Sequence[RefinedTables] = (),  # the posteriors of rules are products over grammars
    ):
        self.rules = rules
        self.widths = widths
        emission, coarse_pooled = _pool(rules.emission, coarse_logs.emission, n_known)
        uses = _pool(rules.emission, np.log(coarse_counts.emission), n_known)[1]
        pooled = [
            t._replace(emission=_pool(rules.emission, t.emission, n_known)[1])
            for t in (log_means, logs, *others)
        ]
        if n_words > n_known and not (rules.emission[:, 1] >= n_known).any():
            # Only the probabilities: a constant per word does not change the order of trees.
            n_tokens = float(coarse_counts.emission.sum())
            _share_with_unknown(emission, pooled[0].emission, n_tokens)
        self._means, *self._scaled = map(ScaledWeights.of, pooled)
        self._emission, self._word_ptr = _by_word(emission, n_words)
        self._log_emission = np.ascontiguousarray(coarse_pooled[:, 0])
        self._uses = uses[:, 0]
        whole = emission[:, 1] == _ANY
        self._any_row = dict(
            zip(emission[whole, 0].tolist(), np.flatnonzero(whole).tolist(), strict=True)
        )
        self._symbol_ids = {name: s for s, name in enumerate(rules.symbols)}
        self._unary_ids, self._binary_ids, self._root_ids = (
            {tuple(rule): r for r, rule in enumerate(table.tolist())}
            for table in (rules.unary, rules.binary, rules.roots[:, None])
        )
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

    @property
    def tags(self) -> dict[str, int]:
        """Symbols that emit words, by name."""
        return {self.rules.symbols[s]: s for s in self._any_row}

    def look_up(
        self,
        words: Ints,
        seen: Sequence[Mapping[int, int] | None],  # counts of a rare word's symbols in the trees
        tags: Sequence[int] | None = None,  # symbols of words, -1: not given
    ) -> Lexical:
        """Return the emissions of a sentence's words."""
        parts, factors, ptr = [], [], [0]
        for i, (word, counts) in enumerate(zip(words, seen, strict=True)):
            rows = self._emission[self._word_ptr[word] : self._word_ptr[word + 1]]
            factor = np.zeros(len(rows)) if counts is None else self._adjust(rows, counts)
            if tags is not None and tags[i] >= 0:
                mine = rows[:, 0] == tags[i]
                if mine.any():
                    rows, factor = rows[mine], factor[mine]
                else:  # the symbol's weight for all words together
                    rows = np.array([[tags[i], self._any_row[tags[i]]]], dtype=np.int32)
                    factor = np.zeros(1)
            parts.append(rows)
            factors.append(factor)
            ptr.append(ptr[-1] + len(rows))
        places, log_factor = np.concatenate(parts), np.concatenate(factors)
        rows = np.ascontiguousarray(places[:, 1])
        here = np.arange(len(rows), dtype=np.int32)
        return Lexical(
            np.column_stack([places[:, 0], here]), np.array(ptr, dtype=np.int64), rows,
            self._log_emission[rows] + log_factor, log_factor,
        )  # fmt: skip

    def _adjust(self, rows: Ints, counts: Mapping[int, int]) -> Floats:
        """Return log P(tag | word) / P(tag | class) of a rare word with the rows of its class."""
        of_class = np.exp(self._uses[rows[:, 1]])
        of_class = of_class / of_class.sum()
        own = np.array([counts.get(symbol, 0) for symbol in rows[:, 0].tolist()])
        of_word = (own + _SMOOTHING * of_class) / (sum(counts.values()) + _SMOOTHING)
        return np.asarray(np.log(of_word / of_class))

    def make_forest(self, words: Lexical, width: float) -> Forest | None:
        """Return the forest of a sentence of at least one word, or None if it has no tree."""
        n, rules = len(words.ptr) - 1, self.rules
        shape = (n * (n + 1) // 2, rules.longest_chain + 2, rules.n_symbols)
        best_in, best_out = np.empty(shape), np.empty(shape)
        lexical = (np.arange(n, dtype=np.int32), words.emission, words.ptr)
        unary = (rules.unary, self._log_unary)
        binary = (rules.binary, self._rule_ptr, self._log_binary)
        possible, n_possible = np.empty(shape[::2], dtype=np.int32), np.empty(shape[0], np.int32)
        ends = np.empty((n, rules.n_symbols, n), dtype=np.int32)
        n_ends = np.empty((n, rules.n_symbols), dtype=np.int32)
        coarse.fill_inside(
            *lexical, words.log_weights, *unary, *self._by_left, best_in,
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
        for _ in range(2):  # first count, then write
            n_edges = coarse.link_items(
                *lexical, rules.unary, self._unary_ptr, self._log_unary, *binary, best_in,
                best_out, cut, items, ends, n_ends, edge_ptr, edges,
            )  # fmt: skip
            edges = np.full((n_edges, 4), -1, dtype=np.int32) if len(edges) == 0 else edges
        symbols = np.empty(n_items, dtype=np.int32)
        kept = np.flatnonzero(items >= 0)
        symbols[items.reshape(-1)[kept]] = kept % rules.n_symbols
        top = coarse.span_of(0, n)
        return Forest(symbols, edge_ptr, edges, items[top, -1, rules.roots], words)

    def project(self, trees: Forest) -> Projection:
        """Return the edges' posterior probabilities, multiplied over the refined grammars."""
        log_sum, shares = self._sum(trees, self._scaled[0])
        for scaled in self._scaled[1:]:
            if np.isneginf(log_sum):
                break
            other = self._sum(trees, scaled)
            log_sum, shares = log_sum + other.log_sum, shares * other.shares
        is_product = len(self._scaled) > 1 and log_sum > -np.inf
        if is_product and score_rules(trees, shares, "max-rule").root < 0:
            log_sum = -np.inf  # no remaining tree is allowed by all grammars
        return Projection(log_sum, shares)

    @staticmethod
    def _sum(trees: Forest, scaled: ScaledWeights) -> Projection:
        weights, (root_scale, emission_scale, *others) = scaled
        rows = trees.words.rows
        weights = weights._replace(emission=weights.emission[rows])
        scale = (root_scale, emission_scale[rows] + trees.words.log_factor, *others)
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

    def find_trees(self, words: Lexical, decoding: str) -> ScoredForest | None:
        """Return the scored forest of a sentence, or None if it has no tree."""
        for width in self.widths:
            trees = self.make_forest(words, width)
            if trees is None:
                return None
            log_sum, shares = self.project(trees)
            if log_sum > -np.inf:
                return score_rules(trees, shares, decoding)
        return None

    def parse(self, words: Lexical, leaves: Sequence[str], decoding: str) -> ParseTree | None:
        """Return the best binary coarse tree, or None if there is none."""
        scored = self.find_trees(words, decoding)
        return None if scored is None else self.build(scored.trees, best_steps(scored), leaves)

    def build(self, trees: Forest, steps: Steps, leaves: Sequence[str]) -> ParseTree:
        """Return the tree of edges in pre-order."""
        names, rest = self.rules.symbols, list(leaves)
        stack: list[ParseTree] = []
        for item, edge in reversed(steps):
            kind, label = trees.edges[edge, 0], names[trees.symbols[item]]
            if kind == coarse.WORD:
                stack.append(ParseTree._make(label, (rest.pop(),)))
            elif kind == coarse.UNARY:
                stack.append(ParseTree._make(label, (stack.pop(),)))
            elif kind == coarse.BINARY:
                stack.append(ParseTree._make(label, (stack.pop(), stack.pop())))
        (tree,) = stack
        return tree

    def log_sum(self, words: Lexical) -> float:
        """Return the log probability of a sentence, over the trees within the last width."""
        trees = self.make_forest(words, self.widths[-1])
        return -np.inf if trees is None else self._sum(trees, self._means).log_sum

    def log_prob(self, tree: ParseTree, words: Lexical) -> float:
        """Return the log probability of a binary tree and its words, summed over subsymbols."""
        trees = self._forest_of(tree, words)
        return -np.inf if trees is None else self._sum(trees, self._means).log_sum

    def _forest_of(self, tree: ParseTree, words: Lexical) -> Forest | None:
        """Return the forest of a single tree, or None if the grammar does not allow it."""
        symbols: list[int] = []
        edges: list[tuple[int, int, int, int]] = []
        chains: list[int] = []  # number of successive unary nodes of every item
        stack: list[int] = []  # items waiting for their parent, -1: a word
        n_words = 0
        for entry in tree._flat():
            if isinstance(entry, str):
                stack.append(-1)
                continue
            label, n = entry
            symbol, below = self._symbol_ids.get(label, -1), stack[-n:]
            del stack[-n:]
            key = tuple(symbols[child] for child in below if child >= 0)
            chain = 0
            rule: int | None
            if below == [-1]:
                rule, kind = words.find(n_words, symbol), coarse.WORD
                n_words += 1
            elif n == 1:
                rule, kind = self._unary_ids.get((symbol, *key)), coarse.UNARY
                chain = chains[below[0]] + 1
            else:
                rule, kind = self._binary_ids.get((symbol, *key)), coarse.BINARY
            if rule is None or chain > self.rules.longest_chain:
                return None
            stack.append(len(symbols))
            symbols.append(symbol)
            chains.append(chain)
            edges.append((kind, rule, below[0], below[1] if n == 2 else -1))
        root = self._root_ids.get((symbols[-1],))
        if root is None:
            return None
        roots = np.full(len(self.rules.roots), -1, dtype=np.int32)
        roots[root] = len(symbols) - 1
        return Forest(
            np.array(symbols, dtype=np.int32), np.arange(len(edges) + 1),
            np.array(edges, dtype=np.int32), roots, words,
        )  # fmt: skip

    def make_flat(self, words: Lexical, leaves: Sequence[str]) -> ParseTree:
        """Return a tree of the most common root and the most common preterminal of every word."""
        names, children = self.rules.symbols, []
        uses = self._uses[words.rows] + words.log_factor
        for i, leaf in enumerate(leaves):
            start, stop = words.ptr[i : i + 2]
            place = start + int(np.argmax(uses[start:stop]))
            children.append(ParseTree(names[words.emission[place, 0]], [leaf]))
        return ParseTree(self._flat_root, children)


_UNKNOWN, _ANY = -1, -2
"""Pseudo-words for all unknown words, and for all words."""


def _pool(emission: Ints, logs: Floats, n_known: int) -> tuple[Ints, Floats]:
    """Return symbols and words, and logs, with rows of sums over unknown and over all words."""
    rare = emission[:, 1] >= n_known
    if not rare.any():
        rare[:] = True  # without unknown words in the trees, all count as unknown
    tables, sums = [emission], [logs]
    for mine, name in ((rare, _UNKNOWN), (np.ones_like(rare), _ANY)):
        symbols = np.unique(emission[mine, 0])
        total = np.full((len(symbols), logs.shape[1]), -np.inf)
        np.logaddexp.at(total, np.searchsorted(symbols, emission[mine, 0]), logs[mine])
        tables.append(np.column_stack([symbols, np.full(len(symbols), name)]).astype(np.int32))
        sums.append(total)
    return np.concatenate(tables), np.concatenate(sums)


def _share_with_unknown(emission: Ints, logs: Floats, n_tokens: float) -> None:
    """Scale known and unknown words, in place, so that a symbol's words sum to 1 with both.

    Unknown words, not seen in the trees, have the tags of all words. They get half a token besides
    `n_tokens`, divided among the symbols like these, so that factors do not depend on the symbol.
    """
    log_total = np.log(n_tokens + _SMOOTHING)
    logs[emission[:, 1] >= 0] += np.log(n_tokens) - log_total
    logs[emission[:, 1] == _UNKNOWN] += np.log(_SMOOTHING) - log_total


def _by_word(emission: Ints, n_words: int) -> tuple[Ints, NDArray[np.int64]]:
    """Return symbols and rows of the emissions, ordered by words, and the offsets of words."""
    n_shown = np.count_nonzero(emission[:, 1] >= 0)
    shown, pooled = emission[:n_shown], np.flatnonzero(emission[:, 1] == _UNKNOWN)
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
