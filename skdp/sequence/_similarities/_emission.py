"""Similarities of states by the distance of the distributions of their observations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_floats
from skdp._numeric import Floats, Places
from skdp._numeric._random import next_double
from skdp._sklearn_compat import StrOptions
from skdp.emissions._common import Stream
from skdp.emissions._common._protocol import ComparableEmission, EmissionModel
from skdp.sequence._kernels import _locations as kernels
from skdp.sequence._similarities._protocol import (
    DECAY,
    BaseSimilarity,
    DecaySampler,
    TimedTransitions,
)


class EmissionSimilarity(BaseSimilarity):
    r"""States whose observations are alike follow each other more often.

    With F_j the distribution of the observations in state j, BC the Bhattacharyya coefficient of
    two such distributions, from 0 to 1, and d a distance of them,

    .. math::

        \phi_{jj'} = \exp(-\lambda \, d(F_j, F_{j'})), \quad
        \mathrm{BC} = \int \sqrt{f_j(x) f_{j'}(x)} \, dx

    "hellinger" is :math:`d = \sqrt{1 - \mathrm{BC}}`, at most 1, and "bhattacharyya" is
    :math:`d = -\log \mathrm{BC}`, which has no bound: :math:`\phi = \mathrm{BC}^\lambda`.

    Parameters
    ----------
    metric : {"hellinger", "bhattacharyya"} or callable, default="hellinger"
        d. The names are for Gaussian, Poisson, Bernoulli, categorical and multinomial emissions and
        `IndependentEmissions` of these; multinomial ones are compared as single events. A callable
        is your own distance, ``metric(model) -> (K, K) array``: it receives the distributions of K
        states as an object with the same parameters as `emission_` after `fit`, such as
        ``model.means`` and ``model.covariances`` for Gaussian emissions; the user guide lists them.
        K need not be `n_components`. It returns finite distances >= 0, symmetric, with 0 on the
        diagonal, and has no randomness. (For a similarity S in (0, 1] return -log S: phi =
        S^lambda.)
    decay
    decay_prior : (shape, rate), default=(1.0, 1.0)
        Shape and rate, from 1e-8 to 1e8, of the Gamma prior on a drawn `decay`, which is truncated
        to [1e-12, 1e6].

    See Also
    --------
    GaussianSimilarity, LaplacianSimilarity, FixedSimilarity : Other similarities.

    Notes
    -----
    phi depends on the parameters of the observations, so transitions are informative about these,
    too. A sweep proposes new parameters given only the observations, and accepts or rejects those
    of each state by the likelihood of phi given the transitions, with rates and failed transitions
    integrated out (Metropolis-Hastings). The trace records the mean acceptance of states in use as
    "acceptance". Splits and merges of states also draw the parameters of the two states. The log
    joint of the trace is log p(x, parameters, states).

    Scores and predictions use the posterior predictive distribution of the observations given the
    states, as with other similarities: the information of transitions about parameters enters the
    drawn states and the transition probabilities, but not this distribution.

    References
    ----------
    C. Dawson, C. Huang, C. T. Morrison (2017), An infinite hidden Markov model with
    similarity-biased transitions, ICML: 2.2.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "metric": [StrOptions({"hellinger", "bhattacharyya"}), callable],
        **DECAY,
    }

    def __init__(
        self,
        metric: str | Callable[[Any], Any] = "hellinger",
        decay: float | str = "auto",
        decay_prior: tuple[float, float] = (1.0, 1.0),
    ):
        self._store(locals())

    def _make_sampler(self, n_states: int) -> Any:
        return EmissionSimilaritySampler(n_states, self.metric, *self._read_decay())


@dataclass(frozen=True)
class EmissionDistances:
    """The source of similarities: phi_jj' = exp(-decay d_jj').

    Attributes
    ----------
    emission : EmissionModel
        Distributions of the observations of all states, with the drawn parameters.
    decay : float
    """

    emission: EmissionModel
    decay: float

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order."""
        return replace(self, emission=self.emission.reorder(order))


class EmissionSimilaritySampler(DecaySampler):
    """Sampler of the parameters of the observations, on which similarities depend."""

    def __init__(
        self,
        n_states: int,
        metric: str | Callable[[Any], Any],
        decay: float | None,
        prior: tuple[float, float],
    ):
        super().__init__(decay, prior, (1e-12, 1e6))
        self.metric = metric
        self.distances = np.zeros((n_states, n_states))  # of the parameters drawn last
        # The share of the states in use that accepted their last proposals, and whether the last
        # proposal of the parameters shared by all states was accepted.
        self.acceptance = self.shared_acceptance = 1.0

    # Interface of the sampler

    def start(self, emission: Any, rng: Stream) -> None:
        if not isinstance(emission, ComparableEmission) or (
            hasattr(emission, "held") and not hasattr(emission, "move_shared")
        ):
            raise TypeError(
                "EmissionSimilarity compares the distributions of states, which "
                f"{type(emission).__name__} does not support: use it with GaussianEmission, "
                "PoissonEmission, BernoulliEmission, CategoricalEmission, MultinomialEmission or "
                "IndependentEmissions of these, or with your own that is a ComparableEmission."
            )
        self.distances = self._measure(emission, emission.parameters())

    def draw_with_emission(
        self, transitions: TimedTransitions, states: Places, emission: Any, rng: Stream
    ) -> None:
        before = _copy(emission.parameters())
        has_shared = hasattr(emission, "held")
        if has_shared:
            was_frozen, emission.held = emission.held, True
        emission.draw(states, rng)
        if has_shared:
            emission.held = was_frozen
        n_states = len(self.distances)
        proposed = emission.parameters()
        both = self._measure(
            emission, tuple(np.concatenate(pair) for pair in zip(before, proposed, strict=True))
        )
        taken = np.zeros(n_states, dtype=np.int64)
        kernels.accept_proposals(both, self.decay, *transitions, taken, rng)
        _put_back(proposed, before, taken == 0)
        chosen = np.arange(n_states) + n_states * taken
        self.distances = np.ascontiguousarray(both[np.ix_(chosen, chosen)])
        used = transitions.counts.any(axis=0)
        self.acceptance = float(taken[used].mean())
        if has_shared:
            self._move_shared(transitions, emission, rng)
        if self.is_drawn:
            self.draw_decay(lambda decay: self._weigh(self.distances, decay, transitions), rng)

    def _move_shared(self, transitions: TimedTransitions, emission: Any, rng: Stream) -> None:
        """Propose the shared parameters and, with them, all others; accept both or none."""
        before = _copy(emission.parameters())
        shared = emission.move_shared(rng)
        if shared is None:
            return
        moved = emission.parameters()
        distances = self._measure(emission, moved)
        gain = self._weigh(distances, self.decay, transitions)
        gain -= self._weigh(self.distances, self.decay, transitions)
        self.shared_acceptance = float(math.log1p(-next_double(rng)) < gain)
        if self.shared_acceptance:
            self.distances = distances
        else:
            _put_back(moved, before, np.ones(len(distances), dtype=bool))
            emission.restore_shared(shared)

    @staticmethod
    def _weigh(distances: Floats, decay: float, transitions: TimedTransitions) -> float:
        return float(kernels.log_likelihood_of_distances(distances, decay, *transitions))

    def write(self, out: Floats, emission: Any) -> None:
        np.multiply(self.distances, -self.decay, out=out)

    def scalars(self) -> dict[str, float]:
        return {"decay": self.decay, "acceptance": self.acceptance}

    def model_with_emission(self, emission: Any) -> EmissionDistances:
        return EmissionDistances(emission.known_model(_copy(emission.parameters())), self.decay)

    # Splits and merges

    def propose_pair(
        self, emission: Any, pair: Any, groups: Places, places: list[int], rng: Stream
    ) -> ProposedPair:
        pair.draw(groups, rng)
        parameters = _copy(emission.parameters())
        for array, own in zip(parameters, pair.parameters(), strict=True):
            array[places] = own
        distances = self._measure(emission, parameters)
        return ProposedPair(parameters, distances, -self.decay * distances)

    def accept_pair(self, emission: Any, proposal: ProposedPair) -> None:
        everywhere = np.ones(len(self.distances), dtype=bool)
        _put_back(emission.parameters(), proposal.parameters, everywhere)
        self.distances = proposal.distances

    # Distances

    def _measure(self, emission: Any, parameters: tuple[Floats, ...]) -> Floats:
        """Return the distances of any number of states, given their parameters."""
        if not isinstance(self.metric, str):
            model = emission.known_model(parameters)
            return check_distances(self.metric(model), len(parameters[0]))
        logs: Floats = emission.log_affinity(parameters)
        return np.sqrt(-np.expm1(logs)) if self.metric == "hellinger" else -logs


@dataclass(frozen=True)
class ProposedPair:
    """Parameters of all states, two of which are proposed."""

    parameters: tuple[Floats, ...]
    distances: Floats  # (J, J), as the next
    log_similarity: Floats


def _copy(parameters: tuple[Floats, ...]) -> tuple[Floats, ...]:
    return tuple(np.array(array) for array in parameters)


def _put_back(
    parameters: tuple[Floats, ...], values: tuple[Floats, ...], which: NDArray[np.bool_]
) -> None:
    """Write other values to the parameters of some states."""
    for array, own in zip(parameters, values, strict=True):
        array[which] = own[which]


def check_distances(distances: Any, n_states: int) -> Floats:
    """Return the result of a user's metric as an array; raise ValueError if it has no distances."""
    array = as_floats(distances, "EmissionSimilarity: the array that metric returns")
    if array.shape != (n_states, n_states):
        raise ValueError(
            f"EmissionSimilarity: metric must return an array of shape ({n_states}, {n_states}) "
            f"for {n_states} states, got {array.shape}."
        )
    wrong = ~((array >= 0.0) & (array < np.inf))
    if wrong.any():
        j, k = np.argwhere(wrong)[0]
        raise ValueError(
            "EmissionSimilarity: metric must return finite distances >= 0; got "
            f"{array[j, k]:g} for states {j} and {k} of {n_states}."
        )
    if np.any(np.diag(array) > 1e-6 * max(1.0, array.max())):
        j = int(np.argmax(np.diag(array)))
        raise ValueError(
            "EmissionSimilarity: metric must return distances, 0 from a state to itself; got "
            f"{array[j, j]:g} for state {j}. (Return -log S for a similarity S.)"
        )
    uneven = np.abs(array - array.T) > 1e-6 * np.maximum(array, array.T) + 1e-12
    if uneven.any():
        j, k = np.argwhere(uneven)[0]
        raise ValueError(
            f"EmissionSimilarity: metric must be symmetric; got {array[j, k]:g} from state {j} to "
            f"state {k}, and {array[k, j]:g} back."
        )
    array = 0.5 * (array + array.T)
    np.fill_diagonal(array, 0.0)
    return array
