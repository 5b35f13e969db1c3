"""Sequences with missing values under known regressions: states enumerated, values by quadrature.

Particles give unbiased estimates: of p(x), and of p(x) times any mean given x."""

from dataclasses import replace

import numpy as np
import pytest
from exact.sequence.hmm.problems import START, enumerate_longer, every_duration, make_model
from numpy.testing import assert_allclose
from scipy import special

from skdp.emissions._gaussian._autoregressive_model import (
    AutoregressiveModel,
    LagDesign,
    StartingLags,
)
from skdp.sequence._hmm._forecast import StateMoves
from skdp.sequence._hmm._gap_filter import GapFilter

N_RUNS, N_PARTICLES = 400, 40
FREEDOMS = np.array([9.0, 3.5, 40.0])
NAN = np.nan


def make_emission(n_dims, lags, has_trend, seed=0):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, n_dims, n_dims + 2))
    n, n_first = n_dims * len(lags), n_dims * lags[-1]
    width = n + has_trend + 1
    return AutoregressiveModel(
        0.5 * rng.normal(size=(3, n_dims, n)),
        rng.normal(size=(3, n_dims)),
        roots @ roots.swapaxes(1, 2),
        FREEDOMS,
        rng.uniform(0.5, 1.5, 3),
        np.tril(0.3 * rng.normal(size=(3, width, width))),
        StartingLags(rng.normal(size=n_first), np.tril(rng.normal(size=(n_first, n_first)))),
        LagDesign(lags, has_trend),
        0.2 * rng.normal(size=(3, n_dims)) if has_trend else None,
    )


def densities(emission, lags, values):
    """Return p(x_t given state j and the values before), (G, T, J), for G sequences (G, T, D)."""
    n_steps, n_dims = values.shape[1:]
    out = np.ones((*values.shape[:2], 3))
    for t in range(max(lags), n_steps):
        parts = [np.ones((len(values), 1))] + [values[:, t - lag] for lag in lags]
        if emission.trends is not None:
            parts.append(np.full((len(values), 1), t + 1.0))
        a = np.hstack(parts)
        for j in range(3):
            coefs = [emission.intercepts[j][:, np.newaxis], emission.coefs[j]]
            if emission.trends is not None:
                coefs.append(emission.trends[j][:, np.newaxis])
            away = values[:, t] - a @ np.hstack(coefs).T
            size = 1.0 + ((a @ emission.coef_factors[j].T) ** 2).sum(axis=1)
            scale, f = emission.covariances[j] * emission.scale_ratios[j], FREEDOMS[j]
            squares = np.einsum("gd,de,ge->g", away, np.linalg.inv(scale), away) / size
            out[:, t, j] = np.exp(
                special.gammaln(0.5 * (f + n_dims))
                - special.gammaln(0.5 * f)
                - 0.5 * n_dims * np.log(f * np.pi * size)
                - 0.5 * np.linalg.slogdet(scale)[1]
                - 0.5 * (f + n_dims) * np.log1p(squares / f)
            )
    return out


def first_density(emission, values):
    """Return the density of the observed ones among the first values, (G,)."""
    n_first = len(emission.starting_lags.mean)
    n_lags = n_first // values.shape[2]
    covariance = emission.starting_lags.root @ emission.starting_lags.root.T
    away = values[:, :n_lags][:, ::-1].reshape(len(values), -1) - emission.starting_lags.mean
    seen = ~np.isnan(away[0])
    away, covariance = away[:, seen], covariance[np.ix_(seen, seen)]
    squares = np.einsum("ga,ab,gb->g", away, np.linalg.inv(covariance), away)
    return np.exp(-0.5 * (squares + np.linalg.slogdet(2.0 * np.pi * covariance)[1]))


