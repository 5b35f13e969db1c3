"""Bursts of words in a chain: parameters, tables of the words, and predictions."""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_gamma_prior
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._part import ChainComponent
from skdp._sklearn_compat import Interval, StrOptions
from skdp.processes._concentration import draw_bounded_beta, draw_given_evidence
from skdp.topics._kernels._counts import (
    BurstSeats,
    estimate_bursts,
    gather_burst_evidence,
    log_probability_of_seats,
    score_tokens,
)
from skdp.topics._kernels._lda import empty_dense_scratch
from skdp.topics._shared._arrays import first_value

START_CONCENTRATION, START_DISCOUNT = 1000.0, 0.2
"""A large concentration: a chain first finds topics, and then what they do not explain."""

BURST_SUMS = "burst_concentration", "burst_discount"
"""Names of the parameters in averages and traces."""


class TablePlaces(NamedTuple):
    """Places for tables, as many as words: those of a node are sorted by the word they serve."""

    firsts: Ints  # (n,) first place of the word of each token in its node
    words: Ints  # (n,) word of each place
    longest: int  # number of words of the longest node

    @classmethod
    def of(cls, tokens: Ints, node_ptr: Places, n_words: int) -> Any:
        """Return the places of the nodes of a corpus."""
        lengths = np.diff(node_ptr)
        keys = np.repeat(np.arange(len(lengths)), lengths) * n_words + tokens
        places = np.sort(keys)
        firsts = np.searchsorted(places, keys).astype(np.int32)
        words = (places % n_words).astype(np.int32)
        return cls(as_readonly(firsts), as_readonly(words), int(lengths.max(initial=0)))

    def seat_together(self, topics: Ints, n_topics: int) -> Ints:
        """Return seats at which equal words of a node with the same topic have one table."""
        keys = self.firsts.astype(np.int64) * n_topics + topics
        tables, table_of = np.unique(keys, return_inverse=True)
        firsts = tables // n_topics
        places = firsts + np.arange(len(tables)) - np.searchsorted(firsts, firsts)
        return places[table_of].astype(np.int32)

    def served(self, state: Any) -> Ints:
        """Return the topic of the table at each place, or -1."""
        served = np.full(len(self.words), -1, dtype=np.int32)
        served[state.seats] = state.topics
        return served

    def find(
        self, node_ptr: Places, words: Ints, nodes: NDArray[np.integer], n_words: int
    ) -> Places:
        """Return the first place of each of some words of nodes; -1 for new ones."""
        lengths = np.diff(node_ptr)
        known = np.repeat(np.arange(len(lengths)), lengths) * n_words + self.words  # sorted
        wanted = nodes * n_words + words
        at = np.searchsorted(known, wanted)
        return np.where(np.append(known, -1)[at] == wanted, at, -1)

    def own_words(
        self,
        own: Floats,  # (n,) at the first place of each word of a node
        node_ptr: Places,
        words: Ints,
        nodes: NDArray[np.integer],
        n_words: int,
    ) -> Floats:
        """Return the probabilities in `own` of words as further words of nodes; 0 for new ones."""
        return np.append(own, 0.0)[self.find(node_ptr, words, nodes, n_words)]

    def seats(self, parameters: tuple[float, float], seats: Any, n_topics: int) -> BurstSeats:
        """Return the tables in the form that kernels take, with scratch."""
        sizes, served, in_use = np.empty((3, self.longest), dtype=np.int32)
        inverse = 1.0 / (parameters[0] + np.arange(self.longest + 1))
        customers, vectors = np.empty(n_topics, np.int64), np.empty((3, n_topics))
        return BurstSeats(
            *parameters, self.firsts, seats, sizes, served, in_use, inverse, customers, *vectors
        )


