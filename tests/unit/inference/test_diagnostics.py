"""R-hat, effective sample sizes, chains that climb, and chains apart."""

import numpy as np
import pytest

from skdp.inference._trace import bulk_ess, find_climbs, find_gap, rank_r_hat


def autoregressive(correlation, shape, seed=0):
    """Draw stationary chains with a mean of 0 and a variance of 1."""
    rng = np.random.default_rng(seed)
    chains = rng.standard_normal(shape)
    for i in range(1, shape[-1]):
        fresh = np.sqrt(1.0 - correlation**2) * chains[..., i]
        chains[..., i] = correlation * chains[..., i - 1] + fresh
    return chains


SMALL = np.array([[0.3, 1.2, -0.5, 2.0, 0.7, 0.1, 0.9], [3.1, 2.2, 2.0, 0.4, 1.1, 2.5, 0.8]])


def test_values_of_arviz():
    """The values agree with those of ArviZ 0.23.4."""
    assert rank_r_hat(SMALL) == pytest.approx(1.3739820168489665, abs=1e-12)
    assert bulk_ess(SMALL) == pytest.approx(12.9501749525715, abs=1e-12)


@pytest.mark.slow  # the import alone takes seconds
@pytest.mark.filterwarnings("ignore")  # arviz's own
def test_arviz_agrees():
    """Whatever the number of chains and draws, ties, constants and trends."""
    arviz = pytest.importorskip("arviz")
    rng = np.random.default_rng(0)
    for seed in range(400):
        n_chains, n_draws = rng.integers(1, 5), rng.integers(2, 60)
        correlation = rng.choice([-0.8, 0.0, 0.5, 0.95])
        draws = autoregressive(correlation, (n_chains, n_draws), seed)
        kind = seed % 4
        if kind == 1:
            draws = draws.round()
        elif kind == 2:
            draws += 0.3 * np.arange(n_draws)
        elif kind == 3 and seed % 8 == 3:
            draws[:] = 3.0
        expected = arviz.ess(draws, method="bulk")
        np.testing.assert_allclose(bulk_ess(draws), expected, rtol=1e-6)
        if n_chains > 1:  # of one chain ArviZ gives NaN
            np.testing.assert_allclose(rank_r_hat(draws), arviz.rhat(draws), rtol=1e-6)


def test_of_a_process_whose_values_are_known():
    """An autoregressive process has (1 - r) / (1 + r) effective draws for each. The estimate has a
    standard deviation of some 5 percent here; R-hat is below 1.01 in 99 of 100 choices of the
    seed."""
    draws = autoregressive(0.6, (4, 5000))
    assert bulk_ess(draws) == pytest.approx(20_000 * 0.4 / 1.6, rel=0.2)
    assert 0.999 < rank_r_hat(draws) < 1.01
    draws[0] += 2.0
    assert rank_r_hat(draws) > 1.2
    draws = autoregressive(0.0, (4, 1000), 1)
    draws[0] *= 6.0  # the same mean: only the tails tell
    assert rank_r_hat(draws) > 1.2


def test_one_chain_is_compared_with_itself():
    draws = autoregressive(0.0, (1, 1000))
    assert rank_r_hat(draws) < 1.02
    assert rank_r_hat(draws + np.linspace(0.0, 4.0, 1000)) > 1.2


def test_of_little():
    assert np.isnan(rank_r_hat(SMALL[:, :3]))
    assert np.isnan(bulk_ess(SMALL[:, :3]))
    constant = np.full((2, 10), 3.0)
    assert np.isnan(rank_r_hat(constant))
    assert bulk_ess(constant) == 20.0
    infinite = SMALL.copy()
    infinite[0, 2] = -np.inf
    assert np.isnan(rank_r_hat(infinite))
    assert np.isnan(bulk_ess(infinite))


def count_found(chains):
    return sum(bool(find_climbs(chain[None])) for chain in chains)


@pytest.mark.parametrize(
    ("n_batches", "correlation", "most"),
    [
        *[(12, 0.0, 2), (12, 0.5, 9), (12, 0.7, 25)],
        *[(9, 0.0, 3), (9, 0.5, 10), (9, 0.7, 20)],
        *[(6, 0.0, 5), (6, 0.5, 11), (6, 0.7, 15), (6, 0.9, 20)],
    ],
)
def test_stationary_chains_rarely_climb(n_batches, correlation, most):
    """Correlations are those of batch means: 2,000 chains each. With 12 batches at most 0.01, 0.16
    and 0.7 percent are expected to be found: 0.2, 3.2 and 14 of 2,000; for 9 and 6 see
    `find_climbs`. More than `most` come up in less than 1 of 200 choices of the seed."""
    n_repeats = 10 if n_batches == 12 else 1
    chains = np.repeat(autoregressive(correlation, (2000, n_batches)), n_repeats, axis=1)
    if n_repeats == 1:
        assert count_found(chains) <= most
        return
    chains += 0.5 * np.random.default_rng(1).standard_normal(chains.shape)  # sweeps differ, too
    assert count_found(chains) <= most


