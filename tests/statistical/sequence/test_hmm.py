"""Geweke's test of hidden Markov chains: similarities, durations and all concentrations drawn.

There are some 160 comparisons: a false alarm for one choice of the seeds in 500."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats
from statistical.geweke import check_joint

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.emissions import GaussianEmission
from skdp.emissions._discrete._categorical import CategoricalSampler
from skdp.emissions._gaussian._sampler import ScalePrior
from skdp.sequence import EmissionSimilarity, NegativeBinomialDuration, PoissonDuration
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions
from skdp.sequence._similarities._gaussian import N_ADAPTING, GaussianSimilaritySampler

N_STATES, N_COLUMNS, N_SYMBOLS, N_DIMS, LONGEST = 3, 2, 2, 2, 4
PTR = np.array([0, 7, 8, 14])
INNER = np.setdiff1d(np.arange(PTR[-1]), PTR)  # steps that are not the first
STICKY = TransitionPriors(None, (3.0, 1.0), None, (3.0, 1.5), None, (2.0, 2.0))
SEMI = TransitionPriors(None, (20.0, 2.0), None, (12.0, 2.0), 0.0, (1.0, 1.0))
"""They keep top-level weights off the edge: where one is near 1 the chain stays for many batches,
and their means no longer tell the error."""
N_PRIOR, N_SWEEPS = 20_000, 40_000


def draw_gamma(prior, rng, size=None):
    return rng.gamma(prior[0], 1.0 / prior[1], size)


class Symbols:
    """Symbols with probabilities theta of each state."""

    prior = np.array([0.6, 0.4])

    def draw(self, rng):
        return rng.dirichlet(self.prior, size=N_STATES)

    def values(self, theta, states, rng):
        return (rng.random(len(states)) >= theta[states, 0]).astype(float)

    def make_sampler(self, values):
        return CategoricalSampler(N_STATES, self.prior)

    def known(self, sampler):
        return np.exp(sampler.log_probs.T)

    def figures(self, theta, values):
        return {"first symbol": np.mean(values == 0)}


class Vectors:
    """Normal vectors with the mean and the covariance of each state, and perhaps a drawn scale."""

    precision, freedom, lowest = 0.5, 12.0, 1e-4
    mean, scale = np.array([0.2, -0.1]), np.array([[8.0, 2.0], [2.0, 6.0]])

    def __init__(self, is_scale_drawn=False):
        self.is_scale_drawn = is_scale_drawn

    def draw_scale(self, rng):
        """Return a scale, given that its Q is not cut off."""
        while True:
            scale = stats.wishart(N_COLUMNS, self.scale / N_COLUMNS).rvs(random_state=rng)
            if np.trace(np.linalg.solve(scale, self.scale)) * self.lowest <= N_COLUMNS:
                return scale

    def draw(self, rng):
        scale = self.draw_scale(rng) if self.is_scale_drawn else self.scale
        covariances = stats.invwishart(self.freedom, scale).rvs(N_STATES, random_state=rng)
        roots = np.linalg.cholesky(covariances / self.precision)
        noise = rng.normal(size=(N_STATES, N_COLUMNS))
        return self.mean + np.einsum("jde,je->jd", roots, noise), covariances

    def values(self, known, states, rng):
        means, covariances = known
        noise = rng.normal(size=(len(states), N_COLUMNS))
        return means[states] + np.einsum(
            "tde,te->td", np.linalg.cholesky(covariances)[states], noise
        )

    def make_sampler(self, values):
        emission = GaussianEmission(
            mean_prior=self.mean, mean_precision_prior=self.precision,
            degrees_of_freedom_prior=self.freedom, covariance_prior=self.scale,
        )  # fmt: skip
        sampler = emission.make_sampler(values, N_STATES)
        if self.is_scale_drawn:
            complete = np.ones((1, N_COLUMNS), bool)
            sampler.scale_prior = ScalePrior.about(self.scale[None], complete, sampler.prior.dof)
        return sampler

    def known(self, sampler):
        known = sampler.known_model(sampler.parameters())
        return known.means, known.covariances

    def figures(self, known, values):
        means, covariances = known
        return {
            "mu^2": np.arctan(np.sum(means**2) / 10.0),
            "distance of means": np.arctan(np.linalg.norm(means[0] - means[1])),
            "log det": np.linalg.slogdet(covariances[0])[1],
            "x^2": np.arctan(np.mean(values**2) / 5.0),
        }


class Locations:
    """States in a plane, exp(-decay / 2 |l_j - l_k|^2)."""

    decay_prior = (2.0, 2.0)

    def distances(self, locations):
        return 0.5 * np.sum((locations[:, None] - locations) ** 2, axis=2)

    def draw(self, emission, rng):
        locations = rng.normal(size=(N_STATES, N_DIMS))
        return locations, self.distances(locations)

    def make_sampler(self):
        return GaussianSimilaritySampler(N_STATES, N_DIMS, None, self.decay_prior)

    def known(self, sampler):
        return sampler.decay, sampler.locations.T, self.distances(sampler.locations.T)


class OfEmissions:
    """exp(-decay d), d the distance of the states' normal distributions."""

    decay_prior = (2.0, 1.0)

    def __init__(self, metric):
        self.metric = metric

    def draw(self, emission, rng):
        means, covariances = emission
        logs = np.zeros((N_STATES, N_STATES))
        for j, k in np.ndindex(logs.shape):
            mean, away = 0.5 * (covariances[j] + covariances[k]), means[j] - means[k]
            own = np.linalg.slogdet([covariances[j], covariances[k], mean])[1] @ [0.25, 0.25, -0.5]
            logs[j, k] = min(own - 0.125 * away @ np.linalg.solve(mean, away), 0.0)
        return None, -logs if self.metric == "bhattacharyya" else np.sqrt(1.0 - np.exp(logs))

    def make_sampler(self):
        return EmissionSimilarity(self.metric, decay_prior=self.decay_prior).make_sampler(N_STATES)

    def known(self, sampler):
        return sampler.decay, None, sampler.distances


