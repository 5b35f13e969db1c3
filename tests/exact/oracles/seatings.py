"""The same posterior by another road: every seating of every customer, no Stirling numbers.

A document is enumerated as the Chinese restaurant franchise tells its story. From the last
segment to the first, the customers of a segment (its words, and the tables that segment j + 1
ordered there) are partitioned into tables; each table orders its dish from the document or from
the segment before; at the end each table that reached the document draws a topic.
"""

from collections.abc import Iterator, Sequence
from itertools import compress, product
from math import prod
from operator import not_

import numpy as np
from exact.oracles.segmented import (
    Posterior,
    Problem,
    dirichlet_multinomial,
    mixing_factor,
    rising,
    segment_ranges,
    word_factor,
)

Table = tuple[int, ...]  # the tokens that eat its dish


def partitions(items: Sequence) -> Iterator[list[list]]:
    """All partitions of a sequence into blocks."""
    if not items:
        yield []
        return
    head, *rest = items
    for blocks in partitions(rest):
        yield [[head], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [head, *block], *blocks[i + 1 :]]


def orders(model: str, is_first: bool, n_tables: int) -> Iterator[tuple[bool, ...]]:
    """All ways in which the tables of a segment order from the segment before (True) or not."""
    if is_first or model == "segmented":
        yield (False,) * n_tables
    elif model == "sequential":
        yield (True,) * n_tables
    else:
        yield from product((False, True), repeat=n_tables)


def seatings(
    problem: Problem, firsts: Sequence[int], words: list[list[Table]]
) -> Iterator[tuple[float, list[list[Table]], list[list[Table]]]]:
    """Yield probability, and each segment's tables that order from the document, from before."""
    if not words:
        yield 1.0, [], []
        return
    *earlier, customers = words
    is_first, a, b = len(earlier) in firsts, problem.discount, problem.concentration
    for blocks in partitions(customers):
        tables = [sum(block, ()) for block in blocks]
        weight = rising(b, len(tables), a) / rising(b, len(customers))
        weight *= prod(rising(1.0 - a, len(block) - 1) for block in blocks)
        for choice in orders(problem.model, is_first, len(tables)):
            before = list(compress(tables, choice))
            here = list(compress(tables, map(not_, choice)))
            chosen = weight * mixing_factor(problem, is_first, len(here), len(before))
            rest = [*earlier[:-1], earlier[-1] + before] if before else earlier
            for factor, s, t in seatings(problem, firsts, rest):
                yield chosen * factor, [*s, here], [*t, before]


def enumerate_seatings(problem: Problem) -> Posterior:
    """Return co-assignment, topics, tables and evidence of a problem with a fixed concentration."""
    n_topics, n_tokens = len(problem.alpha), len(problem.words)
    words = [[] for _ in range(problem.doc_ptr[-1])]
    for token, j in enumerate(problem.segment_of_token):
        words[j].append((token,))
    per_document = [
        [
            labelled
            for seating in seatings(problem, problem.firsts(d), words[first:last])
            for labelled in with_topics(problem, *seating)
        ]
        for d, (first, last) in enumerate(segment_ranges(problem))
    ]
    evidence, coassignment = 0.0, np.zeros((n_tokens, n_tokens))
    marginals = np.zeros((n_tokens, n_topics))
    s, t = np.zeros((2, len(words), n_topics))
    for choice in product(*per_document):
        topics = {token: k for _, z, _, _ in choice for token, k in z.items()}
        z = [topics[i] for i in range(n_tokens)]
        weight = word_factor(problem, z) * prod(probability for probability, *_ in choice)
        evidence += weight
        indicator = np.equal.outer(z, range(n_topics))
        marginals += weight * indicator
        coassignment += weight * (indicator @ indicator.T)
        s += weight * np.concatenate([tables for _, _, tables, _ in choice])
        t += weight * np.concatenate([tables for _, _, _, tables in choice])
    return Posterior(
        log_evidence=float(np.log(evidence)),
        coassignment=coassignment / evidence,
        topics=marginals / evidence,
        tables_to_document=s / evidence,
        tables_to_previous=t / evidence,
        mu=np.empty(0),
        nu=np.empty(0),
        weight_of_document=np.empty(0),
        log_joint=np.nan,
        discount=problem.discount,
        concentration=problem.concentration,
    )


def with_topics(problem: Problem, weight: float, to_document, to_previous):
    """Give each table that reached the document a topic; yield weight, {token: topic}, s, t."""
    n_topics = len(problem.alpha)
    roots = [table for tables in to_document for table in tables]
    for dishes in product(range(n_topics), repeat=len(roots)):
        counts = np.bincount(dishes, minlength=n_topics) if dishes else np.zeros(n_topics)
        topics = {token: k for k, root in zip(dishes, roots, strict=True) for token in root}
        s, t = (
            np.array([
                np.bincount([topics[table[0]] for table in tables] or [n_topics],
                            minlength=n_topics)[:n_topics]
                for tables in side
            ]).reshape(-1, n_topics)
            for side in (to_document, to_previous)
        )  # fmt: skip
        yield weight * dirichlet_multinomial(problem.alpha, counts), topics, s, t
