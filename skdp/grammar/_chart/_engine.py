"""Inside and outside sums, best trees and sampled trees of sentences under given weights."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Places
from skdp.grammar._chart._paths import (
    ExtendedSpace,
    LaneRules,
    LongRules,
    RuleWeights,
    SentenceBatches,
    Sentences,
    are_long,
    find_best_trees,
)
from skdp.grammar._kernels import _lanes as lanes

Words = Sentences | SentenceBatches


class ExpectedCounts(NamedTuple):
    """Expected uses of every rule, summed over sentences; those without a tree add nothing."""

    log_prob: Floats  # (n,), log of the summed weight of each sentence's trees, -inf without any
    root: Floats  # (S,)
    emission: Floats  # (P, V)
    binary: Floats  # (C, S, S)


class TreeArrays(NamedTuple):
    """Trees of sentences, one after another, each in pre-order; no nodes for one without a tree."""

    # The left child of a node of length > 1 is the next node; its right child follows the subtree
    # of the left child, which has 2 (its length) - 1 nodes.

    symbols: NDArray[np.int32]  # (N,)
    lengths: NDArray[np.int32]  # (N,), number of words below every node
    node_ptr: NDArray[np.int64]  # (n + 1,), nodes of sentence s: node_ptr[s] to node_ptr[s + 1] - 1


def expected_counts(
    sentences: Words, weights: RuleWeights, *, dtype: Any = np.float64, n_jobs: int | None = None
) -> ExpectedCounts:
    """Return log probabilities and the expected uses of rules, with sums of type `dtype`."""
    batches = SentenceBatches.of(sentences)
    log_prob, totals, _ = _sum(batches, weights, batches.multiplicity, dtype, n_jobs, counts=True)
    return ExpectedCounts(log_prob[batches.inverse], *totals)


def inside(
    sentences: Words, weights: RuleWeights, *, dtype: Any = np.float64, n_jobs: int | None = None
) -> Floats:
    """Return the log of the summed weight of all trees of each sentence, (n,)."""
    batches = SentenceBatches.of(sentences)
    log_prob, *_ = _sum(batches, weights, batches.multiplicity, dtype, n_jobs)
    return log_prob[batches.inverse]


def expected_symbols(
    sentences: Words, weights: RuleWeights, *, dtype: Any = np.float64, n_jobs: int | None = None
) -> Floats:
    """Return the expected number of nodes of each symbol in each sentence, (n, S)."""
    batches = SentenceBatches.of(sentences)
    once = np.ones(len(batches.distinct))
    *_, symbols = _sum(batches, weights, once, dtype, n_jobs, counts=True, symbols=True)
    return symbols[batches.inverse]


def viterbi(
    sentences: Words, weights: RuleWeights, *, n_jobs: int | None = None
) -> tuple[Floats, TreeArrays]:
    """Return the log weight of the most probable tree of each sentence, (n,), and the trees."""
    # Ties are broken from the root downwards: the first of the best root symbols, then the first of
    # the best pairs of child symbols, then the leftmost split point.
    batches = SentenceBatches.of(sentences)
    log_prob = np.empty(len(batches.distinct))
    found: list[Any] = [None] * len(log_prob)
    work, everything = partial(find_best_trees, batches, weights), np.arange(len(log_prob))
    for part, trees in batches.map(work, everything, 1, n_jobs):
        for place, (log_weight, *tree) in zip(part, trees, strict=True):
            log_prob[place] = log_weight
            found[place] = tree
    return log_prob[batches.inverse], join_trees([found[place] for place in batches.inverse])


def sample_trees(
    sentences: Words,
    weights: RuleWeights,
    streams: NDArray[np.uint64],
    *,
    n_jobs: int | None = None,
) -> TreeArrays:
    """Draw a tree for each sentence given its words; `streams`, (n, 4), are advanced in place."""
    batches = SentenceBatches.of(sentences)
    rules = LaneRules(weights, np.float64)
    order = np.argsort(batches.inverse, kind="stable")
    ends = np.cumsum(batches.multiplicity).astype(np.int64)
    members = np.split(order, ends[:-1])
    found: list[Any] = [None] * len(batches.inverse)
    everything = np.arange(len(batches.distinct))
    draw = partial(_draw, batches, rules, weights, members, streams)
    for _, drawn in batches.map(draw, everything, rules.n_lanes, n_jobs):
        for i, stream, tree in drawn:
            streams[i] = stream
            found[i] = tree
    return join_trees(found)


# Work on a part of the sentences, which may be done in another process.


def _draw(
    batches: SentenceBatches,
    rules: LaneRules,
    weights: RuleWeights,
    members: list[Places],  # all sentences that are equal to each distinct sentence
    streams: NDArray[np.uint64],
    part: Places,
) -> list[tuple[int, NDArray[np.uint64], Any]]:
    """Return drawn trees: the index of the sentence, its advanced stream, and the tree."""
    chart = ExtendedSpace(weights, batches.longest(part))
    drawn: list[tuple[int, NDArray[np.uint64], Any]] = []
    for begin in range(0, len(part), rules.n_lanes):
        batch = part[begin : begin + rules.n_lanes]
        space = rules.make_space(batches.longest(batch))
        _, unsafe = _sum_inside(batches, rules, batches.multiplicity[batch], space, batch)
        # Unsafe sentences have a chart of their own, which only the extended range can fill.
        for group in [np.flatnonzero(~unsafe), *np.flatnonzero(unsafe)[:, np.newaxis]]:
            which, is_filled = batch[group], bool(unsafe[group].any())
            is_parsed = True
            if is_filled:
                sentence = batches.sentence(which[0])
                is_parsed = chart.sum_inside(sentence)[2] > -np.inf
            times = batches.multiplicity[which].astype(np.int64)
            sizes = np.repeat(2 * batches.lengths(batches.distinct[which]) - 1, times) * is_parsed
            symbols, lengths = np.empty((2, sizes.sum()), dtype=np.int32)
            places = np.concatenate([np.empty(0, np.int64), *(members[place] for place in which)])
            advanced = streams[places]
            if is_parsed:
                lanes.draw_trees(
                    group, times, is_filled, rules.numbers, space, *chart.for_draws,
                    advanced, symbols, lengths,
                )  # fmt: skip
            parts = (np.split(nodes, np.cumsum(sizes)[:-1]) for nodes in (symbols, lengths))
            drawn += zip(places.tolist(), advanced, zip(*parts, strict=False), strict=False)
    return drawn


class _Counts(NamedTuple):
    """Arrays to which the kernels add."""

    root: Floats  # (S,)
    emission: Floats  # (V, P)
    words: Floats  # (C, pairs), in the layout of the rules
    rest: Floats
    symbols: Floats  # (m, S) or (0, S)

    @classmethod
    def zeros(cls, rules: LaneRules | LongRules, n_symbol_rows: int) -> _Counts:
        n_words, n_rest = rules.n_pairs
        return cls(
            np.zeros(rules.n_symbols),
            np.zeros(rules.numbers.emission.shape),
            np.zeros((rules.n_branching, n_words)),
            np.zeros((rules.n_branching, n_rest)),
            np.zeros((n_symbol_rows, rules.n_symbols)),
        )


def _sum_inside(
    batches: SentenceBatches, rules: LaneRules | LongRules, times: Floats, space: Any, part: Places
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return log probabilities and a mask of unsafe ones."""
    # Inside sums alone need a kernel of half the size, but leave some sentences in doubt, whose
    # safety only the outside sums determine.
    log_prob, unsafe = np.empty(len(part)), np.zeros(len(part), dtype=bool)
    rules.sum_inside(batches, part, times, space, log_prob, unsafe)
    in_doubt = np.flatnonzero(unsafe)
    if len(in_doubt):
        values, is_unsafe = np.empty(len(in_doubt)), np.zeros(len(in_doubt), dtype=bool)
        unused = _Counts.zeros(rules, 0)
        which = part[in_doubt]
        rules.count(batches, which, times[in_doubt], space, values, is_unsafe, *unused)
        log_prob[in_doubt], unsafe[in_doubt] = values, is_unsafe
    return log_prob, unsafe


