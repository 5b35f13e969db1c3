"""The posterior of ``segmented.py`` from every seating of every customer, no Stirling numbers.

A document is enumerated as the Chinese restaurant franchise tells its story. From the last
segment to the first, the customers of a segment (its words, and the tables that segment j + 1
ordered there) are partitioned into tables; each table orders its dish from the document or from
the segment before; at the end each table that reached the document draws a topic."""

from collections.abc import Iterator, Sequence
from itertools import chain, compress, product
from math import prod
from operator import not_
from types import SimpleNamespace

from exact.oracles.enumeration import average, dirichlet_multinomial, of_topics, rising
from exact.oracles.segmented import Problem, mixing_factor

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


def with_topics(problem: Problem, weight: float, to_document, to_previous):
    """Give each table that reached the document a topic; yield weight, {token: topic}, s, t."""
    n_topics = len(problem.alpha)
    roots = [table for tables in to_document for table in tables]
    for dishes in product(range(n_topics), repeat=len(roots)):
        counts = [dishes.count(k) for k in range(n_topics)]
        topics = {token: k for k, root in zip(dishes, roots, strict=True) for token in root}
        s, t = (
            [[sum(topics[table[0]] == k for table in tables) for k in range(n_topics)]
             for tables in side]
            for side in (to_document, to_previous)
        )  # fmt: skip
        yield weight * dirichlet_multinomial(problem.alpha, counts), topics, s, t


def enumerate_seatings(problem: Problem) -> SimpleNamespace:
    """Return co-assignment, topics, tables and evidence of a problem with a fixed concentration."""
    n_topics = len(problem.alpha)
    words = [[] for _ in problem.segments]
    for token, j in enumerate(problem.segment_of_token):
        words[j].append((token,))
    per_document = [
        [
            labelled
            for seating in seatings(problem, problem.firsts(d), words[first:last])
            for labelled in with_topics(problem, *seating)
        ]
        for d, (first, last) in enumerate(problem.ranges)
    ]

    def states():
        for choice in product(*per_document):
            weights, topics, s, t = zip(*choice, strict=True)
            z = [k for _, k in sorted(pair for each in topics for pair in each.items())]
            yield (
                problem.word_factor(z, n_topics) * prod(weights),
                {
                    **of_topics(z, n_topics),
                    "tables_to_document": [*chain(*s)],
                    "tables_to_previous": [*chain(*t)],
                },
            )

    return average(states())