@pytest.mark.parametrize(
    "shape",
    [lambda t: t, lambda t: 1.0 - np.exp(-3.0 * t), lambda t: 1.0 - np.exp(-10.0 * t)],
    ids=["line", "levels off", "levelled off"],
)
@pytest.mark.parametrize("n_kept", [9, 11, 12, 20, 126])
def test_climbs_are_found(shape, n_kept):
    """Climbs of 40 standard deviations of batch means are nearly always found; falls never."""
    noise = autoregressive(0.3, (100, n_kept))
    climb = 40.0 / np.sqrt(n_kept / 12) * shape(np.linspace(0.0, 1.0, n_kept))
    assert count_found(noise + climb) >= 80
    assert count_found(noise - climb) == 0


def test_one_chain_of_four_is_found():
    chains = autoregressive(0.3, (4, 40)) - 1e7
    assert not find_climbs(chains)
    chains[2] += np.linspace(0.0, 20.0, 40)
    (climb,) = find_climbs(chains).values()
    assert list(find_climbs(chains)) == [2]
    assert climb.height == pytest.approx(20.0 * 8 / 12, rel=0.2)
    assert 0.0 < climb.error < 3.0


def test_climbs_below_the_spread_do_not_count():
    """However sure they are."""
    rng = np.random.default_rng(0)
    chain = np.tile([-1.0, 1.0], 600) + 0.01 * rng.standard_normal(1200)
    assert not find_climbs((chain + np.linspace(0.0, 1.0, 1200))[None])
    assert find_climbs((chain + np.linspace(0.0, 2.0, 1200))[None])


def test_nothing_is_said_of_few_sweeps_or_of_what_is_not_finite():
    climb = np.arange(12.0)[None]
    assert find_climbs(climb)
    assert find_climbs(climb[:, :6])
    assert not find_climbs(climb[:, :5])
    for value in (np.nan, np.inf, -np.inf):
        bad = climb.copy()
        bad[0, 0] = value
        assert not find_climbs(bad)
    assert not find_climbs(np.zeros((2, 30)))


NOISE = np.random.default_rng(0).normal(size=(2, 48))
APART = NOISE + np.array([[0.0], [4.0]])


@pytest.mark.parametrize(
    ("n_chains", "n_kept", "correlation", "most"),
    [
        (2, 16, 0.5, 8),  # expected: 1.6 of 2,000
        (2, 24, 0.8, 18),  # 8
        (4, 16, 0.5, 5),  # 0.9
        (4, 24, 0.8, 22),  # 10.6
        (4, 48, 0.8, 6),  # 1
    ],
)
def test_settled_chains_are_seldom_found(n_chains, n_kept, correlation, most):
    """More than `most` of 2,000 come up in less than 1 of 500 choices of the seed."""
    fits = autoregressive(correlation, (2000, n_chains, n_kept))
    assert sum(find_gap(fit) is not None for fit in fits) <= most


@pytest.mark.parametrize("n_chains", [2, 4])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_chains_apart_are_found(n_chains, correlation):
    """One chain, by five standard deviations: in 26 sweeps, as many as a default fit keeps."""
    fits = autoregressive(correlation, (100, n_chains, 26))
    fits[:, 0] += 5.0
    assert sum(find_gap(fit) is not None for fit in fits) >= 80


def test_the_gap_is_that_of_the_means():
    gap = find_gap(APART - 1e7)
    assert gap.low == pytest.approx(NOISE[0].mean() - 1e7, abs=1e-6)
    assert gap.high == pytest.approx(NOISE[1].mean() + 4.0 - 1e7, abs=1e-6)
    assert gap.r_hat == rank_r_hat(APART - 1e7)


def test_gaps_below_the_spread_do_not_count():
    """However sure they are."""
    chains = np.tile([-1.0, 1.0], (2, 600)) + 0.01 * np.random.default_rng(0).normal(size=(2, 1200))
    assert find_gap(chains + np.array([[0.0], [1.3]])) is None
    assert find_gap(chains + np.array([[0.0], [1.6]])) is not None


@pytest.mark.parametrize(
    "draws",
    [APART[:1], APART[:, :15], np.full((2, 48), 3.0), np.where(APART > 4.0, np.nan, APART)],
    ids=["one chain", "few", "equal", "nan"],
)
def test_no_gap(draws):
    assert find_gap(draws) is None
