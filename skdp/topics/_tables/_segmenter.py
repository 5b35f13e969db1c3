"""Chain of topics and cuts over a corpus, and divisions of documents into parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._checks import as_array, check_integers, is_list_like, is_number, shorten
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import draw_slice
from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.processes._concentration import draw_bounded_beta
from skdp.topics._kernels import _segmenter as kernels
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._kernels._tables import Prior, Ratios
from skdp.topics._shared._arrays import (
    SMALLEST,
    Stream,
    count_frequencies,
    first_value,
    fixed_words,
    sort_words,
    tells_apart,
)
from skdp.topics._shared._fold_in import FoldIn, Halt, Scoring, Shares, expect_topics, slices
from skdp.topics._shared._sampler import TopicSampler, TopicState, shown
from skdp.topics._tables._model import (
    CHAIN_ROWS,
    empty_scratch,
    enter_words,
    sampler_weights,
    writable,
)


class SegmenterState(TopicState):
    """The state of a chain of topics and cuts."""

    starts = shown("_state.starts", "Whether a part begins at each unit, (n_units,).")
    doc_topic = shown("_state.shares", "Topic shares mu of the documents, (n_documents, K).")
    doc_topic_prior = shown("doc_topic_prior", "Prior alpha of shares of documents, (K,).")
    concentration = shown("concentration", "Concentration b of parts.")
    cut_probability = shown("cut_probability", "Probability rho of a cut in a gap.")

    @property
    def burst_concentration(self) -> float | None:
        """Concentration b_w of the words of parts; None without words of their own."""
        return cast("float | None", self._sampler.burst_concentration)


# Arrays of the kernels, and documents with their known cuts.


UNKNOWN = -1
"""Mark of a gap that may be a cut or not."""

LONGEST = 2**40
"""Number of units of a part if there is no bound."""


class KnownUnits(NamedTuple):
    """Documents of units, and the known gaps before them."""

    corpus: SegmentedCorpus
    known: NDArray[np.int8]  # (J,), a part begins: 1, 0 or -1: unknown; 1 at the first unit


def nothing_known(corpus: SegmentedCorpus) -> KnownUnits:
    """Return documents without known cuts."""
    known = np.full(len(corpus.segment_ptr) - 1, UNKNOWN, dtype=np.int8)
    known[first_units(corpus)] = 1
    return KnownUnits(corpus, known)


def first_units(corpus: SegmentedCorpus) -> Places:
    """Return the first unit of every document that has any."""
    return np.asarray(corpus.doc_ptr[:-1][np.diff(corpus.doc_ptr) > 0])


def units_of(corpus: SegmentedCorpus) -> kernels.Units:
    """Return a corpus in the form that kernels take."""
    return kernels.Units(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr)


def first_state(data: KnownUnits, doc_topic_prior: Floats) -> kernels.Divided:
    """Return documents of words without topics and of one part, but for known cuts."""
    n_documents, n_topics = len(data.corpus), len(doc_topic_prior)
    return kernels.Divided(
        topics=np.full(len(data.corpus.tokens), -1, dtype=np.int32),
        starts=(data.known == 1).astype(np.int8),
        shares=np.tile(doc_topic_prior / doc_topic_prior.sum(), (n_documents, 1)),
        served=np.zeros((n_documents, n_topics), dtype=np.int32),
    )


def empty_parts(corpus: SegmentedCorpus, n_topics: int) -> kernels.PartBuffers:
    """Return scratch for the parts of any document."""
    n_units = int(np.diff(corpus.doc_ptr).max(initial=0))
    return kernels.PartBuffers(
        part_ptr=np.zeros(n_units + 1, dtype=np.int64),
        doc_ptr=np.zeros(2, dtype=np.int64),
        tables=np.zeros((n_units, n_topics), dtype=np.int32),
        part_tables=np.zeros(n_units, dtype=np.int64),
        served=np.zeros((1, n_topics), dtype=np.int32),
        none=np.zeros((0, n_topics), dtype=np.int32),
        no_totals=np.zeros(0, dtype=np.int64),
        no_seats=np.zeros(0, dtype=np.int32),
        no_kinds=np.zeros(0, dtype=np.int8),
    )


def empty_work(
    corpus: SegmentedCorpus, n_topics: int, concentration: float, *, drops: bool = False
) -> kernels.CutScratch:
    """Return scratch for the cuts of any document."""
    n_units = int(np.diff(corpus.doc_ptr).max(initial=0))
    n_words = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
    return kernels.CutScratch(
        base=np.zeros(n_topics),
        n_k=np.zeros(n_topics, dtype=np.int64),
        inverse=1.0 / (concentration + np.arange(n_words + 1.0)),
        forward=np.zeros(n_units + 1),
        backward=np.zeros(n_units + 1),
        logs=np.zeros(n_units + 1),
        reach=np.zeros(n_units + 1, dtype=np.int64),
        drops=drops,
    )


def cut_prior(known: NDArray[np.int8], most: int | None, probability: float) -> kernels.CutPrior:
    """Return the prior of cuts in the form that kernels take."""
    return kernels.CutPrior(
        known, LONGEST if most is None else most, math.log(probability), math.log1p(-probability)
    )


def split_units(corpus: SegmentedCorpus, of_units: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the values of the gaps of each document, one before each unit but the first."""
    return [
        of_units[begin + 1 : max(end, begin + 1)]
        for begin, end in zip(corpus.doc_ptr[:-1], corpus.doc_ptr[1:], strict=True)
    ]


