"""Chains of a table model (segmented, sequential or adaptive), also over partitions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp.data import SegmentedCorpus
from skdp.processes._concentration import add_evidence, draw_bounded_beta, draw_given_evidence
from skdp.topics._kernels import _sweeps as sweeps
from skdp.topics._kernels import _tables as kernels
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._kernels._lda import move_into_sets
from skdp.topics._lda._sampler import LDAState, tokens_of_nodes
from skdp.topics._shared._arrays import (
    AllowedTopics,
    Documents,
    Frequencies,
    LabeledCorpus,
    Stream,
    count_frequencies,
    first_value,
    fixed_words,
    tells_apart,
    update_by_frequencies,
)
from skdp.topics._shared._bursts import Bursts
from skdp.topics._shared._distributed import DistributedSampler
from skdp.topics._shared._partition import ShardSweep
from skdp.topics._shared._sampler import OpenState, TopicSampler, join, shown
from skdp.topics._tables._model import (
    BurstGroups,
    TableModel,
    add_seats,
    empty_assignments,
    empty_levels,
    empty_scratch,
    enter_words,
    sampler_weights,
    stirling_ratios,
    writable,
)


class TableState(LDAState):
    """The state of a table model's chain; its joint is in the multiplicity form."""

    @property
    def tables_to_document(self) -> Ints:
        """Tables by segment and topic whose dish was ordered from the document's node, (J, K)."""
        return as_readonly(self._sampler.assignments.tables[:, : self._sampler.n_topics])

    @property
    def tables_to_previous(self) -> Ints:
        """Tables whose dish was ordered from the previous segment, (J, K); STM: all zero."""
        to_previous = self._sampler.assignments.to_previous
        if len(to_previous) == 0:
            return np.broadcast_to(np.int32(0), self.tables_to_document.shape)
        return as_readonly(to_previous[:, : self._sampler.n_topics])

    @property
    def concentration(self) -> Any:
        """Concentration b: a float, or an array with one for each document or segment."""
        concentration = self._sampler.concentration
        if self._sampler.hyper.concentration_scope == "corpus":
            return float(concentration[0])
        return as_readonly(concentration)

    discount = shown("discount", "Discount a.")

    @property
    def mixing_prior(self) -> tuple[float, float]:
        """Prior (lambda_S, lambda_T) of the weights of a segment's parents; 0 excludes a parent."""
        return self._sampler.parents


class OpenTableState(TableState, OpenState):
    """The state of a table model's chain whose number of topics is inferred."""

    document_concentration = shown("document_concentration", "Concentration alpha of documents.")


@dataclass(eq=False)
class TableSweep(ShardSweep):
    """A sweep of one shard of a table model."""

    _scratch = "scratch", "levels"

    sampler: str
    prior: kernels.Prior
    weights: kernels.Ratios
    left_out: NDArray[np.intp]  # topics; documents with a table of one are skipped
    may_open: int  # number of topics without words that words may take
    scratch: Any
    levels: Any
    allowed: AllowedTopics | None
    bursts: tuple[float, float] | None = None  # concentration and discount
    groups: BurstGroups | None = None  # of words that share them

    @property
    def _chained(self) -> bool:
        return self.prior.to_previous > 0.0 or self.bursts is not None

    def counted_words(self) -> tuple[Ints, Ints]:
        """Return the words that topics count and their topics, -1 for words that are not there."""
        if self.groups is None:
            return super().counted_words()
        return self.groups.places.words, self.groups.places.served(self.state)

    def _make_scratch(self) -> None:
        n_columns = self.state.tables.shape[1]
        self.scratch = empty_scratch(n_columns)
        self.levels = empty_levels(self.corpus, n_columns, chained=self._chained)

    def sweep(self, words: WordCounts, stream: Stream) -> kernels.Assignments:
        """Draw topics and tables of all words once; change `words` and return the state."""
        enter_words(words, self.prior.gamma, self.scratch)
        self.scratch.reciprocal[self.left_out] = 0.0
        self.scratch.may_open[0] = self.may_open
        sweep_corpus = sweeps.sweeps_of(self.sampler, chained=self._chained).sweep_corpus
        state, weights, bursts = self.state, writable(self.weights), None
        if self.groups is not None and self.bursts is not None:
            bursts = self.groups.bursts(self.bursts, state.seats, state.tables.shape[1])
        for first, last in self._runs():
            if self.allowed is not None:
                enter_words(words, self.prior.gamma, self.scratch)
                own = self.allowed.sets[self.allowed.set_of[first]]
                self.scratch.reciprocal[np.flatnonzero(~own)] = 0.0
                self.scratch.reciprocal[self.left_out] = 0.0
            run = self.corpus._replace(doc_ptr=self.corpus.doc_ptr[: last + 1])
            place = np.array([first, self.corpus.doc_ptr[first]])
            while n_seats := sweep_corpus(
                run, state, words, self.prior, weights, self.scratch, self.levels, bursts, place,
                stream,
            ):  # fmt: skip
                state = add_seats(state, n_seats)
        return state

    def _runs(self) -> list[tuple[int, int]]:
        """Return ranges of documents that may use the same topics, without left-out documents."""
        served = self.state.document_tables
        light = self.left_out[self.left_out < served.shape[1]]
        left_out = served[:, light].any(axis=1)
        ends = np.flatnonzero(np.concatenate([[True], left_out, [True]]))
        runs = [(first, end - 1) for first, end in pairwise(ends.tolist()) if first < end - 1]
        if self.allowed is None:
            return runs
        changes = np.flatnonzero(np.diff(self.allowed.set_of)) + 1
        return [
            run
            for first, last in runs
            for run in pairwise(
                [first, *changes[(first < changes) & (changes < last)].tolist(), last]
            )
        ]


