"""Gibbs sampler of the factorial hidden Markov model: priors, moves of runs, and the chain."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key, next_double, next_open_double, shuffle
from skdp._part import ChainComponent, ChainState
from skdp.data import SequencePanel
from skdp.emissions._binary_factors._emission import Runs, find_factors, find_most, find_runs
from skdp.emissions._binary_factors._part import BinaryFactorSampler, FixedAmplitudes, find_centers
from skdp.emissions._common import Stream
from skdp.processes._partitions import draw_mass, expected_features
from skdp.sequence._factorial._model import (
    Bits,
    FactorialDraw,
    FactorialModel,
    name_paths,
    pad_known,
    write_known,
)
from skdp.sequence._hmm._messages import LabeledPanel, find_longest, observed_steps
from skdp.sequence._kernels import _evidence as kernels
from skdp.sequence._kernels._evidence import AFTER_OFF, AFTER_ON, FIRST, FactorPaths, fill_board
from skdp.sequence._kernels._moves import make_exchanges, make_moves


class FactorialState(ChainState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Transitions are integrated out of its log joint. The densities of weights and noise are included
    if these are drawn: the density of weights in units of their prior scales, and that of noise as
    a density of log precisions.
    """

    @property
    def activities(self) -> Bits:
        """Activities of the factors at every observation, (N, F); sequences are concatenated."""
        view = self._sampler.emission.factors.view()
        view.flags.writeable = False
        return view

    @property
    def startprob(self) -> Floats:
        """Probabilities that factors are off and on at the first step, (F, 2)."""
        on = self._sampler.on_probs[:, 0]
        return np.stack([1.0 - on, on], axis=-1)

    @property
    def transmat(self) -> Floats:
        """Transition probabilities from off, 0, and on, 1, (F, 2, 2)."""
        on = self._sampler.on_probs[:, 1:]
        return np.stack([1.0 - on, on], axis=-1)

    @property
    def weights(self) -> Floats:
        """Weights w, (F + 1, D), the background in row 0."""
        return self._sampler.emission.all_weights()

    @property
    def noise_variance(self) -> Floats:
        """Variances of the noise, (D,), 1 for probit columns."""
        return 1.0 / self._sampler.emission.precisions


# Priors of the paths of factors: a given number of factors, or an Indian buffet.
#
# Both have the same methods, which are all that the sampler needs.


def find_least(bits: Bits, on_probs: Floats) -> float:
    """Return a*, the least probability of switching on of factors that are ever on, or 1."""
    return float(on_probs[bits.any(axis=0), AFTER_OFF].min(initial=1.0))


class GivenNumber(ChainComponent):
    """Prior of the paths of F factors: Beta distributions of their transitions."""

    is_infinite = False
    log_mass = 0.0
    most = 0

    def __init__(self, counts: Floats, n_factors: int):
        self.counts = counts  # (3, 2), pseudo-counts for off and on: at first, after off, after on
        self.n_factors = n_factors

    def draw_bits(self, ptr: Places, rng: Stream) -> tuple[Bits, Floats]:
        """Return a draw of paths, (N, F), and of their probabilities of being on."""
        none = np.zeros((self.n_factors, 3, 2), dtype=np.int64)
        on_probs = self.draw_on_probs(none, rng)
        bits = np.zeros((int(ptr[-1]), self.n_factors), dtype=np.int8)
        kernels.draw_paths(ptr, on_probs, bits, rng)
        return bits, on_probs

    def draw_on_probs(self, counts: Places, rng: Stream) -> Floats:
        """Return a draw of the probabilities of being on, (F, 3), given the counts."""
        on_probs = np.empty(counts.shape[:2])
        kernels.draw_on_probs(counts, self.counts, on_probs, rng)
        return on_probs

    def draw_mass(self, counts: Places, rng: Stream) -> None:
        """Do nothing: there is no buffet."""

    def mean_probs(self, counts: Places) -> Floats:
        """Return the posterior means of the probabilities of being off and on, (F, 3, 2)."""
        sums = counts + self.counts
        return np.asarray(sums / sums.sum(axis=2, keepdims=True))

    def log_probability(self, counts: Places) -> float:
        """Return log p(paths), with the transition probabilities integrated out."""
        return float(kernels.log_probability_of_bits(counts, self.counts))

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        return {}