# Stored samples, and the fold-in of new documents.


WHOLE_SWEEPS = 5
"""Number of first sweeps of a new document without cuts."""


def stirling_weights(corpus: SegmentedCorpus) -> Ratios:
    """Return the weights of tables for parts as long as the longest document."""
    longest = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
    table = StirlingRatios.for_counts(longest + 1, 0.0, max_rows=CHAIN_ROWS)
    return sampler_weights(Ratios(table.values, table.row_ptr), "btigs")


@dataclass(frozen=True)
class SegmenterModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: Floats  # (K,)
    concentration: float
    cut_probability: float
    max_units: int | None
    bursts: float | None = None  # b_w: parts have words of their own, around one topic

    burst_scope: ClassVar[str] = "part"

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> SegmenterFoldIn | OwnWords:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        if self.bursts is not None:
            return OwnWords(self)
        weights = stirling_weights(corpus)
        return SegmenterFoldIn(self, settings, fixed_words(self.components), weights)


@dataclass(frozen=True, eq=False)
class SegmenterFoldIn:
    """Fold-in of documents by chains of topics and cuts."""

    model: SegmenterModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def __call__(self, corpus: SegmentedCorpus, key: Stream, halt: Halt) -> Shares:
        """Return E[mu] (D, K), E[nu] of units (J, K), and probabilities of cuts (J,)."""
        model, settings = self.model, self.settings
        alpha = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        n_topics, n_units = len(alpha), len(corpus.segment_ptr) - 1
        data = nothing_known(corpus)
        state, parts = first_state(data, alpha), empty_parts(corpus, n_topics)
        work, scratch = empty_work(corpus, n_topics, model.concentration), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        concentration = np.full(max(len(parts.part_tables), 1), model.concentration)
        prior = Prior(alpha, 0.0, 0.0, concentration, 1.0, 0.0)
        cuts = cut_prior(data.known, model.max_units, model.cut_probability)
        doc_topic = np.zeros((len(corpus), n_topics))
        unit_topic, probabilities = np.zeros((n_units, n_topics)), np.zeros(n_units)
        lengths = np.diff(corpus.segment_ptr)
        weights = writable(self.weights)
        for amount, place, rng in slices(halt, corpus):
            kernels.fold_in_units(
                units_of(corpus), lengths, state, self.words, prior, cuts, weights, scratch, parts,
                work, min(WHOLE_SWEEPS, settings.burn_in), settings.n_sweeps, settings.burn_in,
                amount, place, key, doc_topic, unit_topic, probabilities, rng,
            )  # fmt: skip
        return doc_topic, unit_topic, probabilities