# The chain over one corpus.


START_CONCENTRATION = 10.0
START_DISCOUNT = 0.2
START_PARENTS = 1.0, 1.0
"""Initial values of the learned parameters."""


class HyperParameters(NamedTuple):
    """The user's choice of priors: numbers are fixed, other parameters are learned in the fit."""

    doc_topic_prior: Any  # (K,) array, "auto" or "auto-symmetric"
    topic_word_prior: Any  # a number or "auto", like `discount` and `concentration`
    dirichlet_prior: tuple[float, float]
    discount: Any
    discount_prior: tuple[float, float]
    concentration: Any
    concentration_prior: tuple[float, float]
    concentration_scope: str
    parents: Any  # (lambda_S, lambda_T) or "auto"; a parent with 0 takes no tables


class BurstySampler(TopicSampler):
    """Markov chain of a model of segments, which may have bursts."""

    burst_scope = "document"

    @property
    def _burst_groups(self) -> list[BurstGroups]:
        """The groups of words that share bursts, by shard."""
        each_segment = self.burst_scope == "segment"
        parts = zip(self._burst_ptr, self._table_places, strict=True)
        return [BurstGroups(each_segment, *part) for part in parts]

    def _take(self, corpus: SegmentedCorpus) -> None:
        super()._take(corpus)
        self._place_tables([tokens_of_nodes(part, self.burst_scope) for part in self._corpora])


