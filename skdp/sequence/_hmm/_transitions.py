"""Sampler of the transitions of a hidden Markov model, and the state of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_gamma
from skdp._part import ChainComponent, ChainState
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import EmissionSampler
from skdp.processes._concentration import draw_concentration
from skdp.sequence._kernels import _transitions as kernels
from skdp.sequence._similarities._protocol import SimilaritySampler, TimedTransitions

SMALLEST_WEIGHT = kernels.SMALLEST_WEIGHT
SMALLEST_CONCENTRATION = 1e-8
LARGEST_CONCENTRATION = 1e12


@dataclass(frozen=True)
class TransitionPriors:
    """Concentrations and stickiness: a number each, or None if it is drawn."""

    top_concentration: float | None
    top_concentration_prior: tuple[float, float]
    transition_concentration: float | None  # alpha, or alpha + kappa if stickiness is drawn
    transition_concentration_prior: tuple[float, float]
    stickiness: float | None
    stickiness_prior: tuple[float, float]


class Transitions(ChainComponent):
    """Sampler of transition rates, top-level weights, concentrations and stickiness."""

    def __init__(
        self,
        n_states: int,
        priors: TransitionPriors,
        rng: Stream,
        *,
        self_transitions: bool = True,
        allowed: NDArray[np.bool_] | None = None,
    ):
        self.priors = priors
        # Without self-transitions, phi_jj = 0, and only changes of state count as transitions.
        # `allowed`, (J + 1, J), has first states in the last row, as all arrays of this shape.
        self.self_transitions, self.allowed = self_transitions, allowed
        self.counts = np.zeros((n_states + 1, n_states), dtype=np.int64)
        self.log_similarity = np.zeros((n_states + 1, n_states))
        self._forbid(self.log_similarity)
        self.log_rates = np.empty((n_states + 1, n_states))
        self.weights = np.full(n_states, 1.0 / n_states)
        self.n_open = n_states  # states that may be used: see `close`
        self.gamma = _start(priors.top_concentration, priors.top_concentration_prior)
        mass = _start(priors.transition_concentration, priors.transition_concentration_prior)
        self.alpha, self.kappa = mass, priors.stickiness or 0.0
        if priors.stickiness is None:
            p, q = priors.stickiness_prior
            self.kappa = mass * p / (p + q)
            self.alpha = mass - self.kappa
        self._log_times = np.full(n_states + 1, -np.inf)
        self._tables = np.zeros(n_states, dtype=np.int64)
        self.redraw_rates(rng)

    @property
    def n_states(self) -> int:
        """J."""
        return len(self.weights)

    def with_self_transitions(self) -> Self:
        """Return these transitions, or a copy with self-transitions if they have none."""
        if self.self_transitions:
            return self
        other = self.copy()
        other.self_transitions = True
        np.fill_diagonal(other.log_similarity[:-1], 0.0)
        other._forbid(other.log_similarity)
        return other

    def close(self, n_open: int) -> None:
        """Make transitions to all states but the first ones impossible."""
        self.n_open = n_open
        self.allowed = np.tile(np.arange(self.n_states) < n_open, (self.n_states + 1, 1))
        self.log_similarity[:] = 0.0
        self._forbid(self.log_similarity)

    def reopen(self) -> None:
        """Undo `close`."""
        if self.n_open < self.n_states:
            self.n_open, self.allowed = self.n_states, None
            self.log_similarity[:] = 0.0

    @property
    def _plain(self) -> bool:
        """Whether all similarities are 1, so that shorter kernels suffice."""
        return not self.log_similarity.any()

    def draw(self, ptr: Places, states: Places, rng: Stream, **options: bool) -> None:
        """Draw everything given the states, as `draw_given` does."""
        self.draw_given(self.count(ptr, states), rng, **options)

    def draw_given(
        self, counts: Places, rng: Stream, *, hold: bool = False, rates_known: bool = True
    ) -> None:
        """Draw everything given the transitions, (J + 1, J); `hold` keeps concentrations fixed."""
        self.counts[:] = counts
        if rates_known:
            kernels.draw_times(
                self.counts, self.log_rates, self.log_similarity, self._log_times, rng
            )
        else:  # the rates belong to other states
            kernels.draw_times_without_rates(
                self.counts, self.shapes(self.weights) + self.counts, self.log_similarity,
                self._log_times, rng,
            )  # fmt: skip
        overridden = self._draw_tables(rng)
        if not hold:
            self._draw_concentrations(overridden, rng)
        kernels.draw_weights(self._tables, self.gamma, self.weights, rng)
        self.redraw_rates(rng)

    def _draw_tables(self, rng: Stream) -> int:
        """Draw the tables of all restaurants; return the number explained by kappa."""
        if self._plain and self.kappa == 0.0:
            kernels.draw_plain_tables(self.counts, self.weights, self.alpha, self._tables, rng)
            return 0
        return kernels.draw_tables(
            self.counts, self.log_similarity, self._log_times, self.weights, self.alpha,
            self.kappa, self._tables, rng,
        )  # fmt: skip

    def counts_and_rates(self) -> tuple[Places, Floats]:
        """Return transitions and log rates (-inf if impossible), on which phi depends."""
        if self.self_transitions and self.allowed is None:
            return self.counts, self.log_rates
        log_rates = self.log_rates.copy()
        self._forbid(log_rates)
        return self.counts, log_rates

    def timed(self) -> TimedTransitions:
        """Return transitions and the times drawn last, on which phi depends without the rates."""
        shapes = self.shapes(self.weights) + self.counts
        if self.allowed is not None:
            shapes[~self.allowed] = 0.0  # phi = 0 for any similarity
        return TimedTransitions(self.counts, shapes, self._log_times)

    def take_similarity(self, similarity: SimilaritySampler, emission: EmissionSampler) -> None:
        """Store the current similarities."""
        similarity.write(self.log_similarity[:-1], emission)
        self._forbid(self.log_similarity)

    def _forbid(self, logs: Floats) -> None:
        """Set the entries of impossible transitions to -inf, in a (J + 1, J) array."""
        if self.allowed is not None:
            logs[~self.allowed] = -np.inf
        if not self.self_transitions:
            np.fill_diagonal(logs[:-1], -np.inf)

    def redraw_rates(self, rng: Stream) -> None:
        """Draw the rates given the times drawn last, such as after similarities have changed."""
        kernels.draw_rates(
            self.counts, self.log_similarity, self._log_times, self.weights, self.alpha,
            self.kappa, self.log_rates, rng,
        )  # fmt: skip

    def _draw_concentrations(self, overridden: int, rng: Stream) -> None:
        """Draw alpha, kappa and gamma given the tables; weights and rates are integrated out."""
        priors = self.priors
        others = int(self._tables.sum())
        of_states, of_first = kernels.log_1p_times(self._log_times)
        if priors.stickiness is None:
            mass = self.alpha + self.kappa
            share = self.kappa / mass
            if priors.transition_concentration is None:
                shape, rate = priors.transition_concentration_prior
                rate += of_states + (1.0 - share) * of_first
                mass = _draw_concentration(shape + others + overridden, rate, rng)
            p, q = priors.stickiness_prior
            share = kernels.draw_share(share, mass, of_first, overridden, others, p, q, rng)
            self.kappa = mass * share
            self.alpha = max(mass - self.kappa, SMALLEST_CONCENTRATION)
        elif priors.transition_concentration is None:
            shape, rate = priors.transition_concentration_prior
            self.alpha = _draw_concentration(shape + others, rate + of_states + of_first, rng)
        if priors.top_concentration is None:
            # Tables are customers of the top level.
            top_tables = np.array([kernels.draw_top_tables(self._tables, self.gamma, rng)])
            customers = self._tables.sum(keepdims=True)
            gamma = draw_concentration(
                customers, top_tables, 0.0, self.gamma, *priors.top_concentration_prior, rng
            )
            self.gamma = min(max(gamma, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)

    def matrix(self) -> tuple[Floats, Floats]:
        """Return the probabilities of first states, (J,), and of transitions, (J, J)."""
        startprob = np.empty(self.n_states)
        transmat = np.empty((self.n_states, self.n_states))
        kernels.normalize_rates(self.log_rates, self.log_similarity, startprob, transmat)
        return startprob, transmat

    def log_probability(self) -> float:
        """Return log p(transitions, beta given phi, concentrations), integrated over rates."""
        return self.log_probability_of(self.counts, self.weights)

    def with_log_similarity(self, log_similarity: Floats) -> Self:
        """Return the same transitions with other similarities between states, log phi, (J, J)."""
        other = self.copy()
        other.log_similarity[:-1] = log_similarity
        other._forbid(other.log_similarity)
        return other

    def log_ratio(
        self, counts: tuple[Places, Places], weights: tuple[Floats, Floats], a: int, b: int
    ) -> float:
        """Return the log ratio of p(transitions, beta) for two choices that differ in a and b."""
        if not self._plain:
            new, old = (
                self.log_probability_of(*choice) for choice in zip(counts, weights, strict=True)
            )
            return new - old
        terms = [
            kernels.log_probability_of_pair(n, beta, self.alpha, self.kappa, self.gamma, a, b)
            for n, beta in zip(counts, weights, strict=True)
        ]
        return float(terms[0] - terms[1])

    def log_probability_of(self, counts: Places, weights: Floats) -> float:
        """Return `log_probability` for other transitions and weights."""
        if self._plain:
            return kernels.log_probability_of_plain_transitions(
                counts, weights, self.alpha, self.kappa, self.gamma, np.empty(self.n_states)
            )
        return kernels.log_probability_of_transitions(
            counts, self.log_similarity, weights, self.alpha, self.kappa, self.gamma,
            *np.empty((2, self.n_states)),
        )  # fmt: skip

    def count(self, ptr: Places, states: Places) -> Places:
        """Return the transitions of states, (J + 1, J)."""
        return count_transitions(ptr, states, self.n_states, with_stays=self.self_transitions)

    def without_stays(self, counts: Places) -> Places:
        """Convert transitions that were counted at every step into those of `count`."""
        if self.self_transitions:
            return counts
        changes = counts.copy()
        np.fill_diagonal(changes[:-1], 0)
        return changes

    def shapes(self, weights: Floats) -> Floats:
        """Return a_jj', (J + 1, J)."""
        shapes = np.tile(self.alpha * weights, (self.n_states + 1, 1))
        shapes[np.arange(self.n_states), np.arange(self.n_states)] += self.kappa
        return shapes