@dataclass(frozen=True, eq=False)
class OwnWords(Scoring):
    """Exact sums over the divisions of documents whose parts have words of their own."""

    model: SegmenterModel

    def score(
        self,
        corpus: SegmentedCorpus,
        key: Stream,
        further: tuple[Ints, Places],  # words, and their units in order
        halt: Halt,
    ) -> Shares:
        """Return shares, probabilities of further words of units, and probabilities of cuts."""
        model, n_units = self.model, len(corpus.segment_ptr) - 1
        phi = np.maximum(model.components, SMALLEST).astype(np.float64)
        work = empty_work(corpus, phi.shape[1], cast("float", model.bursts), drops=True)
        known = nothing_known(corpus).known
        cuts, units = cut_prior(known, model.max_units, model.cut_probability), units_of(corpus)
        scores, probabilities = np.zeros(len(further[0])), np.zeros(n_units)
        ptr = np.searchsorted(further[1], np.arange(n_units + 1))
        for d in range(len(corpus)):
            if halt.called:
                break
            kernels.add_own_cuts(
                d, units, units.tokens, phi, model.bursts, cuts, work, probabilities
            )
            if len(scores) > 0:
                kernels.score_own_words(d, units, cuts, work, further[0], ptr, scores)
        return np.ones((len(corpus), 1)), np.ones((n_units, 1)), scores, probabilities


# The chain.


START_PROBABILITY, START_CONCENTRATION = 0.1, 100.0
"""Initial values of a cut probability and of a concentration that are drawn."""

LEAST_SHARE, START_SHARE, LARGEST = 0.75, 4.0, 1e12
"""A concentration of the words of parts that is drawn: its least and first values, in lengths of a
document, and its largest one. With smaller ones, ever finer parts are found."""


class CutParameters(NamedTuple):
    """Parameters of the model: numbers, or "auto" if they are learned, and their priors."""

    doc_topic_prior: Any
    topic_word_prior: Any
    dirichlet_prior: tuple[float, float]
    concentration: Any
    concentration_prior: tuple[float, float]
    cut_probability: Any
    cut_prior: tuple[float, float]
    max_units: int | None
    burst_concentration: Any = None  # of one topic; None: parts have no words of their own
    burst_concentration_prior: tuple[float, float] = (1.0, 0.001)


