"""Table models: arrays of their kernels, stored samples, and the fold-in of new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import stream_of_content
from skdp._numeric._simd import LANES, aligned_zeros, padded
from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.topics._kernels._btigs import weigh_tables
from skdp.topics._kernels._chain import GroupBursts, Levels
from skdp.topics._kernels._counts import Corpus, WordCounts
from skdp.topics._kernels._left_to_right import ESTIMATES, Particles, Predictive, PrefixCorpus
from skdp.topics._kernels._sweeps import ConcentrationGroups, ScoredWords, sweeps_of
from skdp.topics._kernels._tables import UNBOUNDED, Assignments, Prior, Ratios, TableScratch
from skdp.topics._lda._sampler import tokens_of_nodes
from skdp.topics._shared._arrays import Stream, fixed_words, flat
from skdp.topics._shared._bursts import TablePlaces
from skdp.topics._shared._fold_in import FoldIn, Halt, Scoring, Shares, slices

# Arrays of the kernels: state, scratch, tables of ratios.


CHAIN_ROWS = 1000
"""Number of customers up to which the Stirling table of a chain extends."""


def empty_assignments(corpus: Corpus, n_topics: int, *, seats: bool, chained: bool) -> Assignments:
    """Return the state in which no word has a topic; `seats`: with individual tables (SSA)."""
    n_tokens, n_segments = len(corpus.tokens), len(corpus.segment_ptr) - 1
    n_chained = n_segments if chained else 0
    n_seats = n_tokens if seats else 0
    links = np.arange(1, n_seats + 1, dtype=np.int32)
    links[-1:] = -1
    return Assignments(
        topics=np.full(n_tokens, -1, dtype=np.int32),
        tables=np.zeros((n_segments, n_topics), dtype=np.int32),
        segment_tables=np.zeros(n_segments, dtype=np.int64),
        to_previous=np.zeros((n_chained, n_topics), dtype=np.int32),
        segment_to_previous=np.zeros(n_chained, dtype=np.int64),
        document_tables=np.zeros((len(corpus.doc_ptr) - 1, n_topics), dtype=np.int32),
        seat_heads=np.full((n_segments if seats else 0, n_topics), -1, dtype=np.int32),
        seat_links=links,
        seat_sizes=np.zeros(n_seats, dtype=np.int32),
        seat_kinds=np.zeros(n_seats, dtype=np.int8),
        seat_free=np.array([0 if n_seats else -1, n_seats], dtype=np.int64),
        seats=np.zeros(0, dtype=np.int32),
    )


def add_seats(assignments: Assignments, n_seats: int) -> Assignments:
    """Return the state with new, larger arrays of seats: at least double, with `n_seats` free."""
    n_old = len(assignments.seat_links)
    n_added = max(n_old, n_seats)
    links = np.arange(1, n_old + n_added + 1, dtype=np.int32)
    links[:n_old] = assignments.seat_links
    links[-1] = assignments.seat_free[0]
    added = np.zeros(n_added, dtype=np.int32)
    return assignments._replace(
        seat_links=links,
        seat_sizes=np.concatenate([assignments.seat_sizes, added]),
        seat_kinds=np.concatenate([assignments.seat_kinds, added.astype(np.int8)]),
        seat_free=np.array([n_old, assignments.seat_free[1] + n_added]),
    )


def empty_scratch(n_topics: int) -> TableScratch:
    """Return scratch vectors for the kernels."""
    width = padded(n_topics)
    integers = [aligned_zeros(n_topics, dtype=np.int64) for _ in range(3)]
    base, opening, sharing = (aligned_zeros(width) for _ in range(3))
    reciprocal, factor = (aligned_zeros(width, dtype=np.float32) for _ in range(2))
    sums = aligned_zeros((1, LANES + width), dtype=np.float32)
    return TableScratch(
        integers[0], base, reciprocal, opening, sharing, factor, sums, integers[1], integers[2],
        np.array([UNBOUNDED]),
    )  # fmt: skip


def empty_levels(corpus: Corpus, n_topics: int, *, chained: bool) -> Levels:
    """Return arrays for the segments of the longest part of a document."""
    in_part = np.arange(len(corpus.part_begin)) - corpus.part_begin
    n_levels = int(in_part.max(initial=-1)) + 1 if chained else 0
    shape = (n_levels, padded(n_topics))

    customers = aligned_zeros(shape, dtype=np.int32), aligned_zeros(n_levels, dtype=np.int64)
    of_levels = [aligned_zeros(n_levels) for _ in range(3)]
    of_topics = [aligned_zeros(shape, dtype=np.float32) for _ in range(4)]
    base = aligned_zeros(padded(n_topics), dtype=np.float32)
    fields: Any = *customers, *of_levels, *of_topics, base, aligned_zeros(1)
    return Levels(*fields)


class BurstGroups(NamedTuple):
    """Groups of words that share bursts, in documents or segments, and the places of tables."""

    each_segment: bool
    ptr: Places
    places: TablePlaces

    @classmethod
    def of(cls, corpus: SegmentedCorpus | Corpus, scope: str, n_words: int) -> BurstGroups:
        """Return the groups of a corpus."""
        ptr = tokens_of_nodes(corpus, scope)
        return cls(scope == "segment", ptr, TablePlaces.of(corpus.tokens, ptr, n_words))

    def bursts(self, parameters: tuple[float, float], seats: Ints, n_topics: int) -> GroupBursts:
        """Return the tables in the form that kernels take, with scratch."""
        of_topics = np.ones((4, padded(n_topics)), dtype=np.float32)
        of_kernels = self.places.seats(parameters, seats, n_topics)
        return GroupBursts(of_kernels, self.each_segment, self.ptr, np.zeros(n_topics), *of_topics)

    def scored(
        self, further: tuple[Ints, Places], corpus: SegmentedCorpus, n_topics: int
    ) -> ScoredWords:
        """Return words, and their segments, which are sorted, in the form that kernels take."""
        words, segment_of = further
        n_segments = len(corpus.segment_ptr) - 1
        ptr = np.searchsorted(segment_of, np.arange(n_segments + 1))
        groups = segment_of
        if not self.each_segment:
            groups = np.searchsorted(corpus.doc_ptr, segment_of, side="right") - 1
        first = self.places.find(self.ptr, words, groups, corpus.n_features)
        nu = np.zeros((n_segments, n_topics))
        return ScoredWords(ptr, words, first, np.zeros(len(words)), nu)


def enter_words(words: WordCounts, gamma: float, scratch: Any) -> None:
    """Set `reciprocal` at the start of a sweep, because the totals or gamma may have changed."""
    shift = gamma * words.counts.shape[0]
    scratch.reciprocal[:] = 1.0 if words.fixed else 1.0 / (shift + words.totals)


def make_groups(
    corpus: SegmentedCorpus, prior: tuple[float, float] | None, each_segment: bool
) -> ConcentrationGroups:
    """Return the segments of each document, or single segments; no groups if `prior` is None."""
    n_segments = len(corpus.segment_ptr) - 1
    group_ptr = np.arange(n_segments + 1) if each_segment else corpus.doc_ptr
    if prior is None:
        group_ptr = np.zeros(1, dtype=np.int64)
    customers, tables = (np.zeros(n_segments, dtype=np.int64) for _ in range(2))
    return ConcentrationGroups(
        as_readonly(group_ptr), np.array(prior or (0.0, 0.0)), customers, tables
    )


def empty_particles(
    n_particles: int, corpus: SegmentedCorpus, prior: Prior, n_groups: int, n_seats: int,
    *, chained: bool,
) -> Particles:  # fmt: skip
    """Return particle states without words for a corpus of one document."""
    n_levels, n_topics = len(corpus.segment_ptr) - 1, len(prior.alpha)
    n_chained = n_levels if chained else 0
    return Particles(
        topics=np.full((n_particles, len(corpus.tokens)), -1, dtype=np.int32),
        tables=np.zeros((n_particles, n_levels, n_topics), dtype=np.int32),
        segment_tables=np.zeros((n_particles, n_levels), dtype=np.int64),
        to_previous=np.zeros((n_particles, n_chained, n_topics), dtype=np.int32),
        segment_to_previous=np.zeros((n_particles, n_chained), dtype=np.int64),
        document_tables=np.zeros((n_particles, 1, n_topics), dtype=np.int32),
        seats=np.zeros((n_particles, n_seats), dtype=np.int32),
        drawn=np.ones((n_particles, n_groups)),
        concentration=np.tile(prior.concentration, (n_particles, 1)),
        log_weights=np.zeros(n_particles),
        ancestors=np.zeros(n_particles, dtype=np.int64),
    )


def empty_predictive(n_levels: int, n_topics: int) -> Predictive:
    """Return arrays that predict the words of a document with `n_levels` segments."""
    return Predictive(
        customers=np.zeros((n_levels, n_topics), dtype=np.int32),
        level_customers=np.zeros(n_levels, dtype=np.int64),
        via_document=np.zeros(n_levels),
        via_previous=np.zeros(n_levels),
        fixed_part=np.zeros((n_levels, n_topics)),
        mu_part=np.zeros(n_levels),
        base=np.zeros(n_topics),
        share=np.zeros(n_topics),
        sums=np.zeros(n_topics),
    )


def empty_seen(corpus: SegmentedCorpus) -> PrefixCorpus:
    """Return the empty prefix of a corpus of one document."""
    n_levels = len(corpus.segment_ptr) - 1
    segment_ptr = np.zeros(n_levels + 1, dtype=np.int64)
    document_ptr, here_ptr = np.array([0, n_levels]), np.zeros(2, dtype=np.int64)
    tokens, _, _, part_begin = flat(corpus)
    fixed_ptr = as_readonly(segment_ptr)
    return PrefixCorpus(
        Corpus(tokens, fixed_ptr, as_readonly(document_ptr), part_begin),
        Corpus(tokens, fixed_ptr, as_readonly(here_ptr), part_begin),
        segment_ptr,
        document_ptr,
        here_ptr,
    )


def stirling_ratios(corpus: SegmentedCorpus, discount: float, *, chained: bool) -> Ratios:
    """Return the Stirling ratios U and V for segments, which depend only on the discount."""
    if chained:  # customers: at worst all words of a document; patches cover unusual counts
        in_document = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
        table = StirlingRatios.for_counts(in_document + 1, discount, max_rows=CHAIN_ROWS)
    else:
        longest = int(np.diff(corpus.segment_ptr).max(initial=0))
        table = StirlingRatios.for_counts(longest + 1, discount)
    return Ratios(table.values, table.row_ptr)


def sampler_weights(stirling: Ratios, sampler: str) -> Ratios:
    """Return the table in which a sampler looks up its weights."""
    if sampler != "btigs":
        return stirling
    weights = np.empty_like(stirling.values)
    weigh_tables(stirling.values, stirling.row_ptr, weights)
    return Ratios(weights, stirling.row_ptr)


def writable(ratios: Ratios) -> Ratios:
    """Return ratios whose patches are writable: other processes may receive read-only arrays."""
    if ratios.values.flags.writeable:
        return ratios
    return Ratios(np.array(ratios.values), np.array(ratios.row_ptr))


# Stored samples, the fold-in of new documents, and likelihoods.


@dataclass(frozen=True)
class TableModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: Floats  # (K,)
    discount: float
    concentration: float
    parents: tuple[float, float]  # lambda_S and lambda_T: of the document, of the previous segment
    bursts: tuple[float, float] | None = None  # concentration and discount
    burst_scope: str = "document"

    @property
    def chained(self) -> bool:
        """Whether kernels take the segments of a document as a chain."""
        return self.parents[1] > 0.0 or self.bursts is not None

    def groups(self, corpus: SegmentedCorpus) -> BurstGroups | None:
        """Return the groups of a corpus that share bursts, if there are any."""
        if self.bursts is None:
            return None
        return BurstGroups.of(corpus, self.burst_scope, corpus.n_features)

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> TableFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        weights = self._weights(corpus, settings.options["sampler"])
        return TableFoldIn(self, settings, fixed_words(self.components), weights)

    def prepare_likelihood(self, corpus: SegmentedCorpus, settings: FoldIn) -> TableLikelihood:
        """Return the likelihood estimator for documents of the corpus, with precomputed tables."""
        weights = self._weights(corpus, "btigs")  # the fastest, whatever the sampler of the fit
        return TableLikelihood(self, settings, fixed_words(self.components), weights)

    def prior(self, n_segments: int) -> Prior:
        """Return the prior of new segments."""
        # Arrays are copied: in a model that was loaded read-only (joblib's mmap_mode) they would
        # have another numba type, for which all kernels would be recompiled.
        return Prior(
            np.array(self.doc_topic_prior), 0.0, self.discount,
            np.full(n_segments, self.concentration), *self.parents,
        )  # fmt: skip

    def _weights(self, corpus: SegmentedCorpus, sampler: str) -> Ratios:
        chained = self.parents[1] > 0.0
        return sampler_weights(stirling_ratios(corpus, self.discount, chained=chained), sampler)


@dataclass(frozen=True, eq=False)
class TableFoldIn(Scoring):
    """Fold-in of documents by the samplers of the table models."""

    model: TableModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def score(self, corpus: SegmentedCorpus, key: Stream, further: Any, halt: Halt) -> Shares:
        """Return E[mu], E[nu] and, with bursts, the probabilities of further words of segments."""
        model, settings = self.model, self.settings
        options: dict[str, Any] = settings.options
        chained = model.chained
        arrays, n_topics = flat(corpus), len(model.doc_topic_prior)
        n_segments = len(corpus.segment_ptr) - 1
        doc_topic = np.zeros((len(corpus), n_topics))
        segment_topic = np.zeros((n_segments, n_topics))
        seats = options["sampler"] == "ssa"
        assignments = empty_assignments(arrays, n_topics, seats=seats, chained=chained)
        prior = model.prior(n_segments)
        groups = make_groups(corpus, options["concentration_prior"], options["each_segment"])
        drawn = np.full(len(groups.group_ptr) - 1, model.concentration)
        weights, scratch = writable(self.weights), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        levels = empty_levels(arrays, n_topics, chained=chained)
        lengths = np.diff(corpus.segment_ptr)
        bursts = scored = None
        if (burst_groups := model.groups(corpus)) is not None and model.bursts is not None:
            assignments = assignments._replace(seats=np.zeros(len(corpus.tokens), dtype=np.int32))
            bursts = burst_groups.bursts(model.bursts, assignments.seats, n_topics)
            scored = burst_groups.scored(further, corpus, n_topics)
        fold_in = sweeps_of(options["sampler"], chained=chained).fold_in
        for work, place, rng in slices(halt, corpus):
            while n_seats := fold_in(
                arrays, lengths, assignments, self.words, prior, groups, options["each_segment"],
                drawn, weights, scratch, levels, bursts, scored, settings.n_sweeps,
                settings.burn_in, work, place, key, doc_topic, segment_topic, rng,
            ):  # fmt: skip
                assignments = add_seats(assignments, n_seats)
        found = [doc_topic, segment_topic, *([] if scored is None else [scored.out])]
        for sums in found:
            sums *= settings.scale
        return tuple(found)


@dataclass(frozen=True, eq=False)
class TableLikelihood:
    """Estimates of the probability of documents, from left to right."""

    model: TableModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def __call__(self, corpus: SegmentedCorpus, key: Stream, n_particles: int) -> Floats:
        """Return the log of an estimate of the probability of every document, (D,)."""
        model, options = self.model, self.settings.options
        chained, n_topics = model.chained, len(model.doc_topic_prior)
        estimate_document = ESTIMATES[chained]
        unseated = empty_assignments(flat(corpus), n_topics, seats=False, chained=chained)
        weights, scratch = writable(self.weights), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        levels = empty_levels(flat(corpus), n_topics, chained=chained)
        rng = np.zeros(4, dtype=np.uint64)
        out = np.zeros(len(corpus))
        for d in range(len(corpus)):
            document = corpus[d : d + 1]
            lengths = np.diff(document.segment_ptr)
            prior = model.prior(len(lengths))
            groups = make_groups(document, options["concentration_prior"], options["each_segment"])
            n_groups = len(groups.group_ptr) - 1
            bursts, n_seats = None, 0
            if (burst_groups := model.groups(document)) is not None and model.bursts is not None:
                n_seats = len(document.tokens)
                unused = np.zeros(0, dtype=np.int32)  # particles have their own
                bursts = burst_groups.bursts(model.bursts, unused, n_topics)
            stream_of_content(key, document.tokens, lengths, rng)
            particles = empty_particles(
                n_particles, document, prior, n_groups, n_seats, chained=chained
            )
            out[d] = estimate_document(
                flat(document), empty_seen(document), self.words, prior, groups, particles,
                unseated, empty_predictive(len(lengths), n_topics), weights, scratch, levels,
                bursts, rng,
            )  # fmt: skip
        return out
