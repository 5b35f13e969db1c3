"""Markov chain of the model with collocations: cuts, seats and hyperparameters."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_log_beta
from skdp.language._kernels._collocation_seats import Collocations, empty_tokens, sweep_tables
from skdp.language._kernels._collocations import empty_room, seat_collocations, sweep_collocations
from skdp.language._nested._collocation_model import (
    CollocationModel,
    lay_out_collocations,
    open_collocations,
)
from skdp.language._nested._layout import Spans, TextLayout
from skdp.language._nested._sampler import NestedSampler, NestedState, Settings, Strings
from skdp.processes._kernels_franchise_dynamic import CUSTOMERS, TABLES


class CollocationState(NestedState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def _prior(self, column: int, *, words: bool) -> NDArray[np.float64]:
        values = super()._prior(column, words=words)
        return values[:1] if words else values

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Whether a collocation ends after each character, (n_characters,)."""
        return as_readonly(self._sampler.ends)

    @property
    def word_tables(self) -> NDArray[np.int64]:
        """Tables of words, (1,)."""
        return super().word_tables[:1]

    @property
    def collocation_tables(self) -> int:
        """Tables of collocations, including those of the end of a sentence."""
        return int(self._sampler.tables_of_levels()[-1])

    @property
    def collocation_discount(self) -> float:
        """Discount of collocations."""
        return float(self._sampler.prior[-1, 0])

    @property
    def collocation_concentration(self) -> float:
        """Concentration of collocations."""
        return float(self._sampler.prior[-1, 1])

    @property
    def stop_probability(self) -> float:
        """Probability that a word is the last one of a new collocation."""
        return float(self._sampler.stop_shares[0])


