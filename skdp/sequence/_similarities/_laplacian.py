"""Similarities that decrease with the Hamming distance of binary vectors."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from skdp._checks import check_gamma_prior
from skdp._part import Part
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.emissions._kernels_links import write_distances
from skdp.emissions._protocol import Coupling
from skdp.sequence._similarities import _kernels_laplacian as kernels


class LaplacianSimilarity(EstimatorMixin, BaseEstimator):
    r"""States with binary vectors, similar if their vectors differ in few places.

    .. math::

        \phi_{jj'} = \exp(-\lambda D_{jj'})

    D_jj' is the Hamming distance of the vectors of two states. The similarity requires an emission
    whose states have binary vectors, `BinaryFactorEmission`. The
    transitions then carry information about the vectors, especially those of rare states. As lambda
    tends to 0, the model tends to the model without similarities. The prior of a drawn lambda is
    truncated to [1e-12, 1e6].

    Parameters
    ----------
    decay : float or "auto", default="auto"
        lambda, from 1e-12 to 1e6: the larger, the stronger the preference for similar states.
        "auto": drawn under `decay_prior`.
    decay_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `decay`.

    See Also
    --------
    skdp.emissions.BinaryFactorEmission : The emission whose states have binary vectors.
    GaussianSimilarity, EmissionSimilarity, FixedSimilarity : Other similarities.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "decay": [Interval(Real, 1e-12, 1e6, closed="both"), StrOptions({"auto"})],
        "decay_prior": [tuple, list],
    }

    def __init__(self, decay: float | str = "auto", decay_prior: tuple[float, float] = (1.0, 1.0)):
        self.decay = decay
        self.decay_prior = decay_prior

    def make_sampler(self, n_states: int) -> LaplacianSampler:
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
        return LaplacianSampler(None if isinstance(self.decay, str) else float(self.decay), prior)


class LaplacianSampler(Part):
    """Sampler of the decay of similarities."""

    def __init__(self, decay: float | None, prior: tuple[float, float]):
        self.is_drawn = decay is None
        self.prior = prior
        self.decay = min(max(prior[0] / prior[1], 1e-12), 1e6) if decay is None else decay

    def start(self, emission: Any, rng: NDArray[np.uint64]) -> None:
        """Check that the emission has binary vectors; the decay keeps its prior mean."""
        if not hasattr(emission, "factors"):
            raise TypeError(
                "LaplacianSimilarity compares the binary vectors of states, which "
                f"{type(emission).__name__} does not have: use it with BinaryFactorEmission."
            )

    def draw(
        self,
        counts: NDArray[np.int64],
        log_rates: NDArray[np.float64],
        emission: Any,
        rng: NDArray[np.uint64],
        *,
        hold: bool = False,
    ) -> None:
        """Draw lambda given transitions, with times and failed transitions integrated out."""
        if not self.is_drawn:
            return
        # `hold` does not matter: distances come from observations, not from first transitions.
        n_states, n_factors = emission.factors.shape
        distances = np.empty((n_states, n_states))
        write_distances(emission.factors, distances)
        left = counts[:-1].sum(axis=1)
        busy = np.flatnonzero(left)
        log_sums = np.empty((len(busy), n_factors + 1))
        kernels.gather_rates(log_rates, distances, busy, np.empty(n_factors + 1), log_sums)
        log_decay = kernels.draw_log_decay(
            math.log(self.decay), float((counts[:-1] * distances).sum()),
            left[busy].astype(np.float64), log_sums, *self.prior, rng,
        )  # fmt: skip
        self.decay = math.exp(log_decay)

    def write(self, out: NDArray[np.float64], emission: Any) -> None:
        """Write log phi."""
        write_distances(emission.factors, out)
        out *= -self.decay

    def coupling(self, counts: NDArray[np.int64], log_rates: NDArray[np.float64]) -> Coupling:
        """Return the coupling of the binary vectors to the transitions."""
        return Coupling(self.decay, counts, log_rates)

    def log_density(self) -> float:
        """Return the log density of log lambda under its prior, 0 if lambda is fixed."""
        if not self.is_drawn:
            return 0.0
        shape, rate = self.prior
        log_density = shape * math.log(rate * self.decay) - rate * self.decay
        return log_density - math.lgamma(shape)

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace."""
        return {"decay": self.decay}

    def model(self) -> None:
        """Return None: distances are those of the binary vectors, which the emission keeps."""