class TableSampler(BurstySampler):
    """Markov chain of a table model over one corpus."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes,
        *("_group_ptr", "_stirling", "_weights", "_scratch", "_levels"),
        "_allowed",
    )

    shards: list[kernels.Assignments]
    hyper: HyperParameters
    concentration: Floats
    _left_out = np.empty(0, dtype=np.intp)
    """Topics that words may not take in a sweep."""

    def __init__(
        self,
        corpus: Documents,
        n_topics: int,
        sampler: str,
        hyper: HyperParameters,
        init: Any,  # "random", topics of words (n_tokens,), or word probabilities (K, W)
        init_streams: list[Stream],  # of the first state, one for each shard
        streams: list[Stream],  # of the sweeps, one for each shard
        n_jobs: int | None = None,
        bursts: Bursts | None = None,
        burst_scope: str = "document",
    ):
        is_labeled = isinstance(corpus, LabeledCorpus)
        self._start((n_topics, sampler, hyper), streams, n_jobs, is_labeled=is_labeled)
        self.burst_scope = burst_scope
        documents = corpus.corpus if isinstance(corpus, LabeledCorpus) else corpus
        n_groups = len(_group_ptr(documents, hyper.concentration_scope)) - 1
        self.concentration = np.full(n_groups, self.concentration[0])
        self._take(corpus)
        chained = self.chained or bursts is not None
        self.shards = [
            empty_assignments(part, n_topics, seats=sampler == "ssa", chained=chained)
            for part in self._corpora
        ]
        self._seat_words(init, init_streams)
        self._start_bursts(corpus, bursts)
        self._count_words()

    def _start(self, settings: Any, streams: Any, n_jobs: Any, *, is_labeled: bool) -> None:
        n_topics, self.sampler, self.hyper = settings
        hyper = self.hyper
        TopicSampler.__init__(
            self, n_topics, hyper.topic_word_prior, hyper.dirichlet_prior, streams, n_jobs
        )
        self.topics_trade_places = not (is_labeled or tells_apart(hyper.doc_topic_prior))
        self.doc_topic_prior = first_value(hyper.doc_topic_prior, np.full(n_topics, 1.0 / n_topics))
        self.discount = first_value(hyper.discount, START_DISCOUNT)
        start = first_value(hyper.concentration, START_CONCENTRATION)
        self.concentration = np.full(1, float(start))
        self.parents: tuple[float, float] = first_value(hyper.parents, START_PARENTS)

    @property
    def chained(self) -> bool:
        """Whether tables may order from the previous segment."""
        return self.parents[1] > 0.0

    @property
    def _sweeps(self) -> sweeps.Sweeps:
        return sweeps.sweeps_of(self.sampler, chained=self.chained)

    def _take(self, corpus: Any) -> None:
        corpus, allowed = corpus if isinstance(corpus, LabeledCorpus) else (corpus, None)
        super()._take(corpus)
        self._allowed = [
            None if allowed is None else allowed.of_nodes(*bounds) for bounds in self._bounds
        ]
        self._group_ptr = _group_ptr(corpus, self.hyper.concentration_scope)
        self._make_ratios()
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._scratch = [empty_scratch(self.n_columns) for _ in self._corpora]
        self._levels = [
            empty_levels(part, self.n_columns, chained=self.chained or self.bursts is not None)
            for part in self._corpora
        ]

    def _make_ratios(self) -> None:
        self._stirling = stirling_ratios(self._whole, self.discount, chained=self.chained)
        self._weights = sampler_weights(self._stirling, self.sampler)

    def _seat_words(self, init: Any, streams: list[Stream]) -> None:
        """Create the first state: topics are given or random, or words are seated one by one."""
        if isinstance(init, np.ndarray) and init.ndim == 2:
            self._sweep_words(self._first_topics(init), streams)
        else:
            begin = 0
            for s, part in enumerate(self._corpora):
                end = begin + len(part.tokens)
                topics, stream = self.shards[s].topics, streams[s]
                allowed = self._allowed_of(s, self.n_columns)
                ptr = tokens_of_nodes(part, "document")
                if not isinstance(init, str):
                    topics[:] = init[begin:end]
                elif self._has_prior_mean:
                    of_words = allowed and allowed.of_words(ptr)
                    self._seat_by_prior(topics, part.tokens, stream, of_words)
                if allowed is not None:
                    move_into_sets(ptr, topics, *allowed, stream)
                place = np.zeros(1, dtype=np.int64)
                while n_seats := self._sweeps.seat_randomly(
                    part, self.shards[s], self._prior(s), self._scratch[s].n_k, place, streams[s]
                ):
                    self.shards[s] = add_seats(self.shards[s], n_seats)
                begin = end

    def _allowed_of(self, s: int, n_columns: int) -> AllowedTopics | None:
        """Return the topics that the words of documents of shard `s` may have, by column."""
        return self._allowed[s]

    def _return_strays(self, words: Any) -> None:
        """Do nothing: a draw of a table model never ends in a topic of weight 0."""

    def _prior(self, s: int) -> kernels.Prior:
        """Return the current parameters for the kernels of shard `s`."""
        first, last = self._groups_of(s)
        own = np.clip(self._group_ptr[first : last + 1], *self._segment_bounds[s])
        return kernels.Prior(
            self.doc_topic_prior, self.topic_word_prior, self.discount,
            np.repeat(self.concentration[first:last], np.diff(own)), *self.parents,
        )  # fmt: skip

    def _groups_of(self, s: int) -> tuple[int, int]:
        """Return the range of concentrations that belong to the segments of shard `s`."""
        scope = self.hyper.concentration_scope
        if scope == "corpus":
            return 0, 1
        return self._bounds[s] if scope == "document" else self._segment_bounds[s]

    @property
    def _may_open(self) -> int:
        """Number of topics without words that words may take in a sweep."""
        return int(kernels.UNBOUNDED)

    def _sweep_of(self, s: int, words: WordCounts) -> TableSweep:
        prior, may_open = self._prior(s), self._may_open
        if words.fixed:
            prior, may_open = prior._replace(gamma=0.0), int(kernels.UNBOUNDED)
        return TableSweep(
            self._corpora[s], self.shards[s], self.sampler, prior, self._weights, self._left_out,
            may_open, self._scratch[s], self._levels[s], self._allowed_of(s, self.n_columns),
            *(() if self.bursts is None else (self.bursts.parameters, self._burst_groups[s])),
        )  # fmt: skip

    def _update_parameters(self) -> None:
        hyper, stream = self.hyper, self.streams[0]
        self._update_bursts()
        if hyper.discount == "auto":
            self._update_discount(stream)
        if hyper.concentration == "auto":
            self._update_concentration()
        self._update_doc_topic_prior()
        if isinstance(hyper.parents, str):
            self._update_parents()

    def _update_doc_topic_prior(self) -> None:
        """Re-estimate alpha from the tables of documents."""
        self.doc_topic_prior = self._learned(
            self.doc_topic_prior, self.hyper.doc_topic_prior, self._document_frequencies
        )

    def _document_frequencies(self) -> Frequencies:
        """Return the frequencies of the tables of documents."""
        tables = [shard.document_tables for shard in self.shards]
        return count_frequencies(tables, tables[0].shape[1])

    def _update_parents(self) -> None:
        """Re-estimate lambda from the tables that segments with two parents order from either."""
        frequencies = self._parent_frequencies()
        if len(frequencies.keys):
            learned = update_by_frequencies(
                np.array(self.parents), frequencies, *self.hyper.dirichlet_prior, symmetric=False
            )
            self.parents = float(learned[0]), float(learned[1])

    def _parent_frequencies(self) -> Frequencies:
        """Return the frequencies of the tables of later segments by parent."""
        found = []
        for corpus, state in zip(self._corpora, self.shards, strict=True):
            later = corpus.part_begin < np.arange(len(corpus.part_begin))
            found.append(np.column_stack([state.segment_tables, state.segment_to_previous])[later])
        return count_frequencies(found, 2)

    def _update_discount(self, stream: Stream) -> None:
        """Draw the discount, and recompute the ratios."""
        p, q = self.hyper.discount_prior
        for of_tables, of_seatings in self._discount_evidence():
            p, q = p + of_tables, q + of_seatings
        self.discount = draw_bounded_beta(p, q, stream)
        self._make_ratios()

    def _discount_evidence(self) -> list[tuple[float, float]]:
        """Draw each shard's evidence on the discount from its own stream."""
        return [
            sweeps.gather_discount_evidence(
                self._corpora[s], shard, self._prior(s), self._stirling, self._scratch[s].n_k,
                self.streams[s],
            )
            for s, shard in enumerate(self.shards)
        ]  # fmt: skip

    def _update_concentration(self) -> None:
        """Draw the concentrations, from evidence that each shard draws from its own stream."""
        evidence = self._concentration_evidence(has_prior=True)
        if self.hyper.concentration_scope == "corpus":
            shape, rate = 0.0, 0.0
            for found in evidence:
                shape, rate = shape + found[0], rate + found[1]
            drawn = draw_given_evidence(shape, rate, self.streams[0])
            self.concentration[0] = min(
                max(drawn, sweeps.SMALLEST_CONCENTRATION), sweeps.LARGEST_CONCENTRATION
            )

    def _concentration_evidence(self, *, has_prior: bool) -> list[tuple[float, float]]:
        """Return shards' drawn evidence on a common concentration, or draw their concentrations."""
        prior, common = self.hyper.concentration_prior, self.hyper.concentration_scope == "corpus"
        customers, tables = self._customers_and_tables()
        evidence = []
        for s, ((begin, end), stream) in enumerate(
            zip(self._segment_bounds, self.streams, strict=True)
        ):
            counts = customers[begin:end], tables[begin:end]
            if common:
                start = prior if s == 0 and has_prior else (0.0, 0.0)
                evidence.append(
                    add_evidence(*counts, self.discount, self.concentration[0], *start, stream)
                )
            else:
                first, last = self._groups_of(s)
                sweeps.draw_concentrations(
                    self._group_ptr[first : last + 1] - begin, *counts, self.discount,
                    self.concentration[first:last], *prior, stream,
                )  # fmt: skip
        return evidence

    def _customers_and_tables(self) -> tuple[Places, Places]:
        """Return Nd_j and Td_j of all segments."""
        n_segments = len(self._whole.segment_ptr) - 1
        customers, tables = np.empty((2, n_segments), dtype=np.int64)
        for s, (begin, end) in enumerate(self._segment_bounds):
            kernels.count_customers(
                0, len(self._corpora[s].doc_ptr) - 1, self._corpora[s], self.shards[s],
                self._prior(s), customers[begin:end], tables[begin:end],
            )  # fmt: skip
        return customers, tables

    @property
    def assignments(self) -> kernels.Assignments:
        """The state; several shards are joined, without the individual tables of SSA."""
        if len(self.shards) == 1:
            return self.shards[0]
        names = kernels.Assignments._fields
        joined = [join([getattr(shard, name) for shard in self.shards]) for name in names]
        return kernels.Assignments(*joined)

    @property
    def _is_mixed(self) -> bool:
        """Whether segments have two parents."""
        return min(self.parents) > 0.0

    def _empty_shares(self) -> dict[str, Floats]:
        shares = super()._empty_shares()
        if self._is_mixed:
            shares["segment_mixing"] = np.zeros(len(shares["segment_topic"]))
        return shares

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add E[mu], E[nu] and E[rho] of documents and of segments, given the state, to sums."""
        mixing = sums.get("segment_mixing", np.zeros(len(sums["segment_topic"])))
        for s, (begin, end) in enumerate(self._segment_bounds):
            doc_topic = of_documents = sums["doc_topic"][slice(*self._bounds[s])]
            segment_topic = of_segments = sums["segment_topic"][begin:end]
            if (allowed := self._allowed_of(s, self.n_topics)) is not None:
                of_documents, of_segments = np.zeros_like(doc_topic), np.zeros_like(segment_topic)
            kernels.add_corpus_estimates(
                self._corpora[s], self.shards[s], self._prior(s), self._scratch[s], of_documents,
                of_segments, mixing[begin:end],
            )  # fmt: skip
            if allowed is not None:
                n_segments = np.diff(self._corpora[s].doc_ptr)
                doc_topic += allowed.restrict(of_documents)
                segment_topic += allowed.of_segments(n_segments).restrict(of_segments)

    @property
    def _all_concentrations(self) -> Floats:
        """The concentrations of the whole corpus."""
        return self.concentration

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        concentration: Any = self._all_concentrations.copy()
        if self.hyper.concentration_scope == "corpus":
            concentration = float(concentration[0])
        return {
            "doc_topic_prior": self.doc_topic_prior,
            "topic_word_prior": float(self.topic_word_prior),
            "discount": float(self.discount),
            "concentration": concentration,
            **({"mixing_prior": np.array(self.parents)} if self._is_mixed else {}),
            **self._burst_scalars,
        }

    def score_words(self, tokens: Ints, segment_of: Places, out: Floats) -> None:
        """Add the probabilities of further words of segments, given the state, to `out`."""
        if self.bursts is None:
            super().score_words(tokens, segment_of, out)
            return
        (groups,), (state,), (corpus,) = self._burst_groups, self.shards, self._corpora
        order, n_topics = np.argsort(segment_of, kind="stable"), self.n_topics
        scored = groups.scored((tokens[order], segment_of[order]), self._whole, n_topics)
        sweeps.score_with_bursts(
            corpus, state, fixed_words(self.components().astype(np.float32)), self._prior(0),
            empty_scratch(n_topics), groups.bursts(self.bursts.parameters, state.seats, n_topics),
            scored, np.zeros((len(self._whole), n_topics)), np.zeros_like(scored.nu),
        )  # fmt: skip
        out[order] += scored.out

    def _log_prior(self) -> float:
        return self._log_probability_of_seats() + sum(
            kernels.log_prior_of_tables(
                self._corpora[s], shard, self._prior_of_joint(s), self._stirling,
                self._scratch[s].n_k,
            )
            for s, shard in enumerate(self.shards)
        )  # fmt: skip

    def _prior_of_joint(self, s: int) -> kernels.Prior:
        """Return the parameters of the log joint."""
        return self._prior(s)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        joint, *rest = super().scalars().items()
        of_parents = {}
        if self._is_mixed:
            of_parents = {
                "mixing_prior_document": self.parents[0],
                "mixing_prior_previous": self.parents[1],
            }
        return dict([
            joint,
            ("concentration", float(self._all_concentrations.mean())),
            ("discount", float(self.discount)),
            ("doc_topic_prior_sum", float(self.doc_topic_prior.sum())),
            *rest,
            *of_parents.items(),
            *self._burst_scalars.items(),
            ("n_tables", float(self._n_tables())),
        ])  # fmt: skip

    def _n_tables(self) -> int:
        """Return the number of tables of all segments."""
        return sum(
            int(shard.segment_tables.sum() + shard.segment_to_previous.sum())
            for shard in self.shards
        )

    def model(self) -> TableModel:
        """Return the current sample as a model."""
        return TableModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(), float(self.discount),
            float(self._all_concentrations.mean()), self.parents,
            None if self.bursts is None else self.bursts.parameters, self.burst_scope,
        )  # fmt: skip

    # Interface of a sampler of one shard to a chain over partitions

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shared by all shards."""
        shared = {
            "doc_topic_prior": self.doc_topic_prior,
            "topic_word_prior": self.topic_word_prior,
            "discount": self.discount,
            "parents": self.parents,
        }
        if self.hyper.concentration_scope == "corpus":
            shared["concentration"] = self.concentration.copy()
        return shared

    def take_parameters(self, parameters: dict[str, Any]) -> None:
        """Set the parameters shared by all shards."""
        has_other_ratios = self.discount != parameters["discount"]
        vars(self).update(parameters)
        if has_other_ratios:
            self._make_ratios()

    def statistics(self, *, is_first: bool) -> tuple[Any, ...]:
        """Return the additive statistics of this shard for updates of parameters after a sweep."""
        hyper = self.hyper
        learns_discount = hyper.discount == "auto"
        return (
            self._discount_evidence() if learns_discount else [],
            # Evidence that depends on earlier draws is left to `statistics_given_discount`.
            *([[]] if learns_discount else self.statistics_given_discount(is_first=is_first)),
            self._document_frequencies() if isinstance(hyper.doc_topic_prior, str) else 0,
            self._parent_frequencies() if isinstance(hyper.parents, str) else 0,
        )

    def statistics_given_discount(self, *, is_first: bool) -> tuple[Any, ...]:
        """Return the evidence for the draw of the concentration, given the discount."""
        if self.hyper.concentration != "auto":
            return ([],)
        return (self._concentration_evidence(has_prior=is_first),)

    def report(self) -> tuple[float, int, Any]:
        """Return the log joint without the words, the number of tables and own concentrations."""
        is_common = self.hyper.concentration_scope == "corpus"
        return self._log_prior(), self._n_tables(), None if is_common else self.concentration

    def state(self) -> TableState:
        """Return a read-only view of the state."""
        return TableState(self)


