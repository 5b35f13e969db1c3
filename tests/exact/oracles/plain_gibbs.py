"""A slow Gibbs sampler of the segmented topic model that keeps every table: the harness's dummy.

Words leave and take seats one at a time in an explicit Chinese restaurant franchise, so that it
needs no ratio of Stirling numbers and shares no formula with a sampler of table counts."""

import random
from collections.abc import Callable

import numpy as np
from exact.oracles.segmented import Problem


def plain_gibbs(
    problem: Problem,
    n_sweeps: int,
    seed: int,
    seat_at_table: Callable[[int, float], float] = lambda size, discount: size - discount,
) -> tuple[np.ndarray, np.ndarray]:
    """Return topics (n_sweeps, n_tokens) and tables to the document (n_sweeps, n_segments, K).
    `seat_at_table` weighs an occupied table; a wrong one makes a wrong sampler."""
    rng = random.Random(seed)
    n_topics, a, b = len(problem.alpha), problem.discount, problem.concentration
    segment_of_token, words = problem.segment_of_token, problem.words
    document_of_segment = [d for d, doc in enumerate(problem.documents) for _ in doc]
    tables = [[] for _ in document_of_segment]  # of each segment: [topic, tokens]
    n_kw = np.zeros((n_topics, problem.n_features)).tolist()
    n_k = [0] * n_topics
    c_dk = [[0] * n_topics for _ in problem.documents]

    def leave(token: int) -> None:
        j = segment_of_token[token]
        table = next(table for table in tables[j] if token in table[1])
        table[1].remove(token)
        n_kw[table[0]][words[token]] -= 1
        n_k[table[0]] -= 1
        if not table[1]:
            tables[j].remove(table)
            c_dk[document_of_segment[j]][table[0]] -= 1

    def enter(token: int) -> None:
        j, w = segment_of_token[token], words[token]
        c_k = c_dk[document_of_segment[j]]
        word = [
            (problem.gamma + n_kw[k][w]) / (problem.n_features * problem.gamma + n_k[k])
            for k in range(n_topics)
        ]
        open_table = (b + a * len(tables[j])) / (sum(problem.alpha) + sum(c_k))
        weights = [seat_at_table(len(seated), a) * word[k] for k, seated in tables[j]]
        weights += [open_table * (problem.alpha[k] + c_k[k]) * word[k] for k in range(n_topics)]
        choice = rng.choices(range(len(weights)), weights)[0]
        if choice >= len(tables[j]):
            k = choice - len(tables[j])
            tables[j].append([k, []])
            c_k[k] += 1
            choice = -1
        table = tables[j][choice]
        table[1].append(token)
        n_kw[table[0]][w] += 1
        n_k[table[0]] += 1

    for token in range(len(words)):
        enter(token)
    topics = np.empty((n_sweeps, len(words)), dtype=int)
    s_jk = np.zeros((n_sweeps, len(tables), n_topics), dtype=int)
    for sweep in range(n_sweeps):
        for token in range(len(words)):
            leave(token)
            enter(token)
        for j, here in enumerate(tables):
            for k, seated in here:
                topics[sweep, seated] = k
                s_jk[sweep, j, k] += 1
    return topics, s_jk