def expect(emission, lags, duration, values, known=None):
    """Return p(x), and p(x) times expected values given x, by quadrature. They are p(z_t), (T, J),
    the means of missing values, and p(z_t is not z_t-1), (T,)."""
    nodes, weights = np.polynomial.legendre.leggauss(150)
    angles = 0.5 * np.pi * nodes
    line, slopes = 2.0 * np.tan(angles), np.pi * weights / np.cos(angles) ** 2
    places = np.argwhere(np.isnan(values))
    grids = np.meshgrid(*[np.arange(len(line))] * len(places), indexing="ij")
    filled = np.repeat(values[np.newaxis], grids[0].size, axis=0)
    volume = np.ones(grids[0].size)
    for (t, d), grid in zip(places, grids, strict=True):
        filled[:, t, d] = line[grid.ravel()]
        volume *= slopes[grid.ravel()]
    if np.isnan(values[: max(lags)]).any():
        volume *= first_density(emission, filled) / first_density(emission, values[np.newaxis])
    obs = densities(emission, lags, filled)
    _, prior = enumerate_longer(duration, np.zeros((len(values), 3)), 0)
    total, states, means = 0.0, np.zeros((len(values), 3)), np.zeros(len(places))
    changes = np.zeros(len(values))
    steps, grid = np.arange(len(values)), np.array([filled[:, t, d] for t, d in places])
    for path, p in prior.items():
        states_of_path = np.array(path)
        if known is not None and np.any((known >= 0) & (known != states_of_path)):
            continue
        own = p * volume * obs[:, steps, states_of_path].prod(axis=1)
        total += own.sum()
        states[steps, states_of_path] += own.sum()
        means += grid @ own
        changes[1:] += own.sum() * (np.diff(states_of_path) != 0)
    return total, states, means, changes


CASES = {
    "one value": (1, (1,), False, [[0.3], [1.0], [NAN], [2.0], [-0.5]], None),
    "two in a row": (1, (1,), False, [[0.3], [NAN], [NAN], [2.0], [0.5], [1.5]], None),
    "two stretches": (1, (1,), True, [[0.3], [1.0], [NAN], [2.0], [0.7], [NAN], [0.1]], None),
    "first": (1, (2,), False, [[NAN], [1.0], [0.2], [NAN], [-0.5], [1.0]], None),
    "both first": (1, (1, 2), False, [[NAN], [NAN], [0.2], [1.0], [-0.5]], None),
    "last": (1, (1, 3), True, [[0.3], [1.0], [0.2], [1.0], [NAN], [NAN]], None),
    "columns": (2, (1,), False, [[0.3, NAN], [1.0, 0.1], [NAN, 2.0], [0.4, 0.0]], None),
    "last column": (2, (1,), False, [[0.3, 0.2], [1.0, 0.1], [0.4, NAN]], None),
    "known": (1, (1,), False, [[0.3], [NAN], [1.0], [NAN], [0.5]], [-1, -1, 2, -1, -1]),
}


def make_case(case):
    """Return lags, values, emission, and known states, in two forms."""
    n_dims, lags, has_trend, values, known = CASES[case]
    log_known = None
    if known is not None:
        known = np.array(known)
        is_possible = (known[:, np.newaxis] < 0) | (known[:, np.newaxis] == np.arange(3))
        log_known = np.where(is_possible, 0.0, -np.inf)
    return lags, np.array(values), make_emission(n_dims, lags, has_trend), known, log_known


