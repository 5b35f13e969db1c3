"""Similarities of states: the interface, known similarities, and those of binary vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from skdp._checks import as_floats, check_gamma_prior
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_slice
from skdp._part import ChainComponent
from skdp._sklearn_compat import Interval, StrOptions
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import Coupling, TransitionPart
from skdp.emissions._kernels._links import write_distances
from skdp.sequence._kernels import _locations as kernels


class TimedTransitions(NamedTuple):
    """Transitions and their times u, given which phi does not depend on the rates: phi_jj' has the
    likelihood phi^n / (1 + phi u_j)^(a + n), independent of all others.
    """

    counts: Places  # (J + 1, J), n_jj'; the last row, of first states, has phi = 1
    shapes: Floats  # (J + 1, J), a_jj' + n_jj', with a the shapes of the prior of the rates
    log_times: Floats  # (J + 1,), log u_j; -inf if no transition leaves state j


class SimilaritySampler(Protocol):
    """Sampler of the similarities phi of all states; made by a similarity.

    It draws this part of a sampler's state given the rest. A similarity is an estimator that only
    holds parameters. Its method ``make_sampler(n_states)`` checks them and returns an object with
    these methods.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.

    Notes
    -----
    Given the rates pi of transitions, the probability of the states is proportional to prod_jj'
    phi_jj'^n_jj' / prod_j T_j^n_j. as a function of phi, with T_j = sum_j' pi_jj' phi_jj'. `draw`
    multiplies it by the prior.
    """

    def start(self, emission: Any, rng: Stream) -> None:
        """Draw the first parameters, after those of the emission.

        Parameters
        ----------
        emission : EmissionSampler
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(
        self, counts: Places, log_rates: Floats, emission: Any, rng: Stream, *, hold: bool = False
    ) -> None:
        """Draw the parameters given transitions and their rates.

        Parameters
        ----------
        counts : (J + 1, J) array of int
            Transitions n_jj'; the last row holds those to first states and has phi = 1.
        log_rates : (J + 1, J) array
            log pi; -inf for impossible transitions.
        emission, rng : as in `start`
        hold : bool, default=False
            True in the first sweeps, when states still follow each other at random. Parameters
            drawn given such states could get stuck at values under which all states are alike; they
            may keep their first values.
        """

    def write(self, out: Floats, emission: Any) -> None:
        """Write log phi.

        Parameters
        ----------
        out : (J, J) array
            All <= 0; rows are the states before a transition.
        emission : as in `start`
        """

    def coupling(self, counts: Places, log_rates: Floats) -> Coupling | None:
        """Return the coupling of binary factors if similarities depend on them, else None.

        Parameters
        ----------
        counts, log_rates : as in `draw`
        """

    def log_density(self) -> float:
        """Return the log density of the parameters under their prior."""

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace, such as "decay", whose mean becomes `decay_`."""

    def model(self) -> Any:
        """Return None, or an object that a stored sample keeps next to the matrix of similarities.
        Its method ``reorder(order)`` returns it for states in another order.
        """

    def copy(self) -> Self:
        """Return the same parameters in new arrays."""


@runtime_checkable
class EmissionCoupledSampler(Protocol):
    """Further methods of a `SimilaritySampler` if phi depends on parameters of the observations,
    which it then draws; the transition rates are drawn afterwards.
    """

    def draw_with_emission(
        self, transitions: TimedTransitions, states: Places, emission: Any, rng: Stream
    ) -> None:
        """Draw the parameters of the observations, in place, and of phi, given states and times."""

    def model_with_emission(self, emission: Any) -> Any:
        """Return the object that a stored sample keeps, as `SimilaritySampler.model` does."""

    def propose_pair(
        self, emission: Any, pair: Any, groups: Places, places: list[int], rng: Stream
    ) -> Any:
        """Draw parameters of the states `places` given the steps that they would have, of `groups`
        0 and 1 in `pair`; the result has an attribute `log_similarity`, log phi of all states.
        """

    def accept_pair(self, emission: Any, proposal: Any) -> None:
        """Store the result of `propose_pair`."""


# What similarities share.


class BaseSimilarity(TransitionPart):
    """Base class of similarities.

    Parameters
    ----------
    decay : float or "auto", default="auto"
        lambda, from 1e-12 to 1e6: the larger, the stronger the preference for similar states.
        "auto": drawn under `decay_prior`.
    """

    def _read_decay(self) -> tuple[float | None, tuple[float, float]]:
        """Return the decay, None if it is drawn, and its prior."""
        decay = None if isinstance(self.decay, str) else float(self.decay)
        return decay, check_gamma_prior(self.decay_prior, "decay_prior")


DECAY: dict[str, list[Any]] = {
    "decay": [Interval(Real, 1e-12, 1e6, closed="both"), StrOptions({"auto"})],
    "decay_prior": [tuple, list],
}
"""Constraints of the parameters of a decay."""


class BaseSimilaritySampler(ChainComponent):
    """Sampler of similarities without parameters, which do not depend on binary factors."""

    def start(self, emission: Any, rng: Stream) -> None:
        pass

    def draw(
        self, counts: Places, log_rates: Floats, emission: Any, rng: Stream, *, hold: bool = False
    ) -> None:
        pass

    def coupling(self, counts: Places, log_rates: Floats) -> Coupling | None:
        return None

    def log_density(self) -> float:
        return 0.0

    def scalars(self) -> dict[str, float]:
        return {}

    def model(self) -> Any:
        return None


class DecaySampler(BaseSimilaritySampler):
    """Sampler of similarities with a decay lambda, fixed or drawn under a Gamma prior."""

    def __init__(
        self, decay: float | None, prior: tuple[float, float], bounds: tuple[float, float]
    ):
        self.is_drawn, self.prior, self.bounds = decay is None, prior, bounds
        self.decay = float(np.clip(prior[0] / prior[1], *bounds)) if decay is None else decay

    def slice_decay(self, log_density: Callable[[float, float], float], rng: Stream) -> float:
        """Return a draw of lambda; `log_density`, of log lambda, takes log lambda and lambda."""
        low, high = map(math.log, self.bounds)

        def bounded(log_decay: float) -> float:
            is_inside = low <= log_decay <= high
            return log_density(log_decay, math.exp(log_decay)) if is_inside else -math.inf

        return math.exp(draw_slice(bounded, math.log(self.decay), rng))

    def draw_decay(self, log_likelihood: Callable[[float], float], rng: Stream) -> None:
        """Draw lambda given the likelihood of its values."""
        shape, rate = self.prior

        def log_density(log_decay: float, decay: float) -> float:
            return log_likelihood(decay) + shape * log_decay - rate * decay

        self.decay = self.slice_decay(log_density, rng)

    def log_density(self) -> float:
        if not self.is_drawn:
            return 0.0
        shape, rate = self.prior
        log_density = shape * math.log(rate * self.decay) - rate * self.decay
        return log_density - math.lgamma(shape)

    def scalars(self) -> dict[str, float]:
        return {"decay": self.decay}


# Known similarities of states, from a matrix.


class FixedSimilarity(BaseSimilarity):
    """Known similarities of states.

    Parameters
    ----------
    matrix : (J, J) array
        phi, from 0 to 1: row j holds the similarities for transitions from state j to all states.
        Transitions with phi = 0 are impossible; each row has a positive entry. The matrix need not
        be symmetric, and its diagonal need not be 1. J is the `n_components` of the model.

    See Also
    --------
    GaussianSimilarity, EmissionSimilarity, LaplacianSimilarity : Similarities that are learned.

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: 2.5.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"matrix": ["array-like"]}

    def __init__(self, matrix: ArrayLike):
        self.matrix = matrix

    def _make_sampler(self, n_states: int) -> Any:
        matrix = as_floats(self.matrix, "FixedSimilarity: matrix")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(
                f"FixedSimilarity: matrix must be square, got an array of shape {matrix.shape}."
            )
        if len(matrix) != n_states:
            raise ValueError(
                f"FixedSimilarity: matrix must be ({n_states}, {n_states}), a row for each of "
                f"n_components={n_states} states; got {matrix.shape}."
            )
        wrong = ~((matrix >= 0.0) & (matrix <= 1.0))
        if wrong.any():
            j, k = np.argwhere(wrong)[0]
            raise ValueError(
                "FixedSimilarity: the entries of matrix must be between 0 and 1; "
                f"got {matrix[j, k]:g} in row {j}, column {k}."
            )
        if not matrix.any(axis=1).all():
            j = int(np.argmin(matrix.any(axis=1)))
            raise ValueError(
                f"FixedSimilarity: row {j} of matrix holds only zeros: no state could follow state "
                f"{j}."
            )
        with np.errstate(divide="ignore"):
            return FixedSimilaritySampler(np.log(matrix))


