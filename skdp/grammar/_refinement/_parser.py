"""Parsing with refined grammars: forests, the parser, queries of sentences, and predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_jobs
from skdp._numeric import Floats, Ints
from skdp._sklearn_compat import validate_parameters
from skdp.data._binarize import binarize, debinarize
from skdp.data._parse_tree import ParseTree, as_in_treebanks
from skdp.grammar._chart._ascents import warn_of_unparsed
from skdp.grammar._chart._k_best import TOP, BestTrees, Steps
from skdp.grammar._kernels import _forest as forest
from skdp.grammar._kernels._forest import COPY
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    ScaledWeights,
    count_coarse,
)
from skdp.grammar._refinement._treebank import (
    CoarseRules,
    TreebankLexicon,
    binarize_all,
    check_sentences,
    check_tags,
    check_trees,
    check_yields,
    flatten,
)
from skdp.metrics import bracket_scores

# Best trees of a forest, given the posterior probabilities of its edges.


class Lexical(NamedTuple):
    """Possible emissions of the words of a sentence."""

    emission: Ints  # (m, 2), symbol, and row of this table
    ptr: NDArray[np.int64]  # (n + 1,), offsets of the rows of every word
    rows: Ints  # (m,), rows of the grammar's emissions
    log_weights: Floats  # (m,), under the coarse grammar
    log_factor: Floats  # (m,), log factors of the grammar's weights

    def find(self, word: int, symbol: int) -> int | None:
        """Return the row of a word's emission by a symbol, or None if there is none."""
        start, stop = self.ptr[word : word + 2]
        places = np.flatnonzero(self.emission[start:stop, 0] == symbol)
        return int(start + places[0]) if len(places) else None


class Forest(NamedTuple):
    """Items and edges of a sentence's pruned chart."""

    symbols: Ints  # (n_items,)
    edge_ptr: NDArray[np.int64]  # (n_items + 1,)
    edges: Ints  # (n_edges, 4), see `_kernels/_forest`
    root_items: Ints  # (R,), items of whole sentences with the roots' symbols, -1: none
    words: Lexical  # emissions, to which edges refer by row


class ScoredForest(NamedTuple):
    """A forest with scores of edges and roots, whose sum is the score of a tree."""

    trees: Forest
    scores: Floats  # (n_edges,), -inf: the edge is not in a tree
    root_scores: Floats  # (n_items,)
    best: Floats  # (n_items,), the highest sum of scores of an item's subtrees
    choice: NDArray[np.int64]  # (n_items,), the first edge of the best subtree
    root: int  # item of the best tree


def score_rules(trees: Forest, shares: Floats, decoding: str) -> ScoredForest:
    """Return the scores of the edges, given their posterior probabilities."""
    n_items = len(trees.symbols)
    scores = np.full(len(shares), -np.inf)
    np.log(shares, out=scores, where=shares > 0.0)
    root_scores = np.zeros(n_items)
    if decoding == "max-rule":  # posteriors of all rules of a tree are multiplied
        scores[(trees.edges[:, 0] == COPY) & (shares > 0.0)] = 0.0
    else:  # an item chooses independently among its edges, the root by the items' posteriors
        items = np.repeat(np.arange(n_items), np.diff(trees.edge_ptr))
        totals = np.bincount(items, weights=shares, minlength=n_items)
        root_scores = np.full(n_items, -np.inf)
        np.log(totals, out=root_scores, where=totals > 0.0)
        np.subtract(scores, root_scores[items], out=scores, where=shares > 0.0)
    best, choice = np.empty(n_items), np.empty(n_items, dtype=np.int64)
    root = forest.find_best(
        trees.edge_ptr, trees.edges, trees.root_items, scores, root_scores, best, choice
    )
    return ScoredForest(trees, scores, root_scores, best, choice, root)


def best_steps(scored: ScoredForest) -> Steps:
    """Return the best tree."""
    edges, steps, stack = scored.trees.edges, [], [int(scored.root)]
    while stack:
        item = stack.pop()
        edge = int(scored.choice[item])
        steps.append((item, edge))
        stack += _children(edges, edge)[::-1]
    return steps