@pytest.mark.slow
@every_duration
@pytest.mark.parametrize("case", CASES)
def test_unbiased_estimates(case, duration):
    """Up to 10 figures a case, |z| < 5 with 399 degrees of freedom: false alarms in 1e-5 cases."""
    lags, values, emission, known, log_known = make_case(case)
    total, states, means, _ = expect(emission, lags, duration, values, known)
    model = make_model(duration, emission)
    moves = StateMoves(model.transmat, None if duration is None else duration.tables())
    hidden, found = np.isnan(values), []
    for seed in range(N_RUNS):
        own = GapFilter(START, moves, emission, values, log_known, N_PARTICLES, seed)
        drawn, tail = own.draw(5), own.tail()
        lagged = (tail.ends.sum(axis=0) @ tail.lags).sum(axis=0)
        assert_allclose(tail.ends.sum(axis=(0, 2)), own.filtered[-1], rtol=1e-9)
        assert_allclose(drawn[:, ~hidden], np.tile(values[~hidden], (5, 1)))
        figures = [1.0], own.filtered[-1], drawn[:, hidden].mean(axis=0), lagged
        found.append(np.exp(own.log_steps.sum()) * np.concatenate(figures))
    last = values[::-1][: max(lags)].ravel() * total
    for (t, d), mean in zip(np.argwhere(hidden), means, strict=True):
        if len(values) - t <= max(lags):
            last[(len(values) - 1 - t) * values.shape[1] + d] = mean
    expected = np.concatenate([[total], states[-1], means, last])
    error = np.std(found, axis=0) / np.sqrt(N_RUNS)
    away = np.abs(np.mean(found, axis=0) - expected)
    assert np.all(away < 5.0 * error + 1e-7 * np.abs(expected).max()), away / (error + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["two stretches", "both first", "last", "known"])
def test_posteriors_and_changes_with_missing_values(case):
    """At most 30 figures a case, |z| < 5: a false alarm in 1e-4 of seeds."""
    lags, values, emission, known, log_known = make_case(case)
    total, states, _, changes = expect(emission, lags, None, values, known)
    expected = np.column_stack([states, changes])
    model, found = make_model(None, emission), []
    moves = StateMoves(model.transmat, None)
    for seed in range(N_RUNS):
        own = GapFilter(START, moves, emission, values, log_known, N_PARTICLES, seed)
        found.append(np.exp(own.log_steps.sum()) * np.column_stack(own.smooth(4)))
    error = np.std(found, axis=0) / np.sqrt(N_RUNS)
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 5.0 * error + 1e-7 * total)


def test_posteriors_of_panels_with_missing_values():
    lags, values, emission, *_ = make_case("two stretches")
    total, states, _, _ = expect(emission, lags, None, values)
    model = make_model(None, emission)
    both = model.posteriors(np.array([0, 7, 9]), np.vstack([values, values[:2]]))
    assert_allclose(both[:7], states / total, atol=0.1)
    assert_allclose(both[7:], model.posteriors(np.array([0, 2]), values[:2]), rtol=1e-12)


GAPS = {
    "far apart": [range(40, 43), range(200, 201)],
    "near": [range(40, 43), range(46, 48), range(50, 51)],
    "first": [range(1, 2), range(100, 120)],
    "last": [range(100, 110), range(295, 300)],
}


@pytest.mark.parametrize("is_sticky", [False, True])
@pytest.mark.parametrize("gaps", GAPS)
def test_smoothing_between_gaps(gaps, is_sticky, monkeypatch):
    """One particle: the model of the completed sequence. More: with and without the short cut."""
    emission = make_emission(2, (1, 2), True)
    model = make_model(None, emission)
    if is_sticky:
        model = replace(model, transmat=1e-3 * model.transmat + 0.999 * np.eye(3))
    rng, moves = np.random.default_rng(1), StateMoves(model.transmat, None)
    values = emission.sample(model.draw_states(300, rng), rng)
    for gap in GAPS[gaps]:
        values[gap, :1] = NAN
    bounds = np.array([0, 300])

    def run(n_particles):
        return GapFilter(START, moves, emission, values, None, n_particles, 3)

    draw = run(1).draw(3)[0]
    assert_allclose(run(1).impute(3), draw, rtol=1e-12)
    posteriors, changes = run(1).smooth(3)
    assert_allclose(posteriors, model.posteriors(bounds, draw), atol=1e-12)
    assert_allclose(changes, model.changes(bounds, draw), atol=1e-12)
    short = run(50).smooth(7)
    monkeypatch.setattr("skdp.sequence._hmm._gap_filter._SAME", -1.0)
    for one, other in zip(short, run(50).smooth(7), strict=True):
        assert_allclose(one, other, atol=1e-11)
    # Steps before the first gap are filtered as without gaps.
    first = GAPS[gaps][0][0]
    before = model.filtered(np.array([0, first]), values[:first])
    if first > 2:
        assert_allclose(run(50).filtered[:first], before, rtol=1e-12)