class FixedSimilaritySampler(BaseSimilaritySampler):
    """Sampler of known similarities: it draws nothing."""

    def __init__(self, log_similarity: Floats):
        self.log_similarity = log_similarity

    def write(self, out: Floats, emission: Any) -> None:
        out[:] = self.log_similarity


# Similarities that decrease with the Hamming distance of binary vectors.


class LaplacianSimilarity(BaseSimilarity):
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
    decay
    decay_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `decay`.

    See Also
    --------
    skdp.emissions.BinaryFactorEmission : The emission whose states have binary vectors.
    GaussianSimilarity, EmissionSimilarity, FixedSimilarity : Other similarities.

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: 4.1.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = DECAY

    def __init__(self, decay: float | str = "auto", decay_prior: tuple[float, float] = (1.0, 1.0)):
        self._store(locals())

    def _make_sampler(self, n_states: int) -> Any:
        return LaplacianSampler(*self._read_decay(), (1e-12, 1e6))


class LaplacianSampler(DecaySampler):
    """Sampler of the decay of similarities; the emission keeps the binary vectors."""

    def start(self, emission: Any, rng: Stream) -> None:
        if not hasattr(emission, "factors"):
            raise TypeError(
                "LaplacianSimilarity compares the binary vectors of states, which "
                f"{type(emission).__name__} does not have: use it with BinaryFactorEmission."
            )

    def draw(
        self, counts: Places, log_rates: Floats, emission: Any, rng: Stream, *, hold: bool = False
    ) -> None:
        # Times and failed transitions are integrated out. `hold` does not matter: distances come
        # from observations, not from first transitions.
        if not self.is_drawn:
            return
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

    def write(self, out: Floats, emission: Any) -> None:
        write_distances(emission.factors, out)
        out *= -self.decay

    def coupling(self, counts: Places, log_rates: Floats) -> Coupling:
        return Coupling(self.decay, counts, log_rates)