def _sum_part(
    batches: SentenceBatches,
    rules: LaneRules | LongRules,
    multiplicity: Floats,
    counts: bool,
    symbols: bool,
    part: Places,
) -> tuple[Floats, NDArray[np.bool_], _Counts | None]:
    """Return log probabilities, a mask of unsafe ones, and counts or None."""
    times, space = multiplicity[part], rules.make_space(batches.longest(part))
    if not counts:
        return *_sum_inside(batches, rules, times, space, part), None
    log_prob, unsafe = np.empty(len(part)), np.zeros(len(part), dtype=bool)
    found = _Counts.zeros(rules, len(part) if symbols else 0)
    rules.count(batches, part, times, space, log_prob, unsafe, *found)
    return log_prob, unsafe, found


def _sum_in_extended_range(
    batches: SentenceBatches, weights: RuleWeights, multiplicity: Floats, part: Places
) -> tuple[Floats, list[Floats], Floats]:
    """Return log probabilities, counts and symbols, with numbers of unlimited range."""
    space = ExtendedSpace(weights, batches.longest(part))
    counts = [np.zeros(table.shape) for table in weights[:3]]
    found, nodes = np.empty(len(part)), np.zeros((len(part), weights.n_symbols))
    for k, place in enumerate(part):
        found[k] = space.count(batches.sentence(place), multiplicity[place], counts, nodes[k])
    return found, counts, nodes