class CollocationSampler(NestedSampler):
    """Markov chain over segmentations of strings into collocations, and of these into words."""

    # In `settings`, `word_order` is 1; the last discount and concentration are the collocations'.

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *NestedSampler._data_attributes, "_room", "_tokens"
    )  # fmt: skip
    _open: ClassVar[Any] = staticmethod(open_collocations)

    def __init__(
        self,
        strings: Strings,
        settings: Settings,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
    ):
        (a, b), given = settings.stop_prior, settings.stop_probability
        p = a / (a + b) if isinstance(given, str) else float(given)
        self.stop_shares = p, 1.0 - p
        self._shares = np.zeros(3)
        self.ends = np.zeros(len(strings.tokens), dtype=np.bool_)
        super().__init__(strings, settings, init_stream, stream)

    def attach(self, strings: Strings) -> None:
        """Set the data and everything that is derived from it."""
        super().attach(strings)
        s, longest = self.settings, int(np.diff(strings.ptr).max(initial=0))
        self._room = empty_room(longest, s.max_length, s.max_collocation)
        self._tokens = empty_tokens(len(strings.tokens), self._layout.n_hashed)

    def _lay_out(self) -> TextLayout:
        s = self.settings
        lengths = s.max_length, s.max_collocation
        return lay_out_collocations(*self._strings, lengths, s.character_order)

    def _open_restaurants(self) -> None:
        """Create empty restaurants with enough room for the sweeps."""
        super()._open_restaurants()
        self._heads = np.full(len(self._all_spans.first), -1, dtype=np.int32)
        self._span_of = np.full(self._layout.n_hashed, -1, dtype=np.int32)
        self._following = np.full(self._layout.n_hashed, -1, dtype=np.int32)
        self._masks = np.zeros(self._layout.n_hashed, dtype=np.int64)

    @property
    def _all_spans(self) -> Spans:
        """Possible collocations, with possible words first."""
        assert self._layout.collocations is not None
        return self._layout.collocations

    def _collocations(self) -> Collocations:
        of_cells = self._span_of, self._following, self._masks
        return Collocations(self._all_spans.ids, self._heads, *of_cells, self._shares)

    # Initial state and sweeps

    def _cut_where_needed(self) -> None:
        """Cut strings where necessary, with every word as a collocation."""
        super()._cut_where_needed()
        self.ends[:] = self.cuts

    def _seat_all(self, order: Any, rng: NDArray[np.uint64]) -> None:
        seat_collocations(
            self._f, self._layout.text, self.prices, self._collocations(), order, self.cuts,
            self.ends, self._room, rng,
        )  # fmt: skip

    def _sweep_some(self, order: Any, power: float, seated: bool, rng: Any) -> int:
        n_accepted: int = sweep_collocations(
            self._f, self._layout.text, self.prices, self._collocations(), order, self.cuts,
            self.ends, power, seated, self._scratch, self._room, rng,
        )  # fmt: skip
        return n_accepted

    def _move_types(self, power: float) -> None:
        """Redraw the words of all tables of collocations, in sweeps that are not annealed."""
        if power == 1.0:
            self.n_flips = sweep_tables(
                self._f, self._layout.text, self.prices, self._collocations(), self.cuts,
                self.ends, self._room, self._tokens, self.stream,
            )  # fmt: skip

    # Parameters

    def _nodes_of_levels(self) -> list[Any]:
        node = self._layout.text.pair_node
        return [*super()._nodes_of_levels(), slice(node, node + 1)]

    def _draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        if isinstance(self.settings.stop_probability, str):
            a, b = self.settings.stop_prior
            n, n_words = self._new_collocations()
            logs = draw_log_beta(a + n, b + n_words - n, rng)
            self.stop_shares = math.exp(logs[0]), math.exp(logs[1])
        super()._draw_parameters(rng)

    def _new_collocations(self) -> tuple[float, float]:
        """Return the number of tables of collocations, and of their words."""
        f, text = self._f, self._layout.text
        n = f.nodes[text.pair_node, 1] - f.cells[text.hashed_cell, TABLES]
        return float(n), float(f.nodes[text.root_node, 0])

    def _tables_of_base(self) -> tuple[float, float]:
        """Return the numbers of tables of ends and of collocations."""
        n_ends = float(self._f.cells[self._layout.text.hashed_cell, TABLES])
        return n_ends, self._new_collocations()[0]

    def _price(self) -> None:
        """Set the prices of words, before length correction, and those of collocations."""
        self.prices[:] = 1.0
        self._shares[0] = self.base_shares[0]
        self._shares[1] = self.base_shares[1] * self.stop_shares[0]
        self._shares[2] = self.stop_shares[1]

    # State, trace and model

    def state(self) -> CollocationState:
        """Return a read-only view of the state."""
        return CollocationState(self)

    def log_joint(self) -> float:
        """Return the log probability of cuts, seats and parameters with the current prices."""
        total = super().log_joint()
        (n_ends, n), (_, n_words) = self._tables_of_base(), self._new_collocations()
        total += n_ends * math.log(self._shares[0]) + n * math.log(self._shares[1])
        total += (n_words - n) * math.log(self._shares[2])
        if isinstance(self.settings.stop_probability, str):
            a, b = self.settings.stop_prior
            total += (a - 1.0) * math.log(self.stop_shares[0])
            total += (b - 1.0) * math.log(self.stop_shares[1])
        return total

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        f, text = self._f, self._layout.text
        return {
            **super().scalars(),
            "n_collocations": float(self.ends.sum()),
            "n_collocation_types": float(
                np.count_nonzero(f.cells[text.hashed_cell + 1 :, CUSTOMERS])
            ),
            "stop_probability": self.stop_shares[0],
        }

    def model(self) -> CollocationModel:
        """Return the current sample as a model."""
        f, n = self._f, self._layout.text.hashed_cell
        words = self._model_of_words(
            f._replace(cells=f.cells[:n], parents=f.parents[:n], prior=f.prior[:-1])
        )
        return CollocationModel.of(f, self._layout, self._collocations(), words)