class BuffetNumber(ChainComponent):
    """Prior of the paths of all factors that are ever on: a Markov Indian buffet."""

    is_infinite = True

    def __init__(self, counts: Floats, mass_prior: tuple[float, float], n_steps: int):
        # Switching on has only the count q for off, and first steps have no counts: a sequence
        # begins as if after a step with all factors off.
        self.counts = counts
        self.mass_prior = mass_prior
        self.expected = expected_features(n_steps, counts[AFTER_OFF, 0])
        self.mass = mass_prior[0] / mass_prior[1]  # alpha
        # Without a bound, values that are many standard deviations of the weights away would be
        # explained by ever more factors. The prior is that of the buffet given that it holds.
        self.most = find_most(n_steps, counts[AFTER_OFF, 0], mass_prior)

    @property
    def log_mass(self) -> float:
        """Log alpha."""
        return float(np.log(self.mass))

    def draw_bits(self, ptr: Places, rng: Stream) -> tuple[Bits, Floats]:
        room = 16
        while True:  # the same draw with more room
            bits, stream = np.zeros((int(ptr[-1]), room), dtype=np.int8), rng.copy()
            counts = np.zeros((room, 3, 2), dtype=np.int64)
            n = kernels.draw_buffet(ptr, self.counts, self.mass, counts, bits, stream)
            if n >= 0:
                break
            room *= 2
        rng[:] = stream
        n = min(n, self.most)
        return np.ascontiguousarray(bits[:, :n]), self.draw_on_probs(counts[:n], rng)

    def draw_on_probs(self, counts: Places, rng: Stream) -> Floats:
        on_probs = np.empty(counts.shape[:2])
        kernels.draw_on_probs(self._pool(counts), self._pooled_prior(), on_probs, rng)
        on_probs[:, FIRST] = on_probs[:, AFTER_OFF]
        return on_probs

    def draw_mass(self, counts: Places, rng: Stream) -> None:
        """Draw alpha given the number of factors."""
        self.mass = float(draw_mass(len(counts), self.expected, *self.mass_prior, rng))

    def draw_idle(
        self, bits: Bits, on_probs: Floats, scales: Floats, rng: Stream
    ) -> tuple[Floats, Floats]:
        """Return factors that are never on: probabilities of being on, (n, 3), weights, (n, D)."""
        # Only those whose probability of switching on exceeds u ~ Uniform(0, a*) are needed.
        level, room = next_open_double(rng) * find_least(bits, on_probs), 16
        while True:  # the same draw with more room
            probs, weights, stream = np.empty((room, 3)), np.empty((room, len(scales))), rng.copy()
            n = kernels.draw_idle(
                level, len(bits), self.counts, self.mass, scales, probs, weights, stream
            )
            if n >= 0:
                rng[:] = stream
                return probs[:n], weights[:n]
            room *= 2

    def allows(self, bits: Bits, before: Bits) -> bool:
        """Return whether the number of factors ever on is within the bound or has not increased."""
        n = np.count_nonzero(bits.any(axis=0))
        return bool(n <= self.most or n <= np.count_nonzero(before.any(axis=0)))

    def mean_probs(self, counts: Places) -> Floats:
        sums = self._pool(counts) + self._pooled_prior()
        probs = sums / sums.sum(axis=2, keepdims=True)
        probs[:, FIRST] = probs[:, AFTER_OFF]
        return np.asarray(probs)

    def log_probability(self, counts: Places) -> float:
        """Return log p(set of paths, log alpha), with the transitions integrated out."""
        shape, rate = self.mass_prior
        result = kernels.log_weight_of_paths(counts, self.counts)
        result += len(counts) * self.log_mass - self.mass * self.expected
        result += shape * (np.log(rate) + self.log_mass) - rate * self.mass - gammaln(shape)
        return float(result)

    def scalars(self) -> dict[str, float]:
        return {"mass": self.mass}

    def _pool(self, counts: Places) -> Places:
        """Return counts in which first steps count as steps after off."""
        pooled = counts.copy()
        pooled[:, AFTER_OFF] += pooled[:, FIRST]
        pooled[:, FIRST] = 0
        return pooled

    def _pooled_prior(self) -> Floats:
        """Return the pseudo-counts for a factor that is ever on: B(m, r + q)."""
        q = self.counts[AFTER_OFF, 0]
        return np.array([[1.0, 1.0], [q, 0.0], self.counts[AFTER_ON]])


# Moves of runs and of factors, with weights and transitions integrated out.


N_ROUNDS = 10
"""Number of rounds of moves in a sweep."""


