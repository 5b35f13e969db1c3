"""Moves of runs and factors, and Indian buffets, against enumeration of all sets of paths."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from exact.oracles import factor_sets as oracle
from exact.oracles.batch_means import check_chain
from exact.oracles.factor_sets import Problem, features
from scipy import integrate

from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import SequencePanel
from skdp.sequence import BinaryFactorEmission, FactorialHMM
from skdp.sequence._factorial import _sampler as _run_moves
from skdp.sequence._factorial._sampler import (
    BuffetNumber,
    FactorialSampler,
    GivenNumber,
    RunMoves,
    StepFactors,
)
from skdp.sequence._hmm._messages import LabeledPanel
from skdp.sequence._kernels._evidence import count_transitions, draw_idle, fill_board
from skdp.sequence._kernels._moves import make_moves

NAN = np.nan
N_DRAWS = 20_000
MOST = 6
"""Paths of a buffet: more have a posterior probability below 1e-5 in these cases."""

BASE = Problem(
    sequences=(((0.4, 1.1), (1.7, 0.2), (1.3, -0.3), (-0.5, 0.9)),),
    precisions=(2.5, 1.2),
    scale=1.3,
)
PRIORS = {"start_prior": (0.7, 1.6), "switch_on_prior": (1.0, 2.0), "switch_off_prior": (0.4, 1.1)}
CASES = {
    "one sequence": BASE,
    "two sequences": replace(
        BASE, sequences=(BASE.sequences[0][:3], BASE.sequences[0][3:]), **PRIORS
    ),
    "missing": replace(
        BASE, sequences=(((0.4, NAN), (1.7, 0.2)), ((NAN, NAN), (NAN, 1.9))), **PRIORS
    ),
}
MASS_PRIOR = (2.0, 6.0)
ALTERNATING = Problem(
    sequences=(((1.5, 0.2), (-0.4, 1.0), (1.6, 0.3), (-0.3, 0.8), (1.4, 0.1)),),
    precisions=(2.5, 1.2),
    scale=1.3,
)


def stream(seed=0):
    return make_stream(make_seed_sequence(seed))


def make_panel(problem):
    return SequencePanel.from_sequences([np.array(s) for s in problem.sequences])


def make_priors(problem, n_factors):
    estimator = FactorialHMM(
        n_factors, start_prior=problem.start_prior, switch_on_prior=problem.switch_on_prior,
        switch_off_prior=problem.switch_off_prior, mass_prior=MASS_PRIOR,
    )  # fmt: skip
    return estimator._priors(sum(problem.lengths))


def moves_of(problem, priors, bits):
    """Yield what moves alone make of paths."""
    known = np.array(problem.known, dtype=np.int8).T if problem.known else None
    panel = make_panel(problem)
    moves, rng = RunMoves(), stream(3)
    moves.attach(panel.ptr, panel.values)
    seen = (~np.isnan(panel.values)).astype(float)
    totals = np.where(seen > 0.0, panel.values, 0.0)
    precisions, scales = np.array(problem.precisions), np.full(totals.shape[1], problem.scale)
    while True:
        bits = moves.draw(bits, known, seen, totals, precisions, scales, priors, rng)
        yield bits


def check(chain, expected, n_named=0, more=()):
    """Compare a chain of paths to what is expected. `more` are a function of paths, what is
    expected of it, and a name."""
    names = ("numbers", "pairs", "squares", "named")[: 4 if n_named else 3]

    def step():
        bits = next(chain)
        parts = tuple(features(bits, len(expected.numbers) - 1, n_named))[: len(names)]
        return (*parts, more[0](bits)) if more else parts

    def compare(*draws):
        for own, name in zip(draws, names, strict=False):
            yield own, getattr(expected, name), name
        if more:
            yield draws[-1], *more[1:]

    check_chain(step, compare, N_DRAWS)


@pytest.mark.parametrize("case", CASES)
def test_moves_of_given_numbers(case):
    problem = CASES[case]
    priors = make_priors(problem, 2)
    chain = moves_of(problem, priors, np.zeros((4, 2), dtype=np.int8))
    neither = lambda bits: bits[:, 0] - bits[:, 1], np.zeros(4), "neither factor is preferred"
    check(chain, oracle.expect_finite(problem, 2), more=neither)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_moves_of_buffets(case):
    problem = replace(CASES[case], start_prior=(1.0, 1.0))
    priors = make_priors(problem, "auto")
    priors.mass = 0.4

    def chain():
        for bits in moves_of(problem, priors, np.zeros((4, 0), dtype=np.int8)):
            assert bits.any(axis=0).all()
            yield bits

    check(chain(), oracle.expect_buffet(problem, MOST, mass=0.4))


@pytest.mark.slow
def test_moves_of_a_small_mass():
    """Runs far apart: a factor more or less is often all that differs."""
    priors = make_priors(ALTERNATING, "auto")
    priors.mass = 0.1
    chain = moves_of(ALTERNATING, priors, np.zeros((5, 0), dtype=np.int8))
    check(chain, oracle.expect_buffet(ALTERNATING, 4, mass=0.1))


@pytest.mark.parametrize("most", [1, 2])
def test_moves_of_bounded_buffets(most):
    """The posterior of a buffet given that no more factors are ever on."""
    priors = make_priors(BASE, "auto")
    priors.mass, priors.most = 1.5, most
    chain = moves_of(BASE, priors, np.zeros((4, 0), dtype=np.int8))
    check(chain, oracle.expect_buffet(BASE, most, mass=1.5))


@pytest.mark.parametrize("level", [0.02, 0.5])
def test_idle_factors(level):
    """A Poisson process of mass q / a (1 - a)^(q - 1 + N); |z| < 5 for three figures."""
    priors = make_priors(BASE, "auto")
    mass, n_steps, n_draws, rng = 3.0, 4, 20_000, stream(5)
    q = BASE.switch_on_prior[1]
    numbers, firsts, seconds = np.empty((3, n_draws))
    for i in range(n_draws):
        probs, weights = np.empty((64, 3)), np.empty((64, 1))
        n = draw_idle(level, n_steps, priors.counts, mass, np.ones(1), probs, weights, rng)
        assert np.all(probs[:n, 1] > level)
        numbers[i], firsts[i], seconds[i] = n, probs[:n, 1].sum(), (probs[:n, 1] ** 2).sum()

    def density(a, k):
        return mass * q * a ** (k - 1) * (1.0 - a) ** (q - 1 + n_steps)

    moments = [integrate.quad(density, level, 1.0, k)[0] for k in range(5)]
    for k, found in enumerate((numbers, firsts, seconds)):  # Campbell's theorem
        error = np.sqrt(moments[2 * k] / n_draws)
        assert abs(found.mean() - moments[k]) < 5.0 * error
    assert numbers.var() == pytest.approx(moments[0], rel=0.06)


@pytest.mark.parametrize("n_factors", [2, "auto"])
def test_moves_keep_up_what_follows_from_paths(n_factors, monkeypatch):
    kept = "counts", "n_on", "grams", "projections"

    def make_and_compare(board, *args):
        make_moves(board, *args)
        fresh = board._replace(**{name: np.empty_like(getattr(board, name)) for name in kept})
        fill_board(fresh)
        for name in kept:
            found, expected = getattr(board, name), getattr(fresh, name)
            np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=name)

    monkeypatch.setattr(_run_moves, "make_moves", make_and_compare)
    monkeypatch.setattr(_run_moves, "N_ROUNDS", 1)
    for problem in CASES.values():
        priors = make_priors(problem, n_factors)
        bits = np.zeros((4, 2 if n_factors == 2 else 0), dtype=np.int8)
        draws = islice(moves_of(problem, priors, bits), 300)
        assert max(bits.sum() for bits in draws) > 2


def make_chain_sampler(problem, n_factors, block_size):
    panel = make_panel(problem)
    if problem.known:
        panel = LabeledPanel(panel, np.array(problem.known, dtype=np.int8).T)
    values = problem.values
    emission = BinaryFactorEmission(
        1, weights_scale=problem.scale, noise_variance=1.0 / np.array(problem.precisions)
    )
    return FactorialSampler(
        panel, StepFactors(*emission.check_parts(values, len(values))),
        make_priors(problem, n_factors), stream(1), stream(2), block_size=block_size,
    )  # fmt: skip


class NoMoves(RunMoves):
    def draw(self, bits, *_):
        return bits


def check_sweeps(problem, expected, with_moves, most=None):
    """Compare sweeps, of slices and moves or of slices alone, to what is expected."""
    sampler = make_chain_sampler(problem, "auto", 2)
    if most is not None:
        sampler.priors.most = most
    if not with_moves:
        sampler.moves = NoMoves()

    def chain():
        while True:
            sampler.sweep()
            yield sampler.emission.factors

    masses = lambda bits: sampler.priors.mass, expected.mass, "mass"
    check(chain(), expected, len(problem.known), masses)


SWEEPS = [(case, with_moves) for case in CASES for with_moves in (True, False)]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "with_moves"), SWEEPS)
def test_sweeps_of_buffets(case, with_moves):
    """Without moves of runs slices alone let factors come and go."""
    problem = replace(CASES[case], start_prior=(1.0, 1.0))
    check_sweeps(problem, oracle.expect_buffet(problem, MOST, mass_prior=MASS_PRIOR), with_moves)


@pytest.mark.slow
@pytest.mark.parametrize("with_moves", [True, False])
def test_sweeps_of_bounded_buffets(with_moves):
    check_sweeps(BASE, oracle.expect_buffet(BASE, 2, mass_prior=MASS_PRIOR), with_moves, 2)


KNOWN = {
    # The start agrees; one factor is known to be on, one to be off, or both in several runs.
    "one path": ("one sequence", ((-1, 1, -1, -1),)),
    "two paths": ("one sequence", ((-1, 1, 0, -1), (1, -1, -1, -1))),
    "two sequences": ("two sequences", ((1, -1, 0, -1), (-1, -1, -1, 1))),
}
NEVER = ((0, -1, -1, 0), (-1, -1, 0, -1))


def make_known(case):
    name, known = KNOWN[case]
    return replace(CASES[name], known=known)


def start_from(known, n_factors):
    bits = np.zeros((4, n_factors), dtype=np.int8)
    bits[:, : len(known)] = np.maximum(np.array(known).T, 0)
    return bits


@pytest.mark.parametrize("case", [*KNOWN, "never"])
def test_moves_with_known_bits(case):
    problem = replace(BASE, known=NEVER) if case == "never" else make_known(case)
    chain = moves_of(problem, make_priors(problem, 2), start_from(problem.known, 2))
    check(chain, oracle.expect_finite(problem, 2), len(problem.known))


@pytest.mark.slow
@pytest.mark.parametrize("case", KNOWN)
def test_moves_of_buffets_with_known_bits(case):
    problem = replace(make_known(case), start_prior=(1.0, 1.0))
    priors = make_priors(problem, "auto")
    priors.mass, priors.most = 0.1, 4
    n_named = len(problem.known)
    chain = moves_of(problem, priors, start_from(problem.known, n_named))
    check(chain, oracle.expect_buffet(problem, 4, mass=0.1), n_named)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "with_moves"), [("one path", True), ("two paths", False), ("two sequences", True)]
)
def test_sweeps_of_buffets_with_known_bits(case, with_moves):
    """The posterior given that at most four factors are ever on, named ones included."""
    problem = replace(make_known(case), start_prior=(1.0, 1.0))
    check_sweeps(problem, oracle.expect_buffet(problem, 4, mass_prior=MASS_PRIOR), with_moves, 4)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["one sequence", "two sequences"])
def test_draws_of_buffets(case):
    problem = replace(CASES[case], start_prior=(1.0, 1.0))
    priors, rng, ptr = make_priors(problem, "auto"), stream(4), make_panel(problem).ptr
    priors.mass = 0.6
    chain = (priors.draw_bits(ptr, rng)[0] for _ in range(N_DRAWS))
    check(chain, oracle.expect_buffet(problem, MOST + 1, mass=0.6, with_data=False))


@pytest.mark.parametrize("case", CASES)
def test_log_probability_of_paths(case):
    problem = replace(CASES[case], start_prior=(1.0, 1.0))
    bits = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 0]], dtype=np.int8)
    panel, counts = make_panel(problem), np.empty((3, 3, 2), dtype=np.int64)
    count_transitions(panel.ptr, bits, counts)
    buffet, given = make_priors(problem, "auto"), make_priors(problem, 3)
    assert isinstance(buffet, BuffetNumber)
    assert isinstance(given, GivenNumber)
    buffet.mass = 0.7
    q, (shape, rate) = problem.switch_on_prior[1], MASS_PRIOR
    expected = sum(oracle.log_intensity(problem, path) for path in bits.T.tolist())
    expected += 3 * np.log(0.7) - 0.7 * sum(q / (q + i) for i in range(4))
    expected += shape * np.log(rate * 0.7) - rate * 0.7 - np.log(1.0)  # Gamma(2) = 1
    assert buffet.log_probability(counts) == pytest.approx(expected, abs=1e-10)
    expected = sum(oracle.log_path(problem, path) for path in bits.T.tolist())
    assert given.log_probability(counts) == pytest.approx(expected, abs=1e-10)