def count_transitions(
    ptr: Places, states: Places, n_states: int, *, with_stays: bool = True
) -> Places:
    """Return the transitions of states, or only their changes, (J + 1, J)."""
    counts = np.empty((n_states + 1, n_states), dtype=np.int64)
    kernels.count_transitions(ptr, states, counts, with_stays)
    return counts


def _start(value: float | None, prior: tuple[float, float]) -> float:
    """Return the fixed value, or the prior mean of a value that is drawn."""
    return prior[0] / prior[1] if value is None else value


def _draw_concentration(shape: float, rate: float, rng: Stream) -> float:
    draw = draw_gamma(float(shape), rng) / rate
    return min(max(draw, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)


# The state of a chain of a hidden Markov model, as users see it.


class HMMState(ChainState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Its log joint is log p(observations, states, top-level weights) given the concentrations, with
    the densities of the parameters of similarities and durations. Transition rates are integrated
    out, and so are the parameters of the observations if possible.
    """

    @property
    def states(self) -> Places:
        """State z of every observation, (N,), with the sequences concatenated."""
        view = self._sampler.states.view()
        view.flags.writeable = False
        return view

    @property
    def transition_rates(self) -> Floats:
        """Transition rates pi from row to column, (J, J)."""
        return np.exp(self._sampler.transitions.log_rates[:-1])

    @property
    def initial_rates(self) -> Floats:
        """Rates of first states, (J,); 0 for states in which no sequence may begin."""
        transitions = self._sampler.transitions
        return np.exp(transitions.log_rates[-1] + transitions.log_similarity[-1])

    @property
    def startprob(self) -> Floats:
        """Probabilities of first states, (J,)."""
        return self._sampler.transitions.matrix()[0]

    @property
    def transmat(self) -> Floats:
        """Transition probabilities P_jj' = pi_jj' phi_jj' / T_j, (J, J)."""
        return self._sampler.transitions.matrix()[1]

    @property
    def top_weights(self) -> Floats:
        """Weights beta of the states at the top level, (J,)."""
        return self._sampler.transitions.weights.copy()

    @property
    def top_concentration(self) -> float:
        """Concentration gamma."""
        return float(self._sampler.transitions.gamma)

    @property
    def transition_concentration(self) -> float:
        """Concentration alpha, without kappa."""
        return float(self._sampler.transitions.alpha)

    @property
    def stickiness(self) -> float:
        """Stickiness kappa."""
        return float(self._sampler.transitions.kappa)

    @property
    def similarity(self) -> Floats:
        """Similarities phi, (J, J): all 1 if the model has none.

        With explicit durations, the diagonal is 0, because a state does not follow itself.
        """
        return np.exp(self._sampler.transitions.log_similarity[:-1])

    @property
    def decay(self) -> float:
        """Decay lambda of the similarities, 0 if they have none."""
        return float(getattr(self._sampler.similarity, "decay", 0.0))

    @property
    def emission(self) -> Any:
        """Parameters of the observations: a copy of their sampler."""
        return self._sampler.emission.copy()