class RunMoves(ChainComponent):
    """Moves that change which factor has which runs, and the number of factors."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_is_first", "_marks", "runs")

    runs: Runs

    def attach(self, ptr: Places, values: Floats) -> None:
        """Store the observations."""
        # Proposals prefer runs between jumps of the observations. They are valid wherever the jumps
        # are taken from, even from other data.
        self.runs = find_runs(values, ptr)
        self._is_first = np.zeros(int(ptr[-1]) + 1, dtype=np.bool_)
        self._is_first[ptr] = True
        self._marks = as_readonly(np.union1d(self.runs.begins, ptr))

    def draw(
        self,
        bits: Bits,
        known: Bits | None,
        seen: Floats,
        totals: Floats,
        precisions: Floats,
        scales: Floats,
        priors: GivenNumber | BuffetNumber,
        rng: Stream,
    ) -> Bits:
        """Return paths drawn from a chain that leaves p(paths given totals, precisions) invariant.
        Names are those of `FactorPaths`; a buffet may change F, and all factors are then ever on.
        """
        n_dims = totals.shape[1]
        if isinstance(priors, BuffetNumber):
            spare = min(2 * N_ROUNDS, max(priors.most - bits.shape[1], 0))
            bits = np.hstack([bits, np.zeros((len(bits), spare), dtype=np.int8)])
        else:
            bits = bits.copy()
        room = bits.shape[1]
        square = (room + 1, room + 1)
        board = FactorPaths(
            bits=bits,
            known=pad_known(known, room),
            is_first=self._is_first,
            counts=np.empty((room, 3, 2), dtype=np.int64),
            n_on=np.empty(room, dtype=np.int64),
            seen=seen,
            totals=totals,
            grams=np.empty((1 if seen.all() else n_dims, *square)),
            projections=np.empty((n_dims, room + 1)),
            precisions=precisions,
            inverse_variances=scales**-2.0,
            priors=priors.counts,
            is_infinite=priors.is_infinite,
            log_mass=priors.log_mass,
            active=np.empty(room + 1, dtype=np.int64),
            factor=np.empty(square),
            column=np.empty(room + 1),
        )
        fill_board(board)
        make_moves(board, self._marks, N_ROUNDS, np.empty(max(room, 4)), rng)
        if known is not None:
            make_exchanges(board, N_ROUNDS, rng)
        if priors.is_infinite:
            return np.ascontiguousarray(bits[:, board.n_on > 0])
        return bits


# Observations of steps, each of which has its own binary vector.


class StepAmplitudes(FixedAmplitudes):
    """Amplitudes that are all 1; every step is a state, whose values are their own means."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *FixedAmplitudes._data_attributes,
        "counts",
        "means",
    )

    def attach(self, values: Floats) -> None:
        """Store the observations."""
        super().attach(values)
        self.counts = (~np.isnan(values)).astype(np.float64)
        self.means = np.where(self.counts > 0.0, values, 0.0)
        self._totals = np.where(self.probit, self._totals, self.means)

    def detach(self) -> None:
        """Drop the observations, and arrays that duplicate them."""
        super().detach()
        self._totals = np.where(self.probit, self._totals, 0.0)


