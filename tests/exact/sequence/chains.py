"""Chains of hidden Markov models: tiny problems, their samplers, and comparisons of both.

By batch means (see `exact.oracles.batch_means`): |z| < 5 for at most 40 figures of each case. What
is expected is exact to about 1e-4."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from exact.oracles.autoregression import MatrixNormalInverseWishart, Normal, log_evidence_with_gaps
from exact.oracles.batch_means import check_chain
from exact.oracles.events import (
    log_bit_evidence,
    log_count_evidence,
    log_row_evidence,
    log_symbol_evidence,
)
from exact.oracles.hdp_hmm import (
    NormalInverseWishart,
    Problem,
    conditions,
    describe,
    expect,
    log_gaussian_evidence,
    of_rows,
)
from exact.oracles.latent import concentration
from exact.oracles.regression import Logistic, Poisson, log_coef_evidence, log_linear_evidence
from exact.oracles.student_t import log_column_evidence

from skdp import emissions
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.sequence import FixedSimilarity
from skdp.sequence._hmm._messages import KnownStates, LabeledPanel
from skdp.sequence._hmm._sampler import HMMSampler
from skdp.sequence._hmm._transitions import TransitionPriors, Transitions

NAN = math.nan


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


class Case(NamedTuple):
    problem: Problem
    emission: Any
    state_sampler: str = "ffbs"
    figures: Callable = lambda sampler: ()


# Symbols, numbers, and numbers that depend on earlier ones

ONE, TWO, THREE = ("0011011",), ("001", "1100"), ("002", "2210")
PHI = ((1.0, 0.2), (0.05, 0.6))
PHI3 = ((1.0, 0.3, 0.05), (0.5, 0.8, 0.2), (0.01, 0.6, 1.0))
LEFT_RIGHT = ((1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 1))
KNOWN = ((0, -1, -1), (-1, 1, -1, -1))
LINE = NormalInverseWishart(mean=(0.2,), precision=0.5, freedom=2.5, scale=((0.8,),))
PLANE = NormalInverseWishart((0.0, 0.0), 0.4, 2.5, ((1.0, 0.8), (0.8, 1.0)))
SLOPE = MatrixNormalInverseWishart(((0.3, 0.1),), ((0.6, 0.1), (0.1, 0.4)), 2.5, ((0.5,),))
SLOPES = MatrixNormalInverseWishart(
    ((0.3, 0.1, -0.2),), ((0.6, 0.1, 0.0), (0.1, 0.4, 0.1), (0.0, 0.1, 0.5)), 2.5, ((0.5,),)
)


def as_rows(sequences):
    """Return sequences of rows: of symbols, written as digits, or of numbers."""
    return tuple(tuple((float(x),) for x in sequence) for sequence in sequences)


def symbols(sequences, state_sampler="ffbs", **more):
    evidence = of_rows(partial(log_symbol_evidence, prior=(0.5, 0.5)))
    problem = Problem(as_rows(sequences), evidence, **more)
    return Case(problem, emissions.CategoricalEmission(2, 0.5), state_sampler)


def symbols_of_drawn_concentration(sequences, base, prior, **more):
    latent = concentration(as_rows(sequences), base, prior)
    emission = emissions.CategoricalEmission(len(base), concentration_prior=prior, base=base)
    problem = Problem(as_rows(sequences), latent=latent, **more)
    return Case(problem, emission, figures=lambda sampler: [np.log(sampler.emission.concentration)])


def numbers(rows, prior=LINE, covariance_type="full", **more):
    scale = np.array(prior.scale)
    emission = emissions.GaussianEmission(
        covariance_type, mean_prior=prior.mean, mean_precision_prior=prior.precision,
        degrees_of_freedom_prior=prior.freedom,
        covariance_prior=scale if covariance_type == "full" else np.diag(scale),
    )  # fmt: skip
    return Case(
        Problem(rows, of_rows(partial(log_gaussian_evidence, prior=prior)), **more), emission
    )


def changes(sequences, prior=SLOPE, **more):
    """Numbers, of which NaN are missing, that depend on earlier ones."""
    rows, n_lags = as_rows(sequences), len(prior.precision) - 1
    emission = emissions.AutoregressiveEmission(
        n_lags, coef_prior=prior.coefs, coef_precision_prior=prior.precision,
        degrees_of_freedom_prior=prior.freedom, covariance_prior=prior.scale,
    )  # fmt: skip
    panel = make_panel(rows)
    start = emission.make_sampler(panel.values, 2, panel.ptr).starting_lags
    starting = Normal(tuple(start.mean.tolist()), start.root @ start.root.T)

    @cache
    def log_density(states):
        return log_evidence_with_gaps(rows, states, n_lags, prior, starting)

    def evidence(_, states):
        """Return the log density; states of steps without enough steps before do not matter."""
        first = np.concatenate([np.arange(len(x)) < n_lags for x in rows])
        return log_density(tuple(np.where(first, 0, states).tolist()))

    return Case(Problem(rows, evidence, **more), emission)


# Other observations

MIXED_LINE = {
    "mean_prior": [0.2], "mean_precision_prior": 0.5, "degrees_of_freedom_prior": 2.5,
    "covariance_prior": [[0.8]],
}  # fmt: skip
COEFS = Logistic((0.4, -0.3), ((0.3, 0.1), (0.1, 0.4)))
RATES = Poisson((0.3, 0.2), ((0.9, 0.1), (0.1, 0.5)))


def log_mixed_evidence(rows):
    """Return log p(rows) of a bit, a number and a symbol."""
    bits, points, kinds = ([x[d : d + 1] for x in rows] for d in range(3))
    result = log_bit_evidence(bits, (0.6, 0.8)) + log_symbol_evidence(kinds, (0.3, 1.0, 0.7))
    return result + log_gaussian_evidence(tuple(points), LINE)


def log_outlier_evidence(rows):
    return log_column_evidence(tuple(sorted(x for (x,) in rows)), 1.5, (0.2, 0.5, 2.5, 0.8))


OTHERS = {
    "bits": (
        (((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), ((NAN, 1.0), (1.0, 1.0), (NAN, NAN))),
        partial(log_bit_evidence, prior=(0.6, 0.8)),
        emissions.BernoulliEmission((0.6, 0.8)),
    ),
    "bags": (
        (((2.0, 0.0), (0.0, 1.0), (1.0, 1.0)), ((NAN, NAN), (0.0, 2.0), (0.0, 0.0))),
        partial(log_row_evidence, prior=(0.4, 0.7)),
        emissions.MultinomialEmission([0.4, 0.7]),
    ),
    "counts": (
        (((2.0, 0.0), (NAN, 1.0), (3.0, NAN)), ((NAN, NAN), (0.0, 3.0), (2.0, 0.0))),
        partial(log_count_evidence, shape=0.8, rate=0.3),
        emissions.PoissonEmission(0.8, 0.3),
    ),
    "gaps in symbols": (
        (((0.0,), (0.0,), (NAN,)), ((2.0,), (NAN,), (2.0,), (0.0,))),
        partial(log_symbol_evidence, prior=(0.4, 0.7, 0.2)),
        emissions.CategoricalEmission(3, [0.4, 0.7, 0.2]),
    ),
    "mixed": (
        (((0.0, 0.3, 2.0), (1.0, -1.2, NAN), (0.0, NAN, 0.0)), ((NAN, 2.0, 1.0), (1.0, 0.7, 2.0))),
        log_mixed_evidence,
        emissions.IndependentEmissions(
            [
                ("bit", emissions.BernoulliEmission((0.6, 0.8)), [0]),
                ("kind", emissions.CategoricalEmission(3, [0.3, 1.0, 0.7]), slice(2, 3)),
                ("level", emissions.GaussianEmission(**MIXED_LINE), 1),
            ]
        ),
    ),
    "outliers": (
        (((-0.9,), (0.1,), (6.0,)), ((1.0,), (NAN,), (-1.6,))),
        log_outlier_evidence,
        emissions.StudentTEmission(1.5, **MIXED_LINE),
    ),
    "choices": (
        (((1.0, 2.0), (0.0, -1.5), (1.0, 0.4)), ((0.0, 1.8), (NAN, 0.3), (1.0, -2.0))),
        partial(log_coef_evidence, prior=COEFS),
        emissions.RegressionEmission(
            0, 1, "bernoulli", coef_prior=[COEFS.mean], coef_precision_prior=COEFS.precision
        ),
    ),
    "spikes": (
        (((3.0, 1.0), (0.0, -1.2), (1.0, 0.4)), ((0.0, 1.4), (NAN, 0.3), (4.0, -0.8))),
        partial(log_coef_evidence, prior=RATES),
        emissions.RegressionEmission(
            0, 1, "poisson", coef_prior=[RATES.mean], coef_precision_prior=RATES.precision
        ),
    ),
    "responses": (
        (((1.1, 1.0), (-0.9, -1.0), (0.4, -1.2)), ((NAN, 0.3), (-1.4, 1.3), (0.8, 0.9))),
        partial(log_linear_evidence, prior=SLOPE),
        emissions.RegressionEmission(
            0, 1, coef_prior=SLOPE.coefs, coef_precision_prior=SLOPE.precision,
            degrees_of_freedom_prior=SLOPE.freedom, covariance_prior=SLOPE.scale,
        ),
    ),
}  # fmt: skip


def other(name, n_states=3, **more):
    rows, log_density, emission = OTHERS[name]
    return Case(Problem(rows, of_rows(log_density), n_states, **more), emission)


def make_panel(sequences):
    return SequencePanel.from_sequences([np.array(x, dtype=float) for x in sequences])


def make_chain_sampler(
    problem, emission, state_sampler="ffbs", similarity=None, duration=None, init="auto"
):
    panel, n_states = make_panel(problem.sequences), problem.n_states
    priors = TransitionPriors(
        problem.gamma, problem.gamma_prior, problem.alpha, problem.alpha_prior, problem.kappa,
        problem.share_prior,
    )  # fmt: skip
    if problem.phi is not None:
        similarity = FixedSimilarity(problem.phi)
    known, more = panel, ()
    if problem.known is not None:
        known = LabeledPanel(panel, KnownStates(np.concatenate(problem.known), n_states))
    if isinstance(emission, emissions.AutoregressiveEmission):
        more = (panel.ptr,)
    return HMMSampler(
        known,
        Transitions(
            n_states, priors, stream(0), self_transitions=duration is None,
            allowed=None if problem.allowed is None else np.array(problem.allowed, dtype=bool),
        ),
        emission.make_sampler(panel.values, n_states, *more),
        stream(1),
        stream(2),
        similarity=None if similarity is None else similarity.make_sampler(n_states),
        duration=None if duration is None else duration.make_sampler(n_states),
        state_sampler=state_sampler,
        init=init,
    )  # fmt: skip


def parameters_of(duration):
    return np.exp(duration.log_means if hasattr(duration, "log_means") else duration.log_p)


def move(sampler, n_moves=1):
    """Do what a sweep does, but draw states by splits and merges alone; return if one was done."""
    moved = False
    for _ in range(n_moves):
        sampler.emission.complete(sampler.states, sampler.stream)
        moved |= sampler._split_or_merge()
    sampler._draw_parameters(sampler.stream, rates_known=not moved)
    return moved


def check(
    case, n_sweeps, sweep=HMMSampler.sweep, *, n_first=0, log2_points=12, n_settled=0, **parts
):
    """Compare the means over a chain with the expected ones, those of 2^log2_points points. `sweep`
    is a round of the chain, given the sampler; `n_first` of them come before the chain. `parts` are
    the similarity and the duration of the sampler. All sequences but `n_settled` come later."""
    expected = expect(case.problem, log2_points)
    describe_states = cache(lambda states: (describe(case.problem, states), conditions(states)))
    if n_settled > 0:
        problem = replace(case.problem, sequences=case.problem.sequences[:n_settled])
        parts["init"] = make_chain_sampler(problem, case.emission, case.state_sampler, **parts)
        parts["init"].sweep()
        parts["init"].detach()
    sampler = make_chain_sampler(case.problem, case.emission, case.state_sampler, **parts)
    assert sampler.n_settled == n_settled
    for _ in range(n_first):
        sweep(sampler)

    def step():
        sweep(sampler)
        transitions, duration = sampler.transitions, 0.0
        if sampler.duration is not None:
            duration = parameters_of(sampler.duration).mean()
        of_states, holds = describe_states(tuple(sampler.states.tolist()))
        known = transitions.alpha, transitions.kappa, transitions.gamma, *case.figures(sampler)
        return of_states, duration, np.outer(holds, known)

    def compare(of_states, duration, parameters):
        yield of_states, expected.of_states, "states"
        yield duration, expected.duration, "mean parameter of durations"
        yield parameters, expected.parameters, "parameters"

    check_chain(step, compare, n_sweeps)