class SegmenterSampler(TopicSampler):
    """Markov chain of topics, cuts and shares of documents over one corpus."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_known", "_units", "_ratios", "_scratch", "_parts",
    )  # fmt: skip

    shards: list[kernels.Divided]

    burst_concentration: float | None = None

    def __init__(
        self,
        data: KnownUnits,
        n_topics: int,
        parameters: CutParameters,
        init: NDArray[Any],  # topics (n_tokens,) or word probabilities (K, W); only known cuts
        stream: Stream,
    ):
        super().__init__(
            n_topics, parameters.topic_word_prior, parameters.dirichlet_prior, [stream], 1
        )
        self.topics_trade_places = not tells_apart(parameters.doc_topic_prior)
        self.given = parameters
        self.doc_topic_prior = first_value(
            parameters.doc_topic_prior, np.full(n_topics, 1.0 / n_topics)
        )
        self.concentration = float(first_value(parameters.concentration, START_CONCENTRATION))
        self.cut_probability = float(first_value(parameters.cut_probability, START_PROBABILITY))
        self._take(data)
        self.shards = [first_state(data, self.doc_topic_prior)]
        if init.ndim == 1:
            self.shards[0].topics[:] = init
        else:
            self._sweep_units(fixed_words(init), stream, moves_cuts=False)
        self._count_words()
        self._enter_shares()

    def _enter_shares(self) -> None:
        """Set mu to its mean given the topics of all words of a document."""
        (state,), corpus = self.shards, self._whole
        ptr = corpus.segment_ptr[corpus.doc_ptr]
        documents = np.repeat(np.arange(len(corpus)), np.diff(ptr))
        state.shares[:] = self.doc_topic_prior
        np.add.at(state.shares, (documents, state.topics), 1.0)
        state.shares[:] /= state.shares.sum(axis=1, keepdims=True)

    def _take(self, corpus: Any) -> None:
        units, self._known = corpus
        super()._take(units)
        self._units = units_of(units)
        self._ratios = stirling_weights(units)
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._scratch = empty_scratch(self.n_topics)
        self._parts = empty_parts(self._whole, self.n_topics)

    @property
    def _state(self) -> kernels.Divided:
        return self.shards[0]

    @property
    def _cut_prior(self) -> kernels.CutPrior:
        return cut_prior(self._known, self.given.max_units, self.cut_probability)

    def _prior(self, gamma: float) -> Prior:
        """Return the parameters of the sweep of words, whose segments are parts."""
        n_units = len(self._parts.part_tables)
        concentration = np.full(max(n_units, 1), self.concentration)
        return Prior(self.doc_topic_prior, gamma, 0.0, concentration, 1.0, 0.0)

    # Sweeps

    def _sweep_words(self, words: WordCounts, streams: list[Stream]) -> None:
        self._sweep_units(words, streams[0], moves_cuts=True)

    def _sweep_units(self, words: WordCounts, stream: Stream, *, moves_cuts: bool) -> None:
        gamma = 0.0 if words.fixed else self.topic_word_prior
        enter_words(words, gamma, self._scratch)
        kernels.sweep_all_units(
            moves_cuts, self._units, self._state, words, self._prior(gamma), self._cut_prior,
            self._ratios, self._scratch, self._parts, self._work(), stream,
        )  # fmt: skip

    def _work(self) -> Any:
        return empty_work(self._whole, self.n_topics, self.concentration)

    def _update_parameters(self) -> None:
        self.doc_topic_prior = self._learned(
            self.doc_topic_prior, self.given.doc_topic_prior,
            lambda: count_frequencies([self._state.served], self.n_topics),
        )  # fmt: skip
        self._draw_cut_probability()
        if isinstance(self.given.concentration, str):
            self._draw_concentration()

    def _draw_cut_probability(self) -> None:
        """Draw rho given the cuts unless it is given."""
        if isinstance(self.given.cut_probability, str):
            (n_cuts, n_gaps), stream = self._count_cuts(), self.streams[0]
            p, q = self.given.cut_prior
            self.cut_probability = draw_bounded_beta(p + n_cuts, q + n_gaps - n_cuts, stream)

    def _count_cuts(self) -> tuple[int, int]:
        """Return the numbers of cuts and of gaps."""
        n_first = len(first_units(self._whole))
        return int(self._state.starts.sum()) - n_first, len(self._state.starts) - n_first

    def _draw_concentration(self) -> None:
        """Draw b given the topics, the cuts and mu, by a slice sampler of log b."""
        shape, rate = self.given.concentration_prior

        def log_density(log_b: float) -> float:
            b = math.exp(log_b)
            evidence = kernels.log_prior_of_parts(self._units, self._state, b, self._work())
            return float(evidence) + shape * log_b - rate * b

        drawn = draw_slice(log_density, math.log(self.concentration), self.streams[0])
        self.concentration = math.exp(drawn)

    # Shown attributes

    def _log_prior(self) -> float:
        evidence = kernels.log_prior_of_parts(
            self._units, self._state, self.concentration, self._work()
        )
        return float(evidence) + self._log_prior_of_cuts()

    def _log_prior_of_cuts(self) -> float:
        n_cuts, n_gaps = self._count_cuts()
        prior = self._cut_prior
        return float(n_cuts * prior.log_cut + (n_gaps - n_cuts) * prior.log_join)

    def _empty_shares(self) -> dict[str, Floats]:
        return {**super()._empty_shares(), "cut_proba": np.zeros(len(self._state.starts))}

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents and of units, and probabilities of cuts, to sums."""
        kernels.add_all_estimates(
            self._units, self._state, self._prior(0.0), self._cut_prior, self._parts, self._work(),
            sums["doc_topic"], sums["segment_topic"], sums["cut_proba"],
        )  # fmt: skip

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        names = "doc_topic_prior", "topic_word_prior", "concentration", "cut_probability"
        return {name: getattr(self, name) for name in names}

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "concentration": self.concentration,
            "cut_probability": self.cut_probability,
            "n_parts": float(self._state.starts.sum()),
        }

    def model(self) -> SegmenterModel:
        """Return the current sample as a model."""
        return SegmenterModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(), self.concentration,
            self.cut_probability, self.given.max_units,
        )  # fmt: skip

    def state(self) -> SegmenterState:
        """Return a read-only view of the state."""
        return SegmenterState(self)