@every_duration
def test_changes_with_missing_values(duration, monkeypatch):
    """5 figures, means over 20 seeds of 50 draws: .05 is more than seven standard errors."""
    lags, values, emission, *_ = make_case("two in a row")
    total, _, _, changes = expect(emission, lags, duration, values)
    model, found = make_model(duration, emission), []
    ptr, both = np.array([0, 6, 9]), np.vstack([values, values[3:]])
    for seed in range(20):
        monkeypatch.setattr("skdp.sequence._hmm._gap_filter.crc32", lambda _, own=seed: own)
        found.append(model.changes(ptr, both))
    found = np.mean(found, axis=0)
    assert_allclose(found[:6], changes / total, atol=0.05)
    assert_allclose(found[6:], model.changes(np.array([0, 3]), values[3:]), rtol=1e-12)


def test_draws_know_what_follows():
    """After the gap, 2 is five times .4 or an accident: later values decide."""
    emission = AutoregressiveModel(
        np.array([[[0.0]], [[5.0]]]), np.zeros((2, 1)), np.array([[[1.0]], [[0.1]]]),
        np.full(2, 50.0), np.ones(2), np.zeros((2, 2, 2)), StartingLags(np.zeros(1), np.eye(1)),
    )  # fmt: skip
    moves, start = StateMoves(np.array([[0.5, 0.5], [0.0, 1.0]]), None), np.array([1.0, 0.0])
    shares = []
    for later in ([0.3, -0.2], [10.0, 50.0]):
        values = np.array([0.0, NAN, 2.0, *later])[:, np.newaxis]
        draws = GapFilter(start, moves, emission, values, None, 500).draw(200)
        shares.append(np.mean(np.abs(draws[:, 1, 0] - 0.4) < 0.15))
    assert shares[0] < 0.25
    assert shares[1] > 0.4


def test_a_change_at_a_gap():
    """The values after a gap show a change within it that has probability .01 before. Mean errors
    of 20 seeds, compared with quadrature over the missing value: .04 and .14. Complete sequences
    are exact. If states are proposed by their probability, the errors are .19 and .58."""
    emission = AutoregressiveModel(
        np.array([[[0.9]], [[-0.5]]]), np.array([[3.0], [3.0]]), np.ones((2, 1, 1)),
        np.full(2, 100.0), np.ones(2), np.zeros((2, 2, 2)),
        StartingLags(np.array([30.0]), np.eye(1)), LagDesign((1,), False), None,
    )  # fmt: skip
    moves = StateMoves(np.array([[0.99, 0.01], [0.01, 0.99]]), None)
    values = np.array([30.0, 29.5, 30.5, 30.0, NAN, 8.0, -1.5, 4.0])[:, np.newaxis]
    startprob = np.array([0.9, 0.1])
    line = np.linspace(-25.0, 45.0, 1401)
    filled = np.repeat(values[np.newaxis], len(line), axis=0)
    filled[:, 4, 0] = line
    whole = [GapFilter(startprob, moves, emission, each).log_steps.sum() for each in filled]
    weights = np.exp(whole - np.max(whole))
    expected = np.log(weights.sum() * 0.05) + np.max(whole), weights @ line / weights.sum()
    found = [GapFilter(startprob, moves, emission, values, seed=seed) for seed in range(20)]
    errors = np.array([[f.log_steps.sum(), f.impute()[4, 0]] for f in found]) - expected
    assert np.all(np.abs(errors).mean(axis=0) < [0.08, 0.28])
    assert all(each.log_steps[4] == 0.0 for each in found)  # nothing is observed there
