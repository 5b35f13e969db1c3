"""Similarities of states by their distance in a latent space."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_normal
from skdp._part import ChainComponent
from skdp._sklearn_compat import Interval
from skdp.emissions._common import Stream
from skdp.sequence._kernels import _locations as kernels
from skdp.sequence._similarities._protocol import DECAY, BaseSimilarity, DecaySampler

FEWEST_STEPS, MOST_STEPS, TRANSITIONS_PER_STEP = 20, 80, 70
"""Bounds on the steps of all trajectories of a draw, and the number of transitions per step."""

N_ADAPTING = 1000
"""Number of draws after which the step size is fixed."""

_START_SCALE = 0.1
_TARGET_ACCEPTANCE = 0.8


class GaussianSimilarity(BaseSimilarity):
    r"""States with locations in a latent space, similar if their locations are close.

    .. math::

        \phi_{jj'} = \exp(-\lambda \|l_j - l_{j'}\|^2 / 2), \quad
        l_j \sim \mathrm{N}(0, I)

    Parameters
    ----------
    n_dims : int, default=3
        Number D >= 1 of dimensions of the space.
    decay
    decay_prior : (float, float), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `decay`.

    See Also
    --------
    EmissionSimilarity, LaplacianSimilarity, FixedSimilarity : Other similarities.

    Notes
    -----
    Locations are drawn by Hamiltonian Monte Carlo, with 4 trajectories of 20 steps per sweep and
    everything except transitions and their rates integrated out. The step size adapts to an
    acceptance rate of 0.8, more and more slowly, and is fixed after 1000 sweeps of a chain. A drawn
    decay starts at its prior mean and stays there for the first 100 sweeps, but for at most half of
    the burn-in. Then it is drawn twice per sweep: given the locations, and given all phi, together
    with the scale of the locations. Locations have no scale: the decay determines the
    scale of phi.

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: 4.3 and appendix D.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_dims": [Interval(Integral, 1, None, closed="left")],
        **DECAY,
    }

    def __init__(
        self,
        n_dims: int = 3,
        decay: float | str = "auto",
        decay_prior: tuple[float, float] = (1.0, 1.0),
    ):
        self._store(locals())

    def _make_sampler(self, n_states: int) -> Any:
        decay = self._read_decay()
        check_memory(64.0 * self.n_dims * n_states, f"n_dims={self.n_dims} with {n_states} states")
        return GaussianSimilaritySampler(n_states, self.n_dims, *decay)


@dataclass
class StepAdaptation(ChainComponent):
    """Adaptation of the step size by Robbins and Monro (1951), for `N_ADAPTING` draws."""

    log_step: float = math.log(0.5)
    n_draws: int = 0

    def update(self, acceptance: float) -> None:
        """Adapt to a draw, with a weight that decreases with the number of draws."""
        if self.n_draws < N_ADAPTING:
            self.n_draws += 1
            self.log_step += self.n_draws**-0.6 * (acceptance - _TARGET_ACCEPTANCE)


class GaussianSimilaritySampler(DecaySampler):
    """Sampler of the locations of all states and of the decay."""

    def __init__(self, n_states: int, n_dims: int, decay: float | None, prior: tuple[float, float]):
        super().__init__(decay, prior, (1e-100, 1e12))
        self.locations = np.zeros((n_dims, n_states))
        self.acceptance = 1.0  # mean over the trajectories of the last draw
        self.adaptation = StepAdaptation()

    def start(self, emission: Any, rng: Stream) -> None:
        # Locations are close together at first, so that similarities are nearly 1.
        normals = [draw_normal(rng) for _ in range(self.locations.size)]
        self.locations[:] = _START_SCALE * np.reshape(normals, self.locations.shape)

    def draw(
        self, counts: Places, log_rates: Floats, emission: Any, rng: Stream, *, hold: bool = False
    ) -> None:
        departures = kernels.Departures.of(counts, log_rates)
        inverse_mass = np.empty(self.locations.shape[1])
        n_trajectories, n_steps = plan_trajectories(int(departures.n.sum()))
        kernels.write_inverse_mass(departures, self.decay, inverse_mass)
        self.acceptance = kernels.draw_locations(
            self.locations, departures, self.decay, inverse_mass,
            math.exp(self.adaptation.log_step), n_steps, n_trajectories,
            kernels.make_room(*self.locations.shape, len(departures.n)), rng,
        )  # fmt: skip
        self.adaptation.update(self.acceptance)
        # Transitions between random states have no local structure, so that the decay would fall.
        # Locations would then hardly matter and be drawn from their prior; because only a decay
        # near 0 explains transitions between such locations, neither would recover.
        if self.is_drawn and not hold:
            self._draw_decay(departures, rng)
            self._draw_scale(rng)

    def _draw_decay(self, departures: kernels.Departures, rng: Stream) -> None:
        halves, shares = np.empty((2, *departures.counts.shape))
        work = np.empty((max(len(self.locations), 2), len(departures.n)))
        kernels.write_halves(self.locations, departures.rows, halves, work)
        self.draw_decay(
            lambda decay: kernels.log_likelihood(halves, departures, decay, shares, work), rng
        )

    def _draw_scale(self, rng: Stream) -> None:
        """Draw the decay given all similarities: as it grows, locations shrink. Given the
        locations, it hardly moves, and neither does their scale given the decay.
        """
        # Given z = sqrt(lambda) l, which determines phi, transitions are uninformative about log
        # lambda: its density is that of its prior times that of l = z / sqrt(lambda), which is
        # lambda^(-J D / 2), with the Jacobian, times exp(-|z|^2 / (2 lambda)).
        shape, rate = self.prior
        exponent = shape - 0.5 * self.locations.size
        squares = self.decay * float(np.sum(self.locations**2))

        def log_density(log_decay: float, decay: float) -> float:
            return exponent * log_decay - 0.5 * squares / decay - rate * decay

        decay = self.slice_decay(log_density, rng)
        self.locations *= math.sqrt(self.decay / decay)
        self.decay = decay

    def write(self, out: Floats, emission: Any) -> None:
        kernels.write_log_similarity(self.locations, self.decay, out)

    def log_density(self) -> float:
        log_density = -0.5 * float(
            np.sum(self.locations**2) + math.log(2.0 * math.pi) * self.locations.size
        )
        return log_density + super().log_density()

    def scalars(self) -> dict[str, float]:
        return {"decay": self.decay, "acceptance": self.acceptance}

    def model(self) -> LatentLocations:
        return LatentLocations(self.locations.T.copy(), self.decay)


def plan_trajectories(n_transitions: int) -> tuple[int, int]:
    """Return the number of trajectories of a draw, and the steps of each."""
    n_steps = min(max(n_transitions // TRANSITIONS_PER_STEP, FEWEST_STEPS), MOST_STEPS)
    n_trajectories = 2 if 2 * n_steps <= MOST_STEPS else 4
    return n_trajectories, n_steps // n_trajectories


@dataclass(frozen=True, eq=False)
class LatentLocations:
    """Locations of states: phi_jj' = exp(-decay |l_j - l_j'|^2 / 2).

    Attributes
    ----------
    locations : (J, D) array
    decay : float
    """

    locations: Floats
    decay: float

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, locations=self.locations[order])