class OwnWordsSampler(SegmenterSampler):
    """Markov chain of cuts and of the words of one topic, of which every part has its own version.

    A sweep draws b_w given phi and the cuts, the cuts given phi and b_w, the tables of all words,
    and phi given these. `_words` counts the tables.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_known", "_units", "_tokens",
    )  # fmt: skip

    burst_concentration: float

    def __init__(self, data: KnownUnits, parameters: CutParameters, stream: Stream):
        tokens, n_words = data.corpus.tokens, data.corpus.n_features
        b = parameters.burst_concentration
        n_own = len(tokens) / len(first_units(data.corpus))
        self._least = LEAST_SHARE * n_own if isinstance(b, str) else 0.0
        self.burst_concentration = float(first_value(b, max(START_SHARE * n_own, 1.0)))
        self.served = np.bincount(tokens, minlength=n_words).astype(np.int32)[np.newaxis]
        super().__init__(data, 1, parameters, np.zeros(len(tokens), dtype=np.int32), stream)
        self.phi = self.components()

    def _take(self, corpus: Any) -> None:
        units, self._known = corpus
        TopicSampler._take(self, units)
        self._units = units_of(units)
        self._tokens = sort_words(units).tokens.copy()  # their order says nothing

    def _counted_words(self) -> Iterator[tuple[Ints, Ints]]:
        (served,) = self.served
        words = np.repeat(np.arange(len(served), dtype=np.int32), served)
        yield words, np.zeros(len(words), dtype=np.int32)

    @property
    def _own(self) -> kernels.Divided:
        """The state with words in place of topics."""
        return kernels.Divided(self._tokens, self._state.starts, self.phi, self.served)

    @property
    def _gammas(self) -> Floats:
        """The prior of words, with seeds."""
        prior = np.full(self._whole.n_features, float(self.topic_word_prior))
        if self.seeds is not None:
            prior[self.seeds.words] += self.seeds.weight
        return prior

    def _work(self) -> Any:
        n_words, b = self._whole.n_features, self.burst_concentration
        return empty_work(self._whole, n_words, b, drops=True)

    def _sweep_words(self, words: WordCounts, streams: list[Stream]) -> None:
        if isinstance(self.given.burst_concentration, str):
            self._draw_burst_concentration()
        kernels.sweep_own_words(
            self._gammas, self._units, self._own, self.burst_concentration, self._cut_prior,
            self._work(), streams[0],
        )  # fmt: skip
        self._count_words()

    def _draw_burst_concentration(self) -> None:
        """Draw b_w given the cuts and phi, by a slice sampler of its log."""
        shape, rate = self.given.burst_concentration_prior
        work = self._work()

        def log_density(log_b: float) -> float:
            b = math.exp(log_b)
            if not self._least <= b <= LARGEST:
                return -math.inf
            evidence = kernels.log_prior_of_parts(self._units, self._own, b, work)
            return float(evidence) + shape * log_b - rate * b

        drawn = draw_slice(log_density, math.log(self.burst_concentration), self.streams[0])
        self.burst_concentration = math.exp(drawn)

    def _update_parameters(self) -> None:
        self._draw_cut_probability()  # there are no shares of topics

    def log_joint(self) -> float:
        """Return log p(words, cuts, phi | parameters); words without tables are one."""
        phi, prior, is_seen = self.phi[0], self._gammas, self.served[0] > 0
        shapes = np.append(prior[is_seen], prior[~is_seen].sum())
        shares = np.append(phi[is_seen], phi[~is_seen].sum())[shapes > 0.0]
        shapes = shapes[shapes > 0.0]
        of_phi = math.lgamma(shapes.sum()) - gammaln(shapes).sum()
        of_phi += (shapes - 1.0) @ np.log(np.maximum(shares, np.finfo(float).tiny))
        of_words = kernels.log_prior_of_parts(
            self._units, self._own, self.burst_concentration, self._work()
        )
        return float(of_phi + of_words + self._log_prior_of_cuts())

    def shown_parameters(self) -> dict[str, Any]:
        """Return the parameters to show."""
        return {**super().shown_parameters(), "burst_concentration": self.burst_concentration}

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Add the shares of documents and of units, and probabilities of cuts, to sums."""
        sums["doc_topic"] += 1.0
        sums["segment_topic"] += 1.0
        work, prior = self._work(), self._cut_prior
        for d in range(len(self._whole)):
            kernels.add_own_cuts(
                d, self._units, self._tokens, self.phi, self.burst_concentration, prior, work,
                sums["cut_proba"],
            )  # fmt: skip

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {**super().scalars(), "burst_concentration": self.burst_concentration}

    def model(self) -> SegmenterModel:
        """Return the current sample as a model."""
        return replace(
            super().model(), components=self.phi.astype(np.float32), bursts=self.burst_concentration
        )

    def _make_scratch(self) -> None:
        """Do nothing: there are no parts of topics."""