def _sum(
    batches: SentenceBatches,
    weights: RuleWeights,
    multiplicity: Floats,
    dtype: Any,
    n_jobs: int | None,
    *,
    counts: bool = False,
    symbols: bool = False,
) -> tuple[Floats, list[Floats], Floats]:
    """Return log probabilities of the distinct sentences, expected counts, and expected symbols."""
    n = len(batches.distinct)
    log_prob = np.empty(n)
    totals = [np.zeros(part.shape) for part in weights[:3]]
    all_symbols = np.zeros((n if symbols else 0, weights.n_symbols))
    left = np.arange(n)
    # Unsafe sentences are repeated in double precision, and if still unsafe, in extended range.
    for precision in {np.dtype(dtype): None, np.dtype(np.float64): None}:
        if len(left) == 0:
            break
        rules = LaneRules(weights, precision)

        long = are_long(batches.lengths(batches.distinct[left]), rules.n_lanes)
        works: list[tuple[LaneRules | LongRules, Places]] = [(rules, left[~long])]
        if long.any():
            works.append((LongRules(rules), left[long]))
        unsafe = [left[:0]]
        for mine, places in works:
            sums = _Counts.zeros(mine, 0)
            work = partial(_sum_part, batches, mine, multiplicity, counts, symbols)
            for part, (values, is_unsafe, found) in batches.map(work, places, mine.n_lanes, n_jobs):
                log_prob[part] = values
                unsafe.append(part[is_unsafe])
                if found is not None:
                    for total, each in zip(sums[:4], found[:4], strict=True):
                        total += each
                if symbols:
                    all_symbols[part] = found.symbols
            totals[0] += sums.root
            totals[1] += np.where(weights.log_emission > -np.inf, sums.emission.T, 0.0)
            totals[2] += mine.join(sums.words, sums.rest) * rules.binary
        left = np.sort(np.concatenate(unsafe))
    extended = partial(_sum_in_extended_range, batches, weights, multiplicity)
    for part, (values, of_part, nodes) in batches.map(extended, left, 1, n_jobs):
        log_prob[part] = values
        for total, each in zip(totals, of_part, strict=True):
            total += each
        if symbols:
            all_symbols[part] = nodes
    return log_prob, totals, all_symbols


def join_trees(parts: list[Any]) -> TreeArrays:
    """Return the trees whose symbols and lengths are given."""
    node_ptr = np.zeros(len(parts) + 1, dtype=np.int64)
    node_ptr[1:] = np.cumsum([len(symbols) for symbols, _ in parts])
    empty = [(np.empty(0, dtype=np.int32),) * 2]
    symbols, lengths = (np.concatenate(arrays) for arrays in zip(*(parts or empty), strict=True))
    return TreeArrays(symbols, lengths, node_ptr)
