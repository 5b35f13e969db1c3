"""Sweeps over a corpus and over new documents, for every sampler.

Symbols as in ``_kernels.py``.
"""

import numpy as np

from skdp._numba import njit
from skdp._random import next_double, stream_of_content
from skdp.processes._concentration import draw_concentration
from skdp.topics import _kernels_btigs, _kernels_cmgs, _kernels_ssa
from skdp.topics._kernels import Prior, add_estimates, enter_corpus

BTIGS, CMGS, SSA = 0, 1, 2

SMALLEST_CONCENTRATION, LARGEST_CONCENTRATION = 1e-8, 1e12
"""Where b is as good as 0 and infinite: weights of topics would overflow or vanish beyond."""

_sweep_btigs = _kernels_btigs.sweep_document
_sweep_cmgs = _kernels_cmgs.sweep_document
_sweep_ssa = _kernels_ssa.sweep_document


@njit
def _sweep_document(sampler, d, corpus, assignments, words, prior, ratios, scratch, rng):
    """Sweep document `d` with the chosen sampler."""
    if sampler == BTIGS:
        _sweep_btigs(d, corpus, assignments, words, prior, ratios, scratch, rng)
    elif sampler == CMGS:
        _sweep_cmgs(d, corpus, assignments, words, prior, ratios, scratch, rng)
    else:
        _sweep_ssa(d, corpus, assignments, words, prior, scratch, rng)


@njit
def seat_randomly(corpus, assignments, rng):
    """Give every word a uniformly random topic, and every topic of a segment one table."""
    topics, tables = assignments.topics, assignments.tables
    seat_topics, seat_sizes = assignments.seat_topics, assignments.seat_sizes
    n_topics = tables.shape[1]
    for d in range(corpus.doc_ptr.shape[0] - 1):
        for j in range(corpus.doc_ptr[d], corpus.doc_ptr[d + 1]):
            begin = corpus.segment_ptr[j]
            for i in range(begin, corpus.segment_ptr[j + 1]):
                k = int(next_double(rng) * n_topics)
                topics[i] = k
                if tables[j, k] == 0:
                    if seat_sizes.shape[0] > 0:
                        seat_topics[begin + assignments.segment_tables[j]] = k
                        seat_sizes[begin + assignments.segment_tables[j]] = 0
                    tables[j, k] = 1
                    assignments.segment_tables[j] += 1
                    assignments.document_tables[d, k] += 1
                if seat_sizes.shape[0] > 0:
                    seat = begin
                    while seat_topics[seat] != k:
                        seat += 1
                    seat_sizes[seat] += 1


@njit
def sweep_corpus(sampler, corpus, assignments, words, prior, ratios, scratch, rng):
    """Sweep every document once."""
    enter_corpus(words, prior, scratch)
    for d in range(corpus.doc_ptr.shape[0] - 1):
        _sweep_document(sampler, d, corpus, assignments, words, prior, ratios, scratch, rng)


@njit
def fold_in(
    sampler,
    corpus,
    assignments,
    words,
    prior,
    concentration_prior,
    ratios,
    scratch,
    n_sweeps,
    burn_in,
    key,
    doc_topic,
    segment_topic,
):
    """Write E[mu] and E[nu] of every document, with topics fixed, averaged over its own chain.

    Parameters
    ----------
    concentration_prior : (2,) float64
        Gamma (shape, rate) under which every document draws its own concentration, starting at
        that of `prior`; a shape of 0 keeps it fixed.
    n_sweeps, burn_in : int
        Sweeps of a chain, and how many of its first ones do not count.
    key : (4,) uint64
        Keys the stream of each document together with its content.
    doc_topic : (D, K) float64, output, zero on entry
    segment_topic : (J, K) float64, output, zero on entry
    """
    rng = np.empty(4, np.uint64)
    enter_corpus(words, prior, scratch)
    lengths = np.diff(corpus.segment_ptr)
    n_topics = prior.alpha.shape[0]
    scale = 1.0 / (n_sweeps - burn_in)
    for d in range(corpus.doc_ptr.shape[0] - 1):
        begin, end = corpus.doc_ptr[d], corpus.doc_ptr[d + 1]
        content = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        stream_of_content(key, content, lengths[begin:end], rng)
        concentration = prior.concentration
        for sweep in range(n_sweeps):
            own = Prior(prior.alpha, prior.gamma, prior.discount, concentration)
            _sweep_document(sampler, d, corpus, assignments, words, own, ratios, scratch, rng)
            if sweep >= burn_in:
                add_estimates(
                    d,
                    corpus,
                    assignments,
                    own,
                    scratch.n_k,
                    doc_topic[d],
                    segment_topic[begin:end],
                    begin,
                )
            if concentration_prior[0] > 0.0:
                drawn = draw_concentration(
                    lengths[begin:end],
                    assignments.segment_tables[begin:end],
                    prior.discount,
                    concentration,
                    concentration_prior[0],
                    concentration_prior[1],
                    rng,
                )
                concentration = min(max(drawn, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)
        for k in range(n_topics):
            doc_topic[d, k] *= scale
            for j in range(begin, end):
                segment_topic[j, k] *= scale