# Divisions of documents into parts, and known cuts.


RARE = 0.001  # of 200 topics about six are left in a unit of ten words
"""Expected number of words of a topic in a unit below which the topic is left out."""


def check_known(corpus: SegmentedCorpus, y: Any, most: int | None) -> KnownUnits:
    """Return documents with the known cuts of `y`; raise a ValueError if they do not fit."""
    data = nothing_known(corpus)
    if y is None:
        return data
    if hasattr(y, "__array__"):
        y = np.asarray(y)
    if not is_list_like(y) or len(y) != len(corpus):
        raise ValueError(
            f"y must have an array of known cuts for each of the {len(corpus)} documents, got "
            f"{shorten(y)}."
        )
    if any(isinstance(given, set | frozenset) for given in y):
        raise ValueError("y must hold arrays of known cuts, not sets of topics.")
    if not any(given is None or is_list_like(given) for given in y):
        return data  # labels of documents, which a pipeline passes to all of its steps
    for d, given in enumerate(y):
        if given is None:
            continue
        begin, end = int(corpus.doc_ptr[d]), int(corpus.doc_ptr[d + 1])
        cuts = as_array(given, f"y[{d}]")
        n_gaps = max(end - begin - 1, 0)
        if cuts.shape != (n_gaps,):
            raise ValueError(
                f"y[{d}] must have a value for each of the {n_gaps} gaps between the units of "
                f"document {d}, got shape {cuts.shape}."
            )
        if n_gaps == 0:
            continue
        if not np.isin(cuts, (-1, 0, 1)).all():
            raise ValueError(
                f"y[{d}] must hold 1 (a cut), 0 (no cut) and -1 (unknown), got {shorten(given)}."
            )
        data.known[begin + 1 : end] = cuts
        joined = np.diff(np.flatnonzero(np.concatenate([[True], cuts != 0, [True]])))
        if most is not None and joined.max() > most:
            raise ValueError(
                f"y[{d}] joins {joined.max()} units to one part, but max_units is {most}."
            )
    return data