def draw_lengths(duration, rng):
    """Return a parameter of each state, and a function that draws how long one stays."""
    if duration is None:
        return np.zeros(N_STATES), lambda j: 1
    if isinstance(duration, PoissonDuration):
        omega = draw_gamma((duration.shape, duration.rate), rng, N_STATES)
        return omega, lambda j: min(1 + rng.poisson(omega[j]), LONGEST)
    p = rng.beta(*duration.prior, N_STATES)
    phases = duration.n_phases
    return p, lambda j: min(1 + rng.negative_binomial(phases, 1.0 - p[j]), LONGEST)


class Known(NamedTuple):
    """The numbers of a state of the chain but those of the emission."""

    gamma: float
    alpha: float
    kappa: float
    weights: np.ndarray
    decay: float
    locations: np.ndarray | None
    distances: np.ndarray
    parameters: np.ndarray
    states: np.ndarray


class Case(NamedTuple):
    emission: Any
    similarity: Any = None
    duration: Any = None

    @property
    def priors(self):
        return STICKY if self.duration is None else SEMI


CASES = {
    "locations": Case(Symbols(), Locations()),
    "locations, durations": Case(Symbols(), Locations(), PoissonDuration(2.0, 1.0, LONGEST)),
    "poisson": Case(Symbols(), None, PoissonDuration(2.0, 1.0, LONGEST)),
    "negative binomial": Case(Symbols(), None, NegativeBinomialDuration(2, (2.0, 3.0), LONGEST)),
    "hellinger": Case(Vectors(), OfEmissions("hellinger")),
    "hellinger, durations": Case(
        Vectors(), OfEmissions("hellinger"), PoissonDuration(2.0, 1.0, LONGEST)
    ),
    "bhattacharyya, drawn scale": Case(Vectors(True), OfEmissions("bhattacharyya")),
}


def figures(case, known, emission, values):
    """Return what is compared, by name."""
    _, alpha, kappa, weights, decay, locations, distances, parameters, states = known
    phi = np.exp(-decay * distances)
    before, after = states[INNER - 1], states[INNER]
    lengths = []  # of the segments of each sequence
    for begin, end in pairwise(PTR):
        changes = np.flatnonzero(np.diff(states[begin:end])) + 1
        lengths.append(np.diff([0, *changes, end - begin]))
    n_segments, firsts = sum(map(len, lengths)), states[PTR[:-1]]
    first = np.array([x[0] for x in lengths])
    return {
        "gamma": known.gamma, "alpha": alpha, "kappa": kappa, "decay": decay,
        "sqrt decay": np.sqrt(decay), "l^2": 0.0 if locations is None else np.sum(locations**2),
        "phi": phi[0, 1], "phi of transitions": phi[before, after].mean(),
        "largest weight": weights.max(), "states": len(np.unique(states)),
        "time of the first": np.mean(states == 0), "segments": n_segments,
        "decay of segments": decay * n_segments, "first length": first[0],
        "cut-off length": np.mean([x[-1] for x in lengths]), "parameter": parameters.mean(),
        "exp(-parameter)": np.exp(-parameters).mean(), "parameter of the first": parameters[0],
        "parameters of first segments": parameters[firsts].mean(),
        "their lengths": first @ parameters[firsts],
        "parameter times segments": parameters.mean() * n_segments,
        **case.emission.figures(emission, values),
    }  # fmt: skip