class StepFactors(BinaryFactorSampler):
    """A `BinaryFactorSampler` in which each step is a state, with Markov chains as the prior."""

    amplitudes: StepAmplitudes

    def __init__(self, *parts: Any):
        super().__init__(*parts)
        self.amplitudes = StepAmplitudes(len(self.factors), self.probit)

    def start_paths(
        self, bits: Bits, runs: Runs | None, n_factors: int | None,
        rng: Stream,
    ) -> None:  # fmt: skip
        """Start with given vectors or those that runs suggest, and draw their parameters."""
        if self.init == "random":
            self.factors = bits
        elif runs is None:  # weights are given
            self.factors[:] = self._fit_activities() >= 0.5
        else:
            self.factors = find_factors(runs, self.prior.scales, n_factors)
        if self.draws_weights:
            self.weights = np.zeros((self.factors.shape[1] + 1, len(self.probit)))
        if self.draws_noise:
            self._begin_noise()
        self._draw_weights_and_noise(self._values, self._steps(), rng)

    def draw_paths(
        self,
        ptr: Places,
        known: Bits | None,
        priors: GivenNumber | BuffetNumber,
        on_probs: Floats,
        block_size: int,
        rng: Stream,
    ) -> None:
        """Draw vectors given the probabilities of being on, weights, noise and known bits."""
        # Slice sampling (Teh, Gorur and Ghahramani, 2007): factors that are never on take part if
        # their probability of switching on exceeds u ~ Uniform(0, a*), with a* the least one of the
        # factors that are ever on. Thus factors come and go.
        if isinstance(priors, BuffetNumber):
            idle_probs, idle_weights = priors.draw_idle(
                self.factors, on_probs, self.prior.scales, rng
            )
            on_probs = np.vstack([on_probs, idle_probs])
            self.weights = np.vstack([self.weights, idle_weights])
            none = np.zeros((len(self.factors), len(idle_probs)), dtype=np.int8)
            self.factors = np.hstack([self.factors, none])
        fits = np.ascontiguousarray(find_centers(self._known).T)
        all_known = pad_known(known, self.factors.shape[1])
        order = np.arange(self.factors.shape[1])
        shuffle(order, rng)
        n_rows = find_longest(ptr)
        key, own_rng = np.empty_like(rng), np.empty_like(rng)
        for first in range(0, len(order), block_size):
            block = order[first : first + block_size]
            n = 1 << len(block)
            shifts = np.empty((len(self.precisions), n))
            kernels.write_shifts(block, self.weights, shifts)
            draw_key(rng, key)
            before = (self.factors.copy(), fits.copy()) if priors.is_infinite else None
            impossible = kernels.draw_block(
                ptr, block, self.factors, all_known, on_probs[block], self._values, fits,
                self.precisions, self.probit, shifts, np.empty(n), np.empty(n),
                np.empty((n_rows, n)), key, own_rng,
            )  # fmt: skip
            if impossible >= 0:
                raise ValueError(
                    f"Sequence {impossible} has probability 0 under the current parameters: its "
                    "observations are too far from the others."
                )
            if before is not None and isinstance(priors, BuffetNumber):
                # u is Uniform(0, a*) before and after.
                ratio = find_least(before[0], on_probs) / find_least(self.factors, on_probs)
                if not priors.allows(self.factors, before[0]) or next_double(rng) >= ratio:
                    self.factors, fits = before
        if priors.is_infinite:
            active = self.factors.any(axis=0)
            self.factors = np.ascontiguousarray(self.factors[:, active])
            self.weights = self.weights[np.append(True, active)]

    def draw_parameters(
        self,
        moves: RunMoves | None,
        known: Bits | None,
        priors: GivenNumber | BuffetNumber,
        rng: Stream,
    ) -> None:
        """Draw weights and noise, after moves with the weights integrated out if there are any."""
        if moves is None:
            self._draw_weights_and_noise(self._values, self._steps(), rng)
            return
        self.amplitudes.draw_latent(self._known, rng)
        self.factors = moves.draw(
            self.factors, known, self.amplitudes.counts, self.amplitudes.totals, self.precisions,
            self.prior.scales, priors, rng,
        )  # fmt: skip
        self.weights = np.zeros((self.factors.shape[1] + 1, len(self.probit)))
        self._draw_given_latent(self._values, self._steps(), rng)

    def _steps(self) -> Places:
        """Return the state of every step, which is its own index."""
        return np.arange(len(self._values))


# The Markov chain.


N_WIDE_SWEEPS = 120
WIDEST_NOISE = 4.0
"""Variance in the first of these sweeps, relative to the variance of the noise."""


