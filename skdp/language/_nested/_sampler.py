"""Markov chain of the nested Pitman-Yor model: cuts, seats and hyperparameters."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric import Floats, Ints
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_log_beta, draw_slice, shuffle
from skdp._part import ChainComponent, ChainState
from skdp.inference._chain import check_interrupts
from skdp.language._kernels import _sweeps as kernels
from skdp.language._kernels._filter import empty_pairs, empty_scratch
from skdp.language._kernels._words import draw_lengths
from skdp.language._nested._layout import (
    TextLayout,
    expected_word_length,
    lay_out,
    open_restaurants,
    portions,
    uses_word_length,
)
from skdp.language._nested._model import NestedModel, split_texts
from skdp.processes._franchise import Histogram, Seats, Sizes, slice_concentration, slice_discount
from skdp.processes._kernels_franchise_dynamic import (
    CUSTOMERS,
    NODE,
    TABLES,
    DynamicFranchise,
    list_sizes,
)


class NestedState(ChainState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    In the log joint the factors of lengths are held fixed, the probability of seats is that of a
    sequence of customers, and constants of the priors are left out.
    """

    @property
    def cuts(self) -> NDArray[np.bool_]:
        """Whether a word ends after each character of all strings, (n_characters,)."""
        return as_readonly(self._sampler.cuts)

    @property
    def word_tables(self) -> NDArray[np.int64]:
        """Tables of words after 0, 1, ... words, (word_order,)."""
        return self._sampler.tables_of_levels()[self._sampler.settings.character_order :]

    @property
    def character_tables(self) -> NDArray[np.int64]:
        """Tables of letters after 0, 1, ... symbols, (character_order,)."""
        return self._sampler.tables_of_levels()[: self._sampler.settings.character_order]

    def _prior(self, column: int, *, words: bool) -> NDArray[np.float64]:
        n = self._sampler.settings.character_order
        prior = self._sampler.prior[:, column]
        return (prior[n:] if words else prior[:n]).copy()

    @property
    def word_discounts(self) -> NDArray[np.float64]:
        """Discounts of words, (word_order,)."""
        return self._prior(0, words=True)

    @property
    def word_concentrations(self) -> NDArray[np.float64]:
        """Concentrations of words, (word_order,)."""
        return self._prior(1, words=True)

    @property
    def character_discounts(self) -> NDArray[np.float64]:
        """Discounts of letters, (character_order,)."""
        return self._prior(0, words=False)

    @property
    def character_concentrations(self) -> NDArray[np.float64]:
        """Concentrations of letters, (character_order,)."""
        return self._prior(1, words=False)

    @property
    def word_length(self) -> float:
        """Lambda of the lengths of new words; only used with length_correction="poisson"."""
        return float(self._sampler.word_length)

    @property
    def end_probability(self) -> float:
        """Share of the base that goes to the end of the sentence."""
        return float(self._sampler.base_shares[0])


N_DRAWN = 10_000
"""Number of words drawn from the letters once per sweep, for their lengths."""

N_PASSES = 2
"""Number of passes over the strings before the first sweep, each from empty restaurants."""

MOST_SITES = 2000
"""Largest number of sites of a word that are flipped at once."""


class Strings(NamedTuple):
    """The data of a fit."""

    tokens: Ints  # (n_letters,)
    ptr: NDArray[np.int64]  # (n_strings + 1,)
    known: NDArray[np.int8]  # (n_letters,), as in `Text`
    n_symbols: int


class Settings(NamedTuple):
    """Fixed settings of a fit."""

    word_order: int
    character_order: int
    max_length: int
    length_correction: Any  # "none", "poisson" or a (max_length,) array
    word_length: Any  # a float, "entropy" or "auto"
    length_prior: tuple[float, float] | None
    end_probability: Any  # a float, or "auto"
    end_probability_prior: tuple[float, float]
    discounts: Floats  # (character_order + word_order,), letters first; nan: learned
    concentrations: Floats  # like discounts
    discount_prior: tuple[float, float]
    concentration_prior: tuple[float, float]
    init: Any  # "online" or "whole"
    anneal: tuple[float, int] | None
    type_moves: float  # flips of word types that a sweep proposes, per letter of the text
    max_collocation: int = 0  # largest number of letters of a collocation, if there are any
    stop_probability: Any = 0.5  # a float, or "auto"
    stop_prior: tuple[float, float] = (1.0, 1.0)