def _children(edges: Ints, edge: int) -> list[int]:
    """Return the items below an edge."""
    return [item for item in edges[edge, 2:].tolist() if item >= 0]


class BestForestTrees(BestTrees):
    """The best trees of a forest, in which the edges of `TOP` are the indices of the roots."""

    def __init__(self, scored: ScoredForest):
        super().__init__()
        self._scored = scored

    def _edges(self, item: int) -> list[tuple[int, float]]:
        trees = self._scored.trees
        if item == TOP:
            edges = range(len(trees.root_items))
        else:
            edges = range(*trees.edge_ptr[item : item + 2].tolist())
        return [
            (edge, self._score(item, edge) + sum(map(self._best, self._below(item, edge))))
            for edge in edges
        ]

    def _below(self, item: int, edge: int) -> list[int]:
        trees = self._scored.trees
        if item == TOP:
            return [i for i in trees.root_items[edge : edge + 1].tolist() if i >= 0]
        return _children(trees.edges, edge)

    def _score(self, item: int, edge: int) -> float:
        if item != TOP:
            return float(self._scored.scores[edge])
        root = self._scored.trees.root_items[edge]
        return float(self._scored.root_scores[root]) if root >= 0 else -np.inf

    def _best(self, item: int) -> float:
        return float(self._scored.best[item])