class FactorialSampler(ChainComponent):
    """Markov chain over activities, transitions, weights and noise of one panel."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_ptr", "_is_observed", "known")
    known: Bits | None  # of the first factors, (N, G)

    def __init__(
        self,
        panel: SequencePanel | LabeledPanel,
        emission: StepFactors,
        priors: GivenNumber | BuffetNumber,
        init_stream: Stream,
        stream: Stream,
        *,
        block_size: int,
    ):
        self.emission, self.priors, self.stream = emission, priors, stream
        self.block_size = block_size  # factors that are drawn together
        self.moves = RunMoves() if emission.draws_weights else None
        self.attach(panel)
        if emission.init == "random":
            bits, self.on_probs = priors.draw_bits(self._ptr, init_stream)
        else:
            n_factors = 0 if priors.is_infinite else emission.factors.shape[1]
            none = np.zeros((n_factors, 3, 2), dtype=np.int64)
            self.on_probs = priors.draw_on_probs(none, init_stream)
            bits = emission.factors
        emission.start_paths(
            bits, None if self.moves is None else self.moves.runs,
            None if priors.is_infinite else bits.shape[1], init_stream,
        )  # fmt: skip
        self._draw_transitions(init_stream)
        known = self.known
        self.known = None
        if self.moves is not None and emission.init == "data":
            self._anneal(self.moves.runs.scales, init_stream)
        if known is not None:
            self._begin_with(known, init_stream)

    def _begin_with(self, known: Bits, rng: Stream) -> None:
        """Name the first factors by known bits, which were ignored until now."""
        self.known, emission = known, self.emission
        if self.moves is None:
            write_known(known, emission.factors)
        else:
            emission.factors = name_paths(emission.factors, known)
            emission.weights = np.zeros((emission.factors.shape[1] + 1, len(emission.probit)))
        emission.draw_parameters(None, None, self.priors, rng)
        self._draw_transitions(rng)

    def _anneal(self, scales: Floats, rng: Stream) -> None:
        """Begin with sweeps in which the noise is wide and gradually narrows."""
        emission, priors, stream = self.emission, self.priors, self.stream
        draws_noise, n_factors = emission.draws_noise, emission.factors.shape[1]
        narrow = scales**-2.0 if draws_noise else emission.precisions.copy()
        emission.draws_noise, self.stream = False, rng
        # Factors come and go as in a buffet, because the right ones are found sooner with room for
        # more. Of these, the given number with the largest effects on the observations is kept.
        if isinstance(priors, GivenNumber):
            self.priors = BuffetNumber(priors.counts, (1.0, 1.0), len(emission.factors))
            self._keep(np.flatnonzero(emission.factors.any(axis=0)))
        for i in range(N_WIDE_SWEEPS):
            share = WIDEST_NOISE ** (i / N_WIDE_SWEEPS - 1.0)
            emission.precisions = np.where(emission.probit, 1.0, share * narrow)
            self.sweep()
        emission.precisions = np.where(emission.probit, 1.0, narrow)
        if isinstance(priors, GivenNumber):
            sizes = (emission.weights[1:] ** 2 @ emission.precisions) * emission.factors.sum(axis=0)
            self._keep(np.argsort(-sizes, kind="stable")[:n_factors])
            spare = n_factors - emission.factors.shape[1]
            emission.factors = np.pad(emission.factors, ((0, 0), (0, spare)))
            self.priors = priors
        emission.draws_noise, self.stream = draws_noise, stream
        emission.weights = np.zeros((emission.factors.shape[1] + 1, len(emission.probit)))
        emission.draw_parameters(None, None, self.priors, rng)
        self._draw_transitions(rng)

    def _keep(self, chosen: NDArray[np.intp]) -> None:
        """Drop all factors except the chosen ones."""
        emission = self.emission
        emission.factors = np.ascontiguousarray(emission.factors[:, chosen])
        emission.weights = np.vstack([emission.weights[:1], emission.weights[1:][chosen]])
        self.on_probs = self.on_probs[chosen]

    def attach(self, panel: SequencePanel | LabeledPanel) -> None:
        """Store the panel."""
        panel, self.known = LabeledPanel.of(panel)
        self._ptr: Places = panel.ptr
        self._is_observed = observed_steps(panel.values)
        self.emission.attach(panel.values)
        if self.moves is not None:
            self.moves.attach(panel.ptr, panel.values)

    def sweep(self) -> None:
        """Draw the activities, moves of runs, weights and noise, then transitions."""
        self.emission.draw_paths(
            self._ptr, self.known, self.priors, self.on_probs, self.block_size, self.stream
        )
        self.emission.draw_parameters(self.moves, self.known, self.priors, self.stream)
        self._draw_transitions(self.stream)

    def _draw_transitions(self, rng: Stream) -> None:
        self.counts = np.empty((self.emission.factors.shape[1], 3, 2), dtype=np.int64)
        kernels.count_transitions(self._ptr, self.emission.factors, self.counts)
        self.on_probs = self.priors.draw_on_probs(self.counts, rng)
        self.priors.draw_mass(self.counts, rng)

    def log_joint(self) -> float:
        """Return log p(x, activities, weights, noise), with the transitions integrated out."""
        return self.priors.log_probability(self.counts) + self.emission.log_density()

    def scalars(self) -> dict[str, float]:
        shares = self._shares()
        return {
            "log_joint": self.log_joint(),
            "activity": float(shares.sum() / max(len(shares), 1)),
            "n_active_factors": float(np.count_nonzero(shares)),
            **self.priors.scalars(),
        }

    def _shares(self) -> Floats:
        """Return the share of the observed steps in which each factor is on, (F,)."""
        return np.asarray(self.emission.factors[self._is_observed].mean(axis=0))

    def model(self) -> FactorialDraw:
        """Return the current draw, whose model has parameter means given the activities."""
        emission, probs = self.emission.model(), self.priors.mean_probs(self.counts)
        model = FactorialModel(
            startprob=probs[:, kernels.FIRST],
            transmat=probs[:, kernels.AFTER_OFF :],
            weights=emission.weights,
            noise_variance=emission.noise_variance,
            output=emission.output,
            shares=self._shares(),
        )
        return FactorialDraw(model, emission.factors, self.log_joint())

    def state(self) -> FactorialState:
        return FactorialState(self)
