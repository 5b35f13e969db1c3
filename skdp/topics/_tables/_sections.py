"""Chain of topics and tables over documents of sections of paragraphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import LANES, aligned_zeros, padded
from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.processes._concentration import draw_bounded_beta, draw_concentration
from skdp.topics._kernels import _sections as kernels
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._kernels._sweeps import LARGEST_CONCENTRATION, SMALLEST_CONCENTRATION
from skdp.topics._kernels._tables import UNBOUNDED, Ratios
from skdp.topics._shared._arrays import (
    Frequencies,
    Stream,
    count_frequencies,
    first_value,
    fixed_words,
    tells_apart,
)
from skdp.topics._shared._bursts import Bursts
from skdp.topics._shared._fold_in import FoldIn, Halt, Scoring, Shares, slices
from skdp.topics._shared._sampler import TopicSampler, TopicState, shown
from skdp.topics._tables._model import (
    CHAIN_ROWS,
    BurstGroups,
    enter_words,
    sampler_weights,
    writable,
)
from skdp.topics._tables._sampler import START_CONCENTRATION, START_DISCOUNT, BurstySampler


class SectionState(TopicState):
    """The state of a chain; its joint is in the multiplicity form."""

    @property
    def paragraph_tables(self) -> Ints:
        """Tables of paragraphs by topic, customers of their sections, (n_paragraphs, K)."""
        return as_readonly(self._sampler.shards[0].paragraph_tables)

    @property
    def section_tables(self) -> Ints:
        """Tables of sections by topic, (n_sections, K)."""
        return as_readonly(self._sampler.shards[0].section_tables)

    doc_topic_prior = shown("doc_topic_prior", "Prior alpha of shares of documents, (K,).")
    concentration = shown("concentration", "Concentrations b of sections and of paragraphs, (2,).")
    discount = shown("discount", "Discounts a of sections and of paragraphs, (2,).")


# Arrays of the kernels.


def paragraphs_of(corpus: SegmentedCorpus) -> kernels.Paragraphs:
    """Return a corpus as kernels take it; its sections are parts, or documents that have none."""
    section_ptr = np.array(corpus._own_parts())
    doc_ptr = np.searchsorted(section_ptr, corpus.doc_ptr)
    return kernels.Paragraphs(corpus.tokens, corpus.segment_ptr, section_ptr, doc_ptr)


def empty_seating(corpus: kernels.Paragraphs, n_topics: int) -> kernels.SectionSeating:
    """Return the state in which no word has a topic."""
    n_paragraphs, n_sections = len(corpus.paragraph_ptr) - 1, len(corpus.section_ptr) - 1
    return kernels.SectionSeating(
        topics=np.full(len(corpus.tokens), -1, dtype=np.int32),
        paragraph_tables=np.zeros((n_paragraphs, n_topics), dtype=np.int32),
        paragraph_totals=np.zeros(n_paragraphs, dtype=np.int64),
        section_tables=np.zeros((n_sections, n_topics), dtype=np.int32),
        section_totals=np.zeros(n_sections, dtype=np.int64),
        document_tables=np.zeros((len(corpus.doc_ptr) - 1, n_topics), dtype=np.int32),
        seats=np.zeros(0, dtype=np.int32),
    )


def empty_scratch(n_topics: int) -> kernels.Scratch:
    """Return scratch vectors for the kernels."""
    width = padded(n_topics)
    counts = [np.zeros(n_topics, dtype=np.int64) for _ in range(2)]
    of_topics = [aligned_zeros(width, dtype=np.float32) for _ in range(8)]
    sums, may_open = aligned_zeros((1, LANES + width), dtype=np.float32), np.array([UNBOUNDED])
    fields: Any = *counts, np.zeros(n_topics), *of_topics, sums, may_open
    return kernels.Scratch(*fields)


def stirling_of_levels(corpus: kernels.Paragraphs, discounts: Floats) -> tuple[Ratios, Ratios]:
    """Return the tables of Stirling ratios for sections and for paragraphs."""
    in_section = np.diff(corpus.paragraph_ptr[corpus.section_ptr])  # at most a table for each word
    in_paragraph = np.diff(corpus.paragraph_ptr)
    section, paragraph = discounts.tolist()
    above = StirlingRatios.for_counts(
        int(in_section.max(initial=0)) + 1, section, max_rows=CHAIN_ROWS
    )
    own = StirlingRatios.for_counts(int(in_paragraph.max(initial=0)) + 1, paragraph)
    return Ratios(above.values, above.row_ptr), Ratios(own.values, own.row_ptr)


def weights_of_levels(stirling: tuple[Ratios, Ratios]) -> tuple[Ratios, Ratios]:
    """Return the tables in which the sampler looks up its weights."""
    return sampler_weights(stirling[0], "btigs"), sampler_weights(stirling[1], "btigs")


def levels_of(
    discount: Floats, concentration: Floats, ratios: tuple[Ratios, Ratios]
) -> tuple[kernels.SectionLevel, kernels.SectionLevel]:
    """Return the parameters of sections and of paragraphs in the form that kernels take."""
    above, own = (
        kernels.SectionLevel(float(a), float(b), *each)
        for a, b, each in zip(discount, concentration, ratios, strict=True)
    )
    return above, own


# Stored samples, and the fold-in of new documents.


@dataclass(frozen=True)
class SectionModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: Floats  # (K,)
    discount: Floats  # (2,): of sections, of paragraphs
    concentration: Floats  # (2,)
    bursts: tuple[float, float] | None = None  # concentration and discount
    burst_scope: str = "document"

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> SectionFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        stirling = stirling_of_levels(paragraphs_of(corpus), self.discount)
        words = fixed_words(self.components)
        return SectionFoldIn(self, settings, words, weights_of_levels(stirling))


@dataclass(frozen=True, eq=False)
class SectionFoldIn(Scoring):
    """Fold-in of documents of sections of paragraphs."""

    model: SectionModel
    settings: FoldIn
    words: WordCounts
    weights: tuple[Ratios, Ratios]

    def score(self, corpus: SegmentedCorpus, key: Stream, further: Any, halt: Halt) -> Shares:
        """Return shares and, in third place, probabilities of further words with bursts."""
        model, settings = self.model, self.settings
        alpha = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        n_topics, documents = len(alpha), paragraphs_of(corpus)
        state, scratch = empty_seating(documents, n_topics), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        ratios = writable(self.weights[0]), writable(self.weights[1])
        sections, paragraphs = levels_of(model.discount, model.concentration, ratios)
        doc_topic = np.zeros((len(corpus), n_topics))
        section_topic = np.zeros(state.section_tables.shape)
        paragraph_topic = np.zeros(state.paragraph_tables.shape)
        lengths = np.diff(corpus.segment_ptr)
        bursts = scored = None
        if model.bursts is not None:
            groups = BurstGroups.of(corpus, model.burst_scope, corpus.n_features)
            seats = np.zeros(len(corpus.tokens), dtype=np.int32)
            bursts = groups.bursts(model.bursts, seats, n_topics)
            scored = groups.scored(further, corpus, n_topics)
        for amount, place, rng in slices(halt, corpus):
            kernels.fold_in(
                documents, lengths, state, self.words, sections, paragraphs, alpha, scratch,
                bursts, scored, settings.n_sweeps, settings.burn_in, amount, place, key, doc_topic,
                section_topic, paragraph_topic, rng,
            )  # fmt: skip
        probabilities = np.zeros(0) if scored is None else scored.out
        found = doc_topic, paragraph_topic, probabilities, section_topic
        for sums in found:
            sums *= settings.scale
        return found


# The chain.


LEVELS = "section", "paragraph"


class SectionParameters(NamedTuple):
    """Parameters of the model: numbers, or "auto" if they are learned, and their priors."""

    doc_topic_prior: Any
    topic_word_prior: Any
    dirichlet_prior: tuple[float, float]
    discount: tuple[Any, Any]  # of sections, of paragraphs
    discount_prior: tuple[float, float]
    concentration: tuple[Any, Any]  # of sections, of paragraphs
    concentration_prior: tuple[float, float]


class SectionSampler(BurstySampler):
    """Markov chain of topics and tables over one corpus, whose parts are the sections."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_documents", "_stirling", "_weights", "_scratch",
    )  # fmt: skip

    topic_axes: ClassVar[dict[str, int]] = {**TopicSampler.topic_axes, "section_topic": 1}

    shards: list[kernels.SectionSeating]

    def __init__(
        self,
        corpus: SegmentedCorpus,
        n_topics: int,
        parameters: SectionParameters,
        init: Any,  # "random", topics of words (n_tokens,), or word probabilities (K, W)
        init_stream: Stream,
        stream: Stream,
        bursts: Bursts | None = None,
        burst_scope: str = "document",
    ):
        super().__init__(
            n_topics, parameters.topic_word_prior, parameters.dirichlet_prior, [stream], 1
        )
        self.topics_trade_places = not tells_apart(parameters.doc_topic_prior)
        self.given = parameters
        self.doc_topic_prior = first_value(
            parameters.doc_topic_prior, np.full(n_topics, 1.0 / n_topics)
        )
        self.discount = np.array([
            float(first_value(each, START_DISCOUNT)) for each in parameters.discount
        ])  # fmt: skip
        self.concentration = np.array([
            float(first_value(each, START_CONCENTRATION)) for each in parameters.concentration
        ])  # fmt: skip
        self.burst_scope = burst_scope
        self._take(corpus)
        self.shards = [empty_seating(self._documents, n_topics)]
        self._seat_words(init, init_stream)
        self._start_bursts(corpus, bursts)
        self._count_words()

    def _seat_words(self, init: Any, stream: Stream) -> None:
        """Create the first state: topics are given or random, or words are seated one by one."""
        if isinstance(init, np.ndarray) and init.ndim == 2:
            self._sweep_words(self._first_topics(init), [stream])
        else:
            (state,) = self.shards
            if not isinstance(init, str):
                state.topics[:] = init
            elif self._has_prior_mean:
                self._seat_by_prior(state.topics, self._whole.tokens, stream)
            kernels.seat_all(self._documents, state, stream)

    def _take(self, corpus: SegmentedCorpus) -> None:
        super()._take(corpus)
        self._documents = paragraphs_of(corpus)
        self._make_ratios()
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._scratch = empty_scratch(self.n_topics)

    def _make_ratios(self) -> None:
        self._stirling = stirling_of_levels(self._documents, self.discount)
        self._weights = weights_of_levels(self._stirling)

    def _levels(self, ratios: Any) -> tuple[kernels.SectionLevel, kernels.SectionLevel]:
        return levels_of(self.discount, self.concentration, ratios)

    # Sweeps

    def _return_strays(self, words: Any) -> None:
        """Do nothing: a draw never ends in a topic of weight 0, as in `TableSampler`."""

    def _sweep_words(self, words: WordCounts, streams: list[Stream]) -> None:
        gamma = 0.0 if words.fixed else float(self.topic_word_prior)
        enter_words(words, gamma, self._scratch)
        (state,), bursts = self.shards, None
        if self.bursts is not None:
            (groups,) = self._burst_groups
            bursts = groups.bursts(self.bursts.parameters, state.seats, self.n_topics)
        kernels.sweep_all(
            self._documents, state, words, gamma, *self._levels(self._weights),
            self.doc_topic_prior, self._scratch, bursts, streams[0],
        )  # fmt: skip

    def _update_parameters(self) -> None:
        given, (stream,) = self.given, self.streams
        self._update_bursts()
        if "auto" in given.discount:
            self._draw_discounts(stream)
        if "auto" in given.concentration:
            self._draw_concentrations(stream)
        self.doc_topic_prior = self._learned(
            self.doc_topic_prior, given.doc_topic_prior, self._document_frequencies
        )

    def _document_frequencies(self) -> Frequencies:
        return count_frequencies([self.shards[0].document_tables], self.n_topics)

    def _draw_discounts(self, stream: Stream) -> None:
        """Draw the discounts that are learned, and recompute the ratios."""
        evidence, (p, q) = np.zeros((2, 2)), self.given.discount_prior
        levels = self._levels(self._stirling)
        kernels.gather_discount_evidence(
            self._documents, self.shards[0], *levels, self._scratch.n_k, evidence, stream
        )
        drawn = self.discount.copy()
        for i, (of_tables, of_seatings) in enumerate(evidence.tolist()):
            if self.given.discount[i] == "auto":
                drawn[i] = draw_bounded_beta(p + of_tables, q + of_seatings, stream)
        self.discount = drawn
        self._make_ratios()

    def _draw_concentrations(self, stream: Stream) -> None:
        """Draw the concentrations that are learned."""
        state, drawn = self.shards[0], self.concentration.copy()
        tables = state.section_totals, state.paragraph_totals
        for i, customers in enumerate(self._customers()):
            if self.given.concentration[i] == "auto":
                b = draw_concentration(
                    customers, tables[i], self.discount[i], drawn[i],
                    *self.given.concentration_prior, stream,
                )  # fmt: skip
                drawn[i] = min(max(b, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)
        self.concentration = drawn

    def _customers(self) -> tuple[Places, Places]:
        """Return the numbers of customers of all sections and of all paragraphs."""
        ptr = self._documents.section_ptr
        ends = np.concatenate([[0], np.cumsum(self.shards[0].paragraph_totals)])[ptr]
        return np.diff(ends), np.diff(self._documents.paragraph_ptr)

    # Shown attributes

    def _log_prior(self) -> float:
        value = kernels.log_prior_of_all(
            self._documents, self.shards[0], *self._levels(self._stirling), self.doc_topic_prior,
            self._scratch.n_k,
        )  # fmt: skip
        return float(value) + self._log_probability_of_seats()

    def _empty_shares(self) -> dict[str, Floats]:
        of_sections = np.zeros(self.shards[0].section_tables.shape)
        return {**super()._empty_shares(), "section_topic": of_sections}

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents, sections and paragraphs, given the state, to sums."""
        kernels.add_all_estimates(
            self._documents, self.shards[0], *self._levels(self._stirling), self.doc_topic_prior,
            self._scratch, sums["doc_topic"], sums["section_topic"], sums["segment_topic"],
        )  # fmt: skip

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        names = "doc_topic_prior", "topic_word_prior", "discount", "concentration"
        return {**{name: getattr(self, name) for name in names}, **self._burst_scalars}

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        (state,) = self.shards
        of_levels = {
            f"{level}_{name}": float(getattr(self, name)[i])
            for name in ("concentration", "discount")
            for i, level in enumerate(LEVELS)
        }
        return {
            **super().scalars(),
            **of_levels,
            **self._burst_scalars,
            "doc_topic_prior_sum": float(self.doc_topic_prior.sum()),
            "n_section_tables": float(state.section_totals.sum()),
            "n_paragraph_tables": float(state.paragraph_totals.sum()),
        }

    def model(self) -> SectionModel:
        """Return the current sample as a model."""
        return SectionModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(),
            self.discount.copy(), self.concentration.copy(),
            None if self.bursts is None else self.bursts.parameters, self.burst_scope,
        )  # fmt: skip

    def state(self) -> SectionState:
        """Return a read-only view of the state."""
        return SectionState(self)
