"""Similarities of states by their distance in a latent space."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skdp._checks import check_gamma_prior, check_memory
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_normal, draw_slice
from skdp._part import ChainComponent
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.emissions._common import Stream
from skdp.sequence._kernels import _locations as kernels

FEWEST_STEPS, MOST_STEPS, TRANSITIONS_PER_STEP = 20, 80, 70
"""Bounds on the steps of all trajectories of a draw, and the number of transitions per step."""

N_ADAPTING = 1000
"""Number of draws after which the step size is fixed."""

_START_SCALE = 0.1
_TARGET_ACCEPTANCE = 0.8
_SMALLEST_LOG_DECAY, _LARGEST_LOG_DECAY = math.log(1e-100), math.log(1e12)


class GaussianSimilarity(EstimatorMixin, BaseEstimator):
    r"""States with locations in a latent space, similar if their locations are close.

    .. math::

        \phi_{jj'} = \exp(-\lambda \|l_j - l_{j'}\|^2 / 2), \quad
        l_j \sim \mathrm{N}(0, I)

    Parameters
    ----------
    n_dims : int, default=3
        Number D >= 1 of dimensions of the space.
    decay : float or "auto", default="auto"
        lambda, from 1e-12 to 1e6: the larger, the stronger the preference for similar states.
        "auto": drawn under `decay_prior`.
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
        "decay": [Interval(Real, 1e-12, 1e6, closed="both"), StrOptions({"auto"})],
        "decay_prior": [tuple, list],
    }

    def __init__(
        self,
        n_dims: int = 3,
        decay: float | str = "auto",
        decay_prior: tuple[float, float] = (1.0, 1.0),
    ):
        self.n_dims = n_dims
        self.decay = decay
        self.decay_prior = decay_prior

    def make_sampler(self, n_states: int) -> GaussianSimilaritySampler:
        """Return the sampler of this similarity.

        Parameters
        ----------
        n_states : int
            J.

        Returns
        -------
        SimilaritySampler

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate_parameters(self)
        prior = check_gamma_prior(self.decay_prior, "decay_prior")
        check_memory(64.0 * self.n_dims * n_states, f"n_dims={self.n_dims} with {n_states} states")
        decay = None if isinstance(self.decay, str) else float(self.decay)
        return GaussianSimilaritySampler(n_states, self.n_dims, decay, prior)


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


class GaussianSimilaritySampler(ChainComponent):
    """Sampler of the locations of all states and of the decay."""

    def __init__(self, n_states: int, n_dims: int, decay: float | None, prior: tuple[float, float]):
        self.fixed_decay, self.prior = decay, prior
        mean = min(max(prior[0] / prior[1], 1e-100), 1e12)
        self.decay = mean if decay is None else decay
        self.locations = np.zeros((n_dims, n_states))
        self.acceptance = 1.0  # mean over the trajectories of the last draw
        self.adaptation = StepAdaptation()

    def start(self, emission: Any, rng: Stream) -> None:
        """Draw the first locations close together, so that similarities are nearly 1 at first."""
        normals = [draw_normal(rng) for _ in range(self.locations.size)]
        self.locations[:] = _START_SCALE * np.reshape(normals, self.locations.shape)

    def draw(
        self, counts: Places, log_rates: Floats, emission: Any, rng: Stream, *, hold: bool = False
    ) -> None:
        """Draw the locations given the decay, then, unless `hold`, the decay and their scale."""
        rows, counts_, n, log_rates_ = kernels.gather(counts, log_rates)
        inverse_mass = np.empty(self.locations.shape[1])
        n_trajectories, n_steps = plan_trajectories(int(n.sum()))
        kernels.write_inverse_mass(rows, counts_, n, self.decay, inverse_mass)
        self.acceptance = kernels.draw_locations(
            self.locations, rows, counts_, n, log_rates_, self.decay, inverse_mass,
            math.exp(self.adaptation.log_step), n_steps, n_trajectories,
            kernels.make_room(*self.locations.shape, len(rows)), rng,
        )  # fmt: skip
        self.adaptation.update(self.acceptance)
        # Transitions between random states have no local structure, so that the decay would fall.
        # Locations would then hardly matter and be drawn from their prior; because only a decay
        # near 0 explains transitions between such locations, neither would recover.
        if self.fixed_decay is None and not hold:
            self._draw_decay(rows, counts_, n, log_rates_, rng)
            self._draw_scale(rng)

    def _draw_decay(
        self, rows: Places, counts: Floats, n: Floats, log_rates: Floats, rng: Stream
    ) -> None:
        halves, shares = np.empty(counts.shape), np.empty(counts.shape)
        work = np.empty((max(len(self.locations), 2), len(n)))
        kernels.write_halves(self.locations, rows, halves, work)
        shape, rate = self.prior

        def log_density(log_decay: float) -> float:
            if not _SMALLEST_LOG_DECAY <= log_decay <= _LARGEST_LOG_DECAY:
                return -math.inf
            decay = math.exp(log_decay)
            result = kernels.log_likelihood(halves, counts, n, log_rates, decay, shares, work)
            return float(result + shape * log_decay - rate * decay)

        self.decay = math.exp(draw_slice(log_density, math.log(self.decay), rng))

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

        def log_density(log_decay: float) -> float:
            if not _SMALLEST_LOG_DECAY <= log_decay <= _LARGEST_LOG_DECAY:
                return -math.inf
            decay = math.exp(log_decay)
            return exponent * log_decay - 0.5 * squares / decay - rate * decay

        decay = math.exp(draw_slice(log_density, math.log(self.decay), rng))
        self.locations *= math.sqrt(self.decay / decay)
        self.decay = decay

    def write(self, out: Floats, emission: Any) -> None:
        """Write log phi, (J, J)."""
        kernels.write_log_similarity(self.locations, self.decay, out)

    def coupling(self, counts: Places, log_rates: Floats) -> None:
        """Return None: no similarity depends on binary factors."""

    def log_density(self) -> float:
        """Return log p(locations), plus the log density of log lambda if the decay is drawn."""
        result = -0.5 * float(
            np.sum(self.locations**2) + math.log(2.0 * math.pi) * self.locations.size
        )
        if self.fixed_decay is None:
            shape, rate = self.prior
            result += shape * math.log(rate * self.decay) - rate * self.decay - math.lgamma(shape)
        return result

    def scalars(self) -> dict[str, float]:
        """Return the decay, and the acceptance of the last draw."""
        return {"decay": self.decay, "acceptance": self.acceptance}

    def model(self) -> LatentLocations:
        """Return locations and decay."""
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
