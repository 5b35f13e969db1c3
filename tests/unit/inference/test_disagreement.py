"""Warnings of chains that disagree. Traces of normal noise are seeded."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.inference._convergence import warn_of_disagreement
from skdp.inference._diagnostics import find_gap, rank_r_hat
from skdp.inference._trace import Trace

NOISE = np.random.default_rng(0).normal(size=(2, 48))
APART = NOISE + np.array([[0.0], [4.0]])
LINE = np.linspace(0.0, 40.0, 48)


def make_chains(correlation, n_fits, n_chains, n_kept):
    """Draw stationary autoregressive chains with a variance of 1."""
    rng = np.random.default_rng(0)
    chains = rng.standard_normal((n_fits, n_chains, n_kept))
    for i in range(1, n_kept):
        fresh = np.sqrt(1.0 - correlation**2) * chains[..., i]
        chains[..., i] = correlation * chains[..., i - 1] + fresh
    return chains


def check(number="n_components", **scalars):
    n_kept = next(iter(scalars.values())).shape[1]
    model = SimpleNamespace(max_iter=96, verbose=0, convergence_={}, _name_of_number=number)
    warn_of_disagreement(model, Trace(np.arange(n_kept), scalars))
    return model.convergence_.get("disagreement", {})


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
    fits = make_chains(correlation, 2000, n_chains, n_kept)
    assert sum(find_gap(fit) is not None for fit in fits) <= most


@pytest.mark.parametrize("n_chains", [2, 4])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_chains_apart_are_found(n_chains, correlation):
    """One chain, by five standard deviations: in 26 sweeps, as many as a default fit keeps."""
    fits = make_chains(correlation, 100, n_chains, 26)
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


def test_numbers_of_both_scalars():
    with pytest.warns(ConvergenceWarning) as caught:
        numbers = check(
            log_joint=-100.0 + APART, n_components=np.array([[5.0], [9.0]]) + 0.0 * NOISE
        )
    (message,) = [str(w.message) for w in caught]
    assert "\n" not in message
    assert "the chains disagree about the log joint or the number of components" in message
    assert not set(message) & set("0123456789")
    assert numbers["log_joint"]["low"] == pytest.approx(-99.93, abs=0.01)
    assert numbers["n_components"] == {"low": 5.0, "high": 9.0, "r_hat": np.inf}


@pytest.mark.parametrize(
    "scalars",
    [
        {"log_joint": -1e5 + APART},  # four in 100,000
        {"log_joint": -3.0 + 0.1 * APART},  # less than a nat
        {"n_components": 60.0 + APART},  # less than a tenth
        {"n_components": 3.0 + 0.1 * NOISE + [[0.0], [0.8]]},  # less than one
        {"log_joint": -100.0 + APART + [LINE, 0.0 * LINE]},  # that it climbs is said elsewhere
        {"log_joint": -100.0 + APART - [LINE, 0.0 * LINE]},  # that it falls, too
        {"n_components": 60.0 + APART - [LINE, 0.0 * LINE]},  # that it falls, too
        {"concentration": APART},
    ],
    ids=[
        "little log joint",
        "less than a nat",
        "a few of many",
        "less than one",
        "climbs",
        "falls",
        "fewer",
        "another",
    ],
)
@pytest.mark.filterwarnings("error")
def test_silence(scalars):
    check(**scalars)


def test_number_with_another_name():
    states = np.array([[5.0], [9.0]]) + 0.0 * NOISE
    with pytest.warns(ConvergenceWarning):
        numbers = check("n_active_components", n_active_components=states, n_components=7.0 + APART)
    assert numbers == {"n_active_components": {"low": 5.0, "high": 9.0, "r_hat": np.inf}}


def test_one_component_more_or_less():
    with pytest.warns(ConvergenceWarning):
        numbers = check(n_components=np.repeat([[4.0], [5.0]], 48, axis=1))
    assert numbers == {"n_components": {"low": 4.0, "high": 5.0, "r_hat": np.inf}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(n_components=np.repeat([[14.0], [15.0]], 48, axis=1))