def draw_prior(case, rng):
    """Draw everything from the model; return the figures."""
    priors = case.priors
    gamma = draw_gamma(priors.top_concentration_prior, rng)
    mass = draw_gamma(priors.transition_concentration_prior, rng)
    share = rng.beta(*priors.stickiness_prior) if case.duration is None else 0.0
    alpha, kappa = mass * (1.0 - share), mass * share
    weights = rng.dirichlet(np.full(N_STATES, gamma / N_STATES))
    emission = case.emission.draw(rng)
    decay, locations, distances = 0.0, None, np.zeros((N_STATES, N_STATES))
    if case.similarity is not None:
        decay = draw_gamma(case.similarity.decay_prior, rng)
        locations, distances = case.similarity.draw(emission, rng)
    shapes = np.maximum(alpha * weights + np.vstack([kappa * np.eye(N_STATES), np.zeros(3)]), 1e-12)
    # A Gamma number of shape a is one of shape a + 1, times U^(1/a).
    log_rates = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    log_rates[:-1] -= decay * distances
    if case.duration is not None:
        np.fill_diagonal(log_rates[:-1], -np.inf)
    p = np.exp(log_rates - log_rates.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    parameters, draw_length = draw_lengths(case.duration, rng)
    states = np.empty(PTR[-1], dtype=int)
    for begin, end in pairwise(PTR):
        row, t = N_STATES, begin
        while t < end:
            row = rng.choice(N_STATES, p=p[row])
            after = t + draw_length(row)
            states[t : min(after, end)] = row
            t = after
    known = Known(gamma, alpha, kappa, weights, decay, locations, distances, parameters, states)
    return figures(case, known, emission, case.emission.values(emission, states, rng))


def make_panel(values):
    return SequencePanel.from_sequences([values[a:b] for a, b in pairwise(PTR)])


def draw_chain(case, rng):
    """Yield figures of the chain that draws observations, too; the first sweeps are dropped."""
    values = case.emission.values(case.emission.draw(rng), np.zeros(PTR[-1], dtype=int), rng)
    streams = [make_stream(make_seed_sequence(i)) for i in range(3)]
    similarity = case.similarity and case.similarity.make_sampler()
    duration = case.duration and case.duration.make_sampler(N_STATES)
    sampler = HMMSampler(
        make_panel(values),
        Transitions(N_STATES, case.priors, streams[0], self_transitions=duration is None),
        case.emission.make_sampler(values), *streams[1:],
        similarity=similarity, duration=duration,
    )  # fmt: skip
    for i in range(N_ADAPTING + N_SWEEPS):
        sampler.sweep()
        emission = case.emission.known(sampler.emission)
        values = case.emission.values(emission, sampler.states, rng)
        sampler.attach(make_panel(values))
        if i < N_ADAPTING:
            continue
        part, parameters = sampler.transitions, np.zeros(N_STATES)
        if duration is not None:
            parameters = np.exp(getattr(duration, "log_means", getattr(duration, "log_p", None)))
        near = (0.0, None, np.zeros((N_STATES, N_STATES)))
        if similarity is not None:
            near = case.similarity.known(similarity)
        yield figures(
            case,
            Known(part.gamma, part.alpha, part.kappa, part.weights, *near, parameters,
                  sampler.states),
            emission, values,
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_joint_distribution(name):
    case, rng = CASES[name], np.random.default_rng(0)
    plain = [draw_prior(case, rng) for _ in range(N_PRIOR)]
    chain = [list(found.values()) for found in draw_chain(case, rng)]
    check_joint([list(found.values()) for found in plain], chain, list(plain[0]))