class NestedSampler(ChainComponent):
    """Markov chain over segmentations of strings into words."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_layout", "_strings", "_scratch", "_pairs", "_occurrences"
    )  # fmt: skip
    _open: ClassVar[Any] = staticmethod(open_restaurants)

    def __init__(
        self,
        strings: Strings,
        settings: Settings,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
    ):
        self.settings = settings
        self.stream = stream
        self.n_sweeps = 0
        self.acceptance, self.n_flips = 1.0, 0
        expected = expected_word_length(strings.tokens)
        shape, rate = settings.length_prior or (4.0, 4.0 / expected)
        self.length_prior = shape, rate
        starts = {"entropy": expected, "auto": shape / rate}
        self.word_length = float(starts.get(settings.word_length, settings.word_length))
        a, b = settings.end_probability_prior
        p = a / (a + b) if self._learns_the_end() else float(settings.end_probability)
        self.base_shares = p, 1.0 - p  # of the end of the sentence, of words
        self.attach(strings)
        self._open_restaurants()
        prior = self._f.prior
        prior[:, 0] = np.where(np.isnan(settings.discounts), 0.5, settings.discounts)
        prior[:, 1] = np.where(np.isnan(settings.concentrations), 1.0, settings.concentrations)
        self.cuts = np.zeros(len(strings.tokens), dtype=np.bool_)
        self.cuts[strings.ptr[1:][np.diff(strings.ptr) > 0] - 1] = True
        self.prices = np.zeros(settings.max_length + 1)
        self._weigh_lengths(init_stream)
        self._start(init_stream)

    def attach(self, strings: Strings) -> None:
        """Set the data and everything that is derived from it."""
        s = self.settings
        self._strings = strings
        self._layout = self._lay_out()
        longest = int(np.diff(strings.ptr).max(initial=0))
        self._scratch = empty_scratch(longest, s.max_length, s.character_order)
        self._pairs = empty_pairs(s.word_order, longest, s.max_length, for_reading=False)
        if s.type_moves:
            self._occurrences = kernels.find_occurrences(
                self._layout.text, longest, self._most_sites()
            )

    def _lay_out(self) -> TextLayout:
        s = self.settings
        orders = s.character_order, s.word_order
        return lay_out(*self._strings, s.max_length, *orders, n_spare=3 * self._most_sites())

    def _most_sites(self) -> int:
        """Return the largest number of sites of a word that are flipped at once."""
        return min(len(self._strings.tokens), MOST_SITES) if self.settings.type_moves else 0

    def _open_restaurants(self) -> None:
        """Create empty restaurants with enough room for the sweeps."""
        s, lengths = self.settings, np.diff(self._strings.ptr)
        n, longest = int(lengths.sum()), int(lengths.max(initial=0))
        n_levels = len(s.discounts) - s.character_order  # words, and perhaps collocations
        # Words and letters of a string; three words at each site of a flipped word.
        of_string = (longest + 1) * n_levels + 2 * longest * s.character_order
        of_site = 3 * s.word_order + (2 * s.max_length + 3) * s.character_order
        self._f = self._open(
            self._layout,
            n_levels * (n + len(lengths)) + 2 * s.character_order * n + 1,
            2 * max(of_string, self._most_sites() * of_site),
        )

    def copy(self) -> Self:
        """Return a copy of the state with its own arrays."""
        other = super().copy()
        arrays: Any = [array.copy() for array in self._f]
        other._f = DynamicFranchise(*arrays)
        return other

    # Initial state

    def _start(self, rng: NDArray[np.uint64]) -> None:
        lengths = np.diff(self._strings.ptr)
        order = np.arange(len(lengths), dtype=np.int64)
        shuffle(order, rng)
        if self.settings.init == "online":
            for i in range(N_PASSES):
                if i:
                    # The first strings were cut with the initial values of the parameters.
                    prior = self._f.prior.copy()
                    self._open_restaurants()
                    self._f.prior[:] = prior
                    shuffle(order, rng)
                self._cut_online(order[np.argsort(lengths[order], kind="stable")], rng)
            return
        self._cut_where_needed()
        for begin, end in portions(lengths[order]):
            check_interrupts()
            self._seat_all(order[begin:end], rng)
        self._draw_parameters(rng)

    def _seat_all(self, order: Any, rng: NDArray[np.uint64]) -> None:
        """Seat segmented strings."""
        text = self._layout.text
        kernels.seat_strings(self._f, text, self.prices, order, self.cuts, self._scratch, rng)

    def _cut_where_needed(self) -> None:
        """Cut strings at known cuts, and split words that are too long as late as possible."""
        known, longest = self._strings.known, self.settings.max_length
        for begin, end in pairwise(self._strings.ptr):
            start = begin
            while start < end:
                stop = min(start + longest, end)
                sure = np.flatnonzero(known[start : min(stop, end - 1)] == 1)
                if len(sure):
                    stop = start + sure[0] + 1
                while stop < end and known[stop - 1] == 0:
                    stop -= 1
                self.cuts[stop - 1] = True
                start = stop

    def _cut_online(self, order: Any, rng: NDArray[np.uint64]) -> None:
        """Cut strings in turn, and redraw parameters at growing intervals."""
        done, step = 0, 50
        while done < len(order):
            part = order[done : done + step]
            self._sweep(part, 1.0, False, rng)
            done += len(part)
            step = min(max(50, done // 4), 1000)
            self._draw_parameters(rng)

    def _sweep(self, order: Any, power: float, seated: bool, rng: Any) -> int:
        n_accepted = 0
        for begin, end in portions(np.diff(self._layout.text.ptr)[order]):
            if not seated:
                check_interrupts()
            n_accepted += self._sweep_some(order[begin:end], power, seated, rng)
        return n_accepted

    def _sweep_some(self, order: Any, power: float, seated: bool, rng: Any) -> int:
        """Redraw the words of some strings; return the number of accepted proposals."""
        n_accepted: int = kernels.sweep_strings(
            self._f, self._layout.text, self.prices, order, self.cuts, power, seated,
            self._scratch, self._pairs, rng,
        )  # fmt: skip
        return n_accepted

    # Sweeps

    def _temperature(self, sweep: int) -> float:
        """Return the temperature of a sweep, counted from 0."""
        if self.settings.anneal is None:
            return 1.0
        highest, n_sweeps = self.settings.anneal
        return 1.0 + (highest - 1.0) * max(0.0, 1.0 - sweep / n_sweeps) if n_sweeps else 1.0

    def sweep(self) -> None:
        """Draw every variable once."""
        order = np.arange(len(self._strings.ptr) - 1, dtype=np.int64)
        shuffle(order, self.stream)
        power = 1.0 / self._temperature(self.n_sweeps)
        self.acceptance = self._sweep(order, power, True, self.stream) / len(order)
        self._move_types(power)
        learns = self._uses_word_length() and self.settings.word_length == "auto"
        if learns and power == 1.0:
            self._draw_word_length(self.stream)
        self._draw_parameters(self.stream)
        self.n_sweeps += 1

    def _move_types(self, power: float) -> None:
        """Split or join words at all of their sites at once."""
        n_moves = int(np.ceil(self.settings.type_moves * len(self.cuts)))
        if n_moves and self.settings.max_length > 1:
            self.n_flips = kernels.sweep_types(
                self._f, self._layout.text, self.prices, self._occurrences, n_moves, self.cuts,
                power, self._scratch, self.stream,
            )  # fmt: skip

    def _draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        self._draw_discounts(rng)
        if self._learns_the_end():
            # Each table of the root is a draw of an end or a word from the base.
            a, b = self.settings.end_probability_prior
            n_ends, n_words = self._tables_of_base()
            logs = draw_log_beta(a + n_ends, b + n_words, rng)
            self.base_shares = math.exp(logs[0]), math.exp(logs[1])
        self._weigh_lengths(rng)

    def _nodes_of_levels(self) -> list[Any]:
        """Return the node indices of each level."""
        text, s = self._layout.text, self.settings
        depths = self._layout.letters.depths
        nodes: list[Any] = [np.flatnonzero(depths == m) for m in range(s.character_order)]
        nodes.append(slice(text.root_node, text.root_node + 1))
        if s.word_order > 1:
            nodes.append(slice(text.root_node + 1, text.pair_node))
        if s.word_order > 2:
            nodes.append(slice(text.pair_node, None))
        return nodes

    def _sizes(self) -> NDArray[np.int32]:
        """Return rows (level, size, number of tables)."""
        f, levels = self._f, self._layout.node_levels
        arguments = f, 0, len(f.cells), 0, len(f.nodes), levels
        out = np.zeros((list_sizes(*arguments, np.zeros((0, 3), dtype=np.int32)), 3), np.int32)
        list_sizes(*arguments, out)
        return out

    def _seats(self) -> list[Seats]:
        """Return the histograms of every level."""
        rows, f = self._sizes(), self._f
        seats = []
        for level, nodes in enumerate(self._nodes_of_levels()):
            mine = rows[rows[:, 0] == level]
            sizes = np.bincount(mine[:, 1], weights=mine[:, 2], minlength=1).astype(np.int64)
            customers, tables = map(Histogram.of, f.nodes[nodes].T)
            seats.append(Seats(Sizes.of_counts(sizes), tables, customers))
        return seats

    def _draw_discounts(self, rng: NDArray[np.uint64]) -> None:
        s, prior = self.settings, self._f.prior
        if not (np.isnan(s.discounts) | np.isnan(s.concentrations)).any():
            return
        for level, seats in enumerate(self._seats()):
            if np.isnan(s.discounts[level]):
                d, theta = prior[level]
                prior[level, 0] = slice_discount(seats, d, theta, s.discount_prior, rng)
            if np.isnan(s.concentrations[level]):
                d, theta = prior[level]
                prior[level, 1] = slice_concentration(seats, d, theta, s.concentration_prior, rng)

    # The base: the end and the lengths of words

    def _learns_the_end(self) -> bool:
        return isinstance(self.settings.end_probability, str)

    def _tables_of_base(self) -> tuple[float, float]:
        """Return the numbers of root tables of ends and of words."""
        n_ends = self._f.cells[self._layout.text.hashed_cell - 1, TABLES]
        return float(n_ends), float(self._root_lengths().sum())

    def _root_lengths(self) -> NDArray[np.int64]:
        """Return the numbers of root tables of words with 1, 2, ... letters."""
        text = self._layout.text
        tables = self._f.cells[text.root_cell : text.hashed_cell - 1, TABLES]
        counts = np.bincount(
            text.span_lengths, weights=tables, minlength=self.settings.max_length + 1
        )
        return counts[1:].astype(np.int64)

    def _uses_word_length(self) -> bool:
        return uses_word_length(self.settings.length_correction)

    def _draw_word_length(self, rng: NDArray[np.uint64]) -> None:
        """Draw lambda by slice sampling on its logarithm; Poisson lengths are 1 to L."""
        # Long words increase lambda, and a larger lambda makes words longer: lambda would diverge
        # if it were drawn during the initialization or annealing.
        (shape, rate), counts = self.length_prior, self._root_lengths()
        lengths = np.arange(1, len(counts) + 1)
        n, total = int(counts.sum()), int(counts @ lengths)

        def log_density(x: float) -> float:
            if abs(x) > 50.0:
                return -math.inf
            mass = np.logaddexp.reduce(lengths * x - gammaln(lengths + 1.0))
            return (shape + total) * x - rate * math.exp(x) - n * float(mass)

        self.word_length = math.exp(draw_slice(log_density, math.log(self.word_length), rng))

    def _price(self) -> None:
        """Set the prices of the end and of words, before length correction."""
        self.prices[0], self.prices[1:] = self.base_shares

    def _weigh_lengths(self, rng: NDArray[np.uint64]) -> None:
        """Set the prices of words, with length correction based on words drawn from the letters."""
        s = self.settings
        self._price()
        if not isinstance(s.length_correction, str):
            self.prices[1:] *= s.length_correction
        elif self._uses_word_length():
            counts = np.zeros(s.max_length + 1, dtype=np.int64)
            letters, n_symbols = self._layout.letters, self._strings.n_symbols + 1
            draw_lengths(self._f, letters, n_symbols, N_DRAWN, counts, rng)
            lengths = np.arange(1, s.max_length + 1)
            logs = lengths * math.log(self.word_length) - gammaln(lengths + 1.0)
            poisson = np.exp(logs - np.logaddexp.reduce(logs))
            # Keep every possible word of the strings at a positive probability.
            poisson = np.maximum(poisson, 1e-250)
            self.prices[1:] *= poisson * (N_DRAWN + s.max_length) / (counts[1:] + 1.0)

    # State, trace and model

    @property
    def prior(self) -> Floats:
        """Discounts and concentrations of the levels, (n_levels, 2)."""
        return self._f.prior

    def tables_of_levels(self) -> NDArray[np.int64]:
        """Return the number of tables of each level, letters first."""
        return np.array([self._f.nodes[nodes, 1].sum() for nodes in self._nodes_of_levels()])

    def segmentation(self) -> list[list[Ints]]:
        """Return the words of the strings."""
        return split_texts(self.cuts, self._strings.tokens, self._strings.ptr, None)

    def state(self) -> NestedState:
        """Return a read-only view of the state."""
        return NestedState(self)

    def log_joint(self) -> float:
        """Return the log probability of cuts, seats and parameters with the current prices."""
        f, text, s = self._f, self._layout.text, self.settings
        total = sum(
            seats.log_likelihood(*f.prior[level]) for level, seats in enumerate(self._seats())
        )
        letters = f.cells[: text.root_cell]
        n_roots = letters[letters[:, NODE] == 0, TABLES].sum()
        total += float(n_roots) * math.log(text.uniform)
        total += float(self._root_lengths() @ np.log(self.prices[1:]))
        total += float(f.cells[text.hashed_cell - 1, TABLES]) * math.log(self.prices[0])
        if self._learns_the_end():
            a, b = s.end_probability_prior
            total += (a - 1.0) * math.log(self.base_shares[0])
            total += (b - 1.0) * math.log(self.base_shares[1])
        for level, (d, theta) in enumerate(f.prior):
            if np.isnan(s.discounts[level]):
                a, b = s.discount_prior
                total += (a - 1.0) * math.log(d) + (b - 1.0) * math.log1p(-d)
            if np.isnan(s.concentrations[level]):
                shape, rate = s.concentration_prior
                total += (shape - 1.0) * math.log(theta) - rate * theta
        return total

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        text, f = self._layout.text, self._f
        return {
            "log_joint": float(self.log_joint()),
            "n_words": float(self.cuts.sum()),
            "n_types": float(
                np.count_nonzero(f.cells[text.root_cell : text.hashed_cell - 1, CUSTOMERS])
            ),
            **({"word_length": self.word_length} if self._uses_word_length() else {}),
            "end_probability": self.base_shares[0],
            "acceptance": self.acceptance,
            "n_flips": float(self.n_flips),
        }

    def model(self) -> Any:
        """Return the current sample as a model."""
        return self._model_of_words(self._f)

    def _model_of_words(self, f: DynamicFranchise) -> NestedModel:
        strings = self._strings
        return NestedModel.of(
            f, self._layout, strings.tokens, self.cuts, self.prices, strings.n_symbols
        )