def _group_ptr(corpus: SegmentedCorpus, scope: str) -> Places:
    """Return groups of segments that share a concentration: group g is ptr[g]:ptr[g + 1]."""
    n_segments = len(corpus.segment_ptr) - 1
    if scope == "corpus":
        return as_readonly(np.array([0, n_segments]))
    if scope == "document":
        return as_readonly(corpus.doc_ptr)
    return as_readonly(np.arange(n_segments + 1))


# The chain over a corpus in partitions.


class DistributedTableSampler(DistributedSampler, TableSampler):
    """Markov chain of a table model over a corpus in partitions."""

    of_shard = TableSampler

    def _make_ratios(self) -> None:
        """Do nothing: partitions make their own ratios."""

    def _discount_evidence(self) -> list[tuple[float, float]]:
        return self._found[0]

    def _concentration_evidence(self, *, has_prior: bool) -> list[tuple[float, float]]:
        if self.hyper.discount != "auto":
            return self._found[1]
        shared = self.data.share(self.parameters())
        self.streams[:], found = self.data.sum("finish", self._c, shared, each=list(self.streams))
        return found

    def _document_frequencies(self) -> Frequencies:
        return self._found[2]

    def _parent_frequencies(self) -> Frequencies:
        return self._found[3]

    def _n_tables(self) -> int:
        return sum(found[1] for found in self._reported())

    @property
    def _all_concentrations(self) -> Floats:
        if self.hyper.concentration_scope == "corpus":
            return self.concentration
        return np.concatenate([found[2] for found in self._reported()])