class Bursts(ChainComponent):
    """Concentration b and discount a of bursts, in one chain; "auto" for drawn ones."""

    def __init__(
        self, concentration: float | str, prior: tuple[float, float], discount: float | str
    ):
        self._draws_concentration = isinstance(concentration, str)
        self._draws_discount = isinstance(discount, str)
        self.prior = prior
        self.concentration = first_value(concentration, START_CONCENTRATION)
        self.discount = first_value(discount, START_DISCOUNT)

    @property
    def parameters(self) -> tuple[float, float]:
        """Concentration and discount."""
        return float(self.concentration), float(self.discount)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that traces and averages have."""
        return dict(zip(BURST_SUMS, self.parameters, strict=True))

    def update(
        self, shards: list[tuple[Any, Any, TablePlaces]], n_topics: int, stream: Any
    ) -> None:
        """Draw the parameters given the tables of all shards, (node_ptr, state, places)."""
        if self._draws_concentration:
            shape, rate = self._evidence(shards, n_topics, False, stream)
            self.concentration = draw_given_evidence(
                self.prior[0] + shape, self.prior[1] + rate, stream
            )
        if self._draws_discount:
            of_tables, of_seatings = self._evidence(shards, n_topics, True, stream)
            self.discount = draw_bounded_beta(1.0 + of_tables, 1.0 + of_seatings, stream)

    def _evidence(self, shards: list[Any], n_topics: int, of_discount: bool, stream: Any) -> Floats:
        sums = np.zeros(2)
        for node_ptr, state, places in shards:
            seats = places.seats(self.parameters, state.seats, n_topics)
            sums += gather_burst_evidence(
                node_ptr, state.topics, seats, np.empty(n_topics), of_discount, stream
            )
        return sums

    def score_words(
        self,
        shard: tuple[Places, Any, TablePlaces],
        alpha: Floats,
        words: Ints,
        nodes: NDArray[np.integer],
        components: NDArray[np.float32],
        out: Floats,
    ) -> None:
        """Add the probabilities of further words of nodes, given the state, to `out`."""
        node_ptr, state, places = shard
        opening, own = np.zeros((len(node_ptr) - 1, len(alpha))), np.zeros(len(state.topics))
        seats = places.seats(self.parameters, state.seats, len(alpha))
        estimate_bursts(
            node_ptr, state.topics, alpha, empty_dense_scratch(len(alpha)), seats, opening, own
        )
        score_tokens(words, nodes, opening, components, out)
        out += places.own_words(own, node_ptr, words, nodes, components.shape[1])

    def log_probability(self, shards: list[Any], n_topics: int) -> float:
        """Return log p(seats | topics)."""
        return sum(
            log_probability_of_seats(
                node_ptr, state.topics, places.seats(self.parameters, state.seats, n_topics),
                np.empty(n_topics),
            )
            for node_ptr, state, places in shards
        )  # fmt: skip


# The parameters of bursts in estimators.


BURST_CONSTRAINTS: dict[str, Any] = {
    "burst_concentration": [Interval(Real, 1e-8, 1e8, closed="both"), StrOptions({"auto"}), None],
    "burst_concentration_prior": [tuple, list],
    "burst_discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"})],
    "burst_scope": [StrOptions({"document", "segment"})],
}

BURST_ATTRIBUTES = frozenset(f"{name}_" for name in BURST_SUMS)


def make_bursts(estimator: Any) -> Bursts | None:
    """Return the bursts of a new chain, or None."""
    prior = check_gamma_prior(estimator.burst_concentration_prior, "burst_concentration_prior")
    if estimator.burst_concentration is None:
        return None
    return Bursts(estimator.burst_concentration, prior, estimator.burst_discount)


def fitted_bursts(estimator: Any) -> tuple[float, float] | None:
    """Return the concentration and the discount of a fit, or None without bursts."""
    if not hasattr(estimator, "burst_concentration_"):
        return None
    return float(estimator.burst_concentration_), float(estimator.burst_discount_)


def given_bursts(estimator: Any) -> dict[str, float]:
    """Return the attributes of an estimator with given topics; "auto" has nothing to learn from."""
    if estimator.burst_concentration is None or isinstance(estimator.burst_concentration, str):
        return {}
    if isinstance(estimator.burst_discount, str):
        raise ValueError(
            "burst_discount must be given as a number if topics and burst_concentration are given, "
            f"got {estimator.burst_discount!r}."
        )
    known = estimator.get_params(deep=False)
    return {f"{name}_": float(known[name]) for name in BURST_SUMS if name in known}