# The parser: coarse trees of sentences, by pruning and sums over subsymbols.


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
        parts, factors = [], []
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
        ptr = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        places, log_factor = np.concatenate(parts), np.concatenate(factors)
        rows = np.ascontiguousarray(places[:, 1])
        here = np.arange(len(rows), dtype=np.int32)
        return Lexical(
            np.column_stack([places[:, 0], here]), ptr, rows,
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
        forest.fill_inside(
            *lexical, words.log_weights, *unary, *self._by_left, best_in,
            possible, n_possible, ends, n_ends,
        )  # fmt: skip
        cut = forest.fill_outside(
            n, rules.roots, self._log_root, *unary, *binary, best_in, ends, n_ends, width, best_out
        )
        if np.isneginf(cut):
            return None
        items = np.empty(shape, dtype=np.int32)
        n_items = forest.number_items(n, best_in, best_out, cut, items)
        edge_ptr = np.empty(n_items + 1, dtype=np.int64)
        edges = np.empty((0, 4), dtype=np.int32)
        for _ in range(2):  # first count, then write
            n_edges = forest.link_items(
                *lexical, rules.unary, self._unary_ptr, self._log_unary, *binary, best_in,
                best_out, cut, items, ends, n_ends, edge_ptr, edges,
            )  # fmt: skip
            edges = np.empty((n_edges, 4), dtype=np.int32) if len(edges) == 0 else edges
        symbols = np.empty(n_items, dtype=np.int32)
        kept = np.flatnonzero(items >= 0)
        symbols[items.reshape(-1)[kept]] = kept % rules.n_symbols
        top = forest.span_of(0, n)
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
        (weights, scale), rows = scaled, trees.words.rows
        weights = weights._replace(emission=weights.emission[rows])
        scale = scale._replace(emission=scale.emission[rows] + trees.words.log_factor)
        n_items, n = len(trees.symbols), weights.n_components
        inside, outside = np.empty((2, n_items, n))
        log_in, shares = np.empty(n_items), np.empty(len(trees.edges))
        pairs = np.empty((n, n))
        forest.sum_inside(trees.edge_ptr, trees.edges, weights, scale, inside, log_in, pairs)
        log_sum = forest.sum_outside(
            trees.edge_ptr, trees.edges, trees.root_items, weights, scale, inside, log_in,
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
            if kind == forest.WORD:
                stack.append(ParseTree._make(label, (rest.pop(),)))
            elif kind == forest.UNARY:
                stack.append(ParseTree._make(label, (stack.pop(),)))
            elif kind == forest.BINARY:
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
                rule, kind = words.find(n_words, symbol), forest.WORD
                n_words += 1
            elif n == 1:
                rule, kind = self._unary_ids.get((symbol, *key)), forest.UNARY
                chain = chains[below[0]] + 1
            else:
                rule, kind = self._binary_ids.get((symbol, *key)), forest.BINARY
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
    """Scale known and unknown words, in place, so that a symbol's words sum to 1 with both."""
    # Unknown words, not seen in the trees, have the tags of all words. They get half a token
    # besides `n_tokens`, divided among the symbols like these, so that factors do not depend on the
    # symbol.
    log_total = np.log(n_tokens + _SMOOTHING)
    logs[emission[:, 1] >= 0] += np.log(n_tokens) - log_total
    logs[emission[:, 1] == _UNKNOWN] += np.log(_SMOOTHING) - log_total


def _by_word(emission: Ints, n_words: int) -> tuple[Ints, NDArray[np.int64]]:
    """Return symbols and rows of the emissions, ordered by words, and the offsets of words."""
    n_shown = np.count_nonzero(emission[:, 1] >= 0)
    shown, pooled = emission[:n_shown], np.flatnonzero(emission[:, 1] == _UNKNOWN)
    order = np.argsort(shown[:, 1], kind="stable")
    sizes = np.bincount(shown[:, 1], minlength=n_words)
    shown_rows = np.split(order, np.cumsum(sizes)[:-1])
    rows = [mine if len(mine) else pooled for mine in shown_rows]
    places = np.concatenate(rows)
    ptr = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.column_stack([emission[places, 0], places]).astype(np.int32), ptr


# Queries of sentences to a fitted grammar, as objects that can be pickled.


_N_CANDIDATES = 50
"""Number of trees among which "marginal" chooses the most probable."""

Sentence = tuple[str, ...]

Tags = list[int] | None

RankedTree = tuple[ParseTree, float]


@dataclass(frozen=True, eq=False)
class ParseRequest:
    """A grammar, its lexicon, and the vertical order of its symbols."""

    lexicon: TreebankLexicon
    parser: RefinedParser
    vertical_order: int

    def undo(self, tree: ParseTree) -> ParseTree:
        """Return a tree with the treebank's symbols, from a tree with the grammar's symbols."""
        return debinarize(tree, self.vertical_order)

    def look_up(self, sentence: Sentence, tags: Tags) -> Lexical:
        """Return the possible emissions of the words of a sentence."""
        words = [as_in_treebanks(word) for word in sentence]
        return self.parser.look_up(self.lexicon.encode(words), self.lexicon.seen(words), tags)

    def find(self, sentence: Sentence, words: Lexical, decoding: str) -> ParseTree | None:
        """Return the best tree of a sentence, or None if there is none."""
        if decoding != "marginal":
            tree = self.parser.parse(words, sentence, decoding)
        else:
            ranked = rank_trees(self.parser, words, sentence, decoding, 1)
            tree = ranked[0][0] if ranked else None
        return None if tree is None else self.undo(tree)

    def translate(self, tags: Tags, other: RefinedParser) -> Tags:
        """Return the symbols in this parser of tags given as symbols of another parser."""
        if tags is None:
            return None
        names = other.rules.symbols
        return [tag if tag < 0 else self.parser.tags[names[tag]] for tag in tags]

    def best_tree(
        self, decoding: str, backoff: ParseRequest | None, sentence: Sentence, tags: Tags
    ) -> tuple[ParseTree | None, bool]:
        """Return the tree of a sentence, and whether it is a parse; `backoff` parses the others."""
        if not sentence:
            return None, True
        words = self.look_up(sentence, tags)
        tree = self.find(sentence, words, decoding)
        if tree is None and backoff is not None:
            others = backoff.look_up(sentence, backoff.translate(tags, self.parser))
            tree = backoff.find(sentence, others, decoding)
        if tree is None:
            return self.undo(self.parser.make_flat(words, sentence)), False
        return tree, True

    def best_trees(self, decoding: str, k: int, sentence: Sentence, tags: Tags) -> list[RankedTree]:
        """Return the best trees of a sentence and their log probabilities."""
        if not sentence:
            return []
        ranked = rank_trees(self.parser, self.look_up(sentence, tags), sentence, decoding, k)
        return [(self.undo(tree), log_prob) for tree, log_prob in ranked]

    def log_sum(self, sentence: Sentence) -> float:
        """Return the log probability of a sentence."""
        return self.parser.log_sum(self.look_up(sentence, None)) if sentence else 0.0

    def weigh(self, sentence: Sentence, tree: ParseTree | None) -> float:
        """Return the posterior probability of a tree."""
        if tree is None:
            return 1.0
        words = self.look_up(sentence, None)
        log_prob = self.parser.log_prob(tree, words)
        if not log_prob > -np.inf:
            return 0.0
        # A pruned tree is not part of the sum.
        return float(np.exp(log_prob - max(log_prob, self.parser.log_sum(words))))


def rank_trees(
    parser: RefinedParser, words: Lexical, sentence: Sentence, decoding: str, k: int
) -> list[RankedTree]:
    """Return the k best binary trees, or all if there are fewer, and their log probabilities."""
    is_marginal = decoding == "marginal"
    scored = parser.find_trees(words, "max-rule" if is_marginal else decoding)
    if scored is None:
        return []
    found = []
    for steps in BestForestTrees(scored).first(max(k, _N_CANDIDATES) if is_marginal else k):
        tree = parser.build(scored.trees, steps, sentence)
        found.append((tree, parser.log_prob(tree, words)))
    if is_marginal:
        found.sort(key=lambda pair: -pair[1])
    return found[:k]


# Predictions of a fitted `HDPPCFGRefiner`.


class RefinedParsing:
    """Mixin for trees and probabilities of sentences, from `_lexicon` and `_parser`."""

    _lexicon: TreebankLexicon
    _parser: RefinedParser
    _backoff: ParseRequest | None = None
    _orders: tuple[int, int]
    decoding: str
    n_jobs: int | None

    def predict(self, X: Any, tags: Any = None) -> list[ParseTree | None]:
        """Return the best coarse tree of each sentence.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        tags : sequence of n_sentences sequences of str or None, or None, default=None
            Known tags of the words: symbols that have words in the training trees. None instead of
            a tag, of the tags of a sentence, or of all tags: unknown.

        Returns
        -------
        list of n_sentences ParseTree or None
            Trees that are not binarized, with the words of X. A sentence that has no parse gets the
            best tree of the treebank's own grammar if `horizontal_order` or `vertical_order` led to
            a finer grammar. If that also has no parse, it gets a flat tree of preterminals below
            the most common root, with a warning that gives its number. Other methods still treat
            both as sentences without a parse. A sentence without words has no tree: None.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words, a word is empty or has white space, or
            `tags` do not belong to X.
        """
        found = self._ask(ParseRequest.best_tree, X, tags, self._backoff)
        unparsed = np.array([not is_parsed for _, is_parsed in found], dtype=bool)
        warn_of_unparsed(unparsed, "get a flat tree", 2)
        return [tree for tree, _ in found]

    def k_best(self, X: Any, k: int = 10, *, tags: Any = None) -> list[list[RankedTree]]:
        """Return the best coarse trees of each sentence, and their log probabilities.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        k : int, default=10
        tags : as in `predict`

        Returns
        -------
        list of n_sentences lists of (ParseTree, float)
            The k best trees by `decoding`, starting with the tree that `predict` returns. The
            number is log p(tree, words), summed over subsymbols, under the same grammar as
            `score_samples`. With "max-rule" and "projection" the numbers need not be in descending
            order. A sentence has fewer than k trees if its pruned chart has no more, and no trees
            if it has no parse or no words.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words, `tags` do not belong to X, or k < 1.
        """
        k = check_count(k, "k", at_least=1)
        return self._ask(ParseRequest.best_trees, X, tags, k)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of the words of each sentence.

        The probability is under the posterior mean of the grammar (without "vb", the grammar
        itself), summed over the trees whose items are parts of coarse trees at most exp(20) times
        less likely than the best tree. Rare words have the probability of their class. If the
        training sentences had no rare words, all unknown words are one class that counts as half a
        token more: of N training tokens, known words keep N / (N + 1/2) of the probability of a
        symbol's words, and the class has the rest.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str

        Returns
        -------
        (n_sentences,) array
            Natural logarithm; 0 for a sentence without words; -inf for a sentence without a parse.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words.
        """
        check_is_fitted(self)
        return np.array(self._map(self._request.log_sum, check_sentences(X)), dtype=np.float64)

    def tree_proba(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the posterior probability of each tree given its words.

        For a tree that `predict` returned, it is the certainty of the grammar about the whole tree.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        y : sequence of n_sentences ParseTree or None
            Trees over these words, in the format of the treebank; None for sentences without words.

        Returns
        -------
        (n_sentences,) array
            p(tree, words) / p(words), both as in `k_best` and `score_samples`. 0 for a tree that
            the grammar does not allow; 1 for a sentence without words.

        Raises
        ------
        ValueError, TypeError
            If X or y is invalid, or the words of a tree differ from its sentence.
        """
        check_is_fitted(self)
        sentences, trees = check_sentences(X), check_trees(y)
        check_yields(sentences, trees)
        binary = binarize_all(trees, *self._orders)
        return np.array(self._map(self._request.weigh, sentences, binary), dtype=np.float64)

    def _ask(self, kind: Any, X: Any, tags: Any, more: Any) -> list[Any]:
        """Return the results of a query for all sentences."""
        check_is_fitted(self)
        validate_parameters(self)
        sentences = check_sentences(X)
        symbols = check_tags(tags, sentences, self._parser.tags)
        return self._map(partial(kind, self._request, self.decoding, more), sentences, symbols)

    @property
    def _request(self) -> ParseRequest:
        return ParseRequest(self._lexicon, self._parser, self._orders[1])

    def _map(self, ask: Any, *rows: Any) -> list[Any]:
        return list(
            Parallel(n_jobs=check_jobs(self.n_jobs), prefer="threads")(map(delayed(ask), *rows))
        )

    def score(self, X: Any, y: Any) -> float:
        """Return the F1 score of labeled brackets; higher is better.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        y : sequence of n_sentences ParseTree or None
            The true trees; None for sentences without words.

        Returns
        -------
        float
            From 0 to 1, by the conventions of EVALB (see :func:`skdp.metrics.bracket_scores`):
            punctuation is deleted after parsing.

        Raises
        ------
        ValueError, TypeError
            If X or y is invalid, or no sentence has a word.
        """
        check_is_fitted(self)
        sentences, trees = check_sentences(X), check_trees(y)
        check_yields(sentences, trees)
        if not any(sentences):
            raise ValueError("X has no words to score.")
        return float(bracket_scores(trees, self.predict(sentences)).f1)


# The treebank's own grammar, for sentences that a finer grammar cannot parse.


def make_backoff(
    trees: Sequence[ParseTree],
    sentences: Sequence[Sequence[str]],
    lexicon: TreebankLexicon,
    widths: Sequence[float],
) -> ParseRequest:
    """Return the grammar of trees without siblings, ancestors and subsymbols in its symbols."""
    # It has every rule of grammars of higher orders, and so parses every sentence that they parse.
    flat = flatten(
        [binarize(tree) for tree in trees], [lexicon.encode(sentence) for sentence in sentences]
    )
    own = copy(lexicon)
    own.count_symbols(sentences, flat.word_symbols.tolist())
    counts = count_coarse(flat)
    logs = MaximumLikelihoodRefinement(flat.rules, 0.0, 1).updated(counts).weights()
    parser = RefinedParser(flat.rules, counts, logs, logs, logs, len(own), own.n_known, widths)
    return ParseRequest(own, parser, 1)