def check_numbers(n_parts: Any, corpus: SegmentedCorpus, most: int | None) -> Places:
    """Return the number of parts of every document, 0 for those without units."""
    n_units = np.diff(corpus.doc_ptr)
    if is_number(n_parts):
        n_parts = np.full(len(corpus), n_parts)
    numbers = check_integers(n_parts, "n_parts")
    if numbers.shape != (len(corpus),):
        raise ValueError(
            f"n_parts must be an int, or one for each of the {len(corpus)} documents, got shape "
            f"{numbers.shape}."
        )
    wrong = np.flatnonzero((n_units > 0) & ((numbers < 1) | (numbers > n_units)))
    if len(wrong):
        d = wrong[0]
        raise ValueError(
            f"n_parts must be from 1 to the number of units, which is {n_units[d]} in document "
            f"{d}, got {numbers[d]}."
        )
    fewest = np.zeros(len(corpus), dtype=np.int64) if most is None else -(-n_units // most)
    if (numbers < fewest).any():
        d = int(np.argmax(numbers < fewest))
        raise ValueError(
            f"n_parts must be at least {fewest[d]} in document {d} of {n_units[d]} units, because "
            f"max_units is {most}; got {numbers[d]}."
        )
    return np.where(n_units > 0, numbers, 0)


def divide(
    corpus: SegmentedCorpus,
    models: list[SegmenterModel],
    shares: list[Shares],  # E[mu] (D, K), E[nu] of units (J, K), and more
    n_parts: Places,  # (D,); 0: any number
    most_words: int | None,
) -> list[Places]:
    """Return the first unit of each part but the first in the most probable divisions."""
    log_cut, log_rest = np.mean(
        [[np.log(m.cut_probability), np.log1p(-m.cut_probability)] for m in models], axis=0
    )
    lengths, found = np.diff(corpus.segment_ptr), []
    own = [m.bursts * np.maximum(m.components[0], SMALLEST) for m in models if m.bursts is not None]
    sums = np.array([m.bursts for m in models if m.bursts is not None], dtype=np.float64)
    for d, (begin, end) in enumerate(pairwise(corpus.doc_ptr.tolist())):
        n_units = end - begin
        tokens = corpus.tokens[corpus.segment_ptr[begin] : corpus.segment_ptr[end]]
        if own:
            counts, bases = np.zeros((0, 0, 0)), np.array(own, dtype=np.float64)
        else:
            counts = drop_rare(np.stack([
                expect_topics(tokens, lengths[begin:end], nu[begin:end], model.components)
                for model, (_, nu, *_) in zip(models, shares, strict=True)
            ]))  # fmt: skip
            bases = np.stack([
                model.concentration * mu[d] for model, (mu, *_) in zip(models, shares, strict=True)
            ])  # fmt: skip
        best = np.empty((n_parts[d] + 1, n_units + 1))
        starts = np.zeros(n_units, dtype=np.int8)
        kernels.find_division(
            int(n_parts[d]), counts, bases, np.ascontiguousarray(lengths[begin:end]),
            log_cut, log_rest, models[0].max_units or LONGEST,
            LONGEST if most_words is None else most_words, np.zeros(bases.shape[1]),
            np.empty(n_units + 1), best, np.zeros(best.shape, dtype=np.int64), starts, tokens,
            corpus.segment_ptr[begin : end + 1] - corpus.segment_ptr[begin], sums,
        )  # fmt: skip
        starts[:1] = 0
        found.append(np.flatnonzero(starts))
    return found


def drop_rare(counts: Floats) -> Floats:
    """Return expected counts (M, U, K) without rare topics, whose words go to the others."""
    kept = np.where(counts < RARE, 0.0, counts)
    sums = kept.sum(axis=2, keepdims=True)
    scaled = kept * counts.sum(axis=2, keepdims=True)
    # A unit all of whose topics are rare keeps them.
    return np.divide(scaled, sums, out=counts.copy(), where=sums > 0.0)


def join_units(corpus: SegmentedCorpus, starts: NDArray[np.bool_]) -> SegmentedCorpus:
    """Return the corpus with parts, which begin at the marked units, in place of units."""
    ends = np.append(corpus.segment_ptr[:-1][starts], corpus.segment_ptr[-1])
    doc_ptr = np.append(0, np.cumsum(starts))[corpus.doc_ptr]
    return SegmentedCorpus(corpus.tokens, ends, doc_ptr, corpus.n_features)
