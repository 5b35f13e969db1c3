"""Warnings of chains that disagree, and of numbers of components that drift.

Traces of normal noise are seeded."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.inference._convergence import warn_of_disagreement, warn_of_drifts
from skdp.inference._trace import Trace

NOISE = np.random.default_rng(0).normal(size=(2, 48))
APART = NOISE + np.array([[0.0], [4.0]])
LINE = np.linspace(0.0, 40.0, 48)


def check(number="n_components", **scalars):
    n_kept = next(iter(scalars.values())).shape[1]
    model = SimpleNamespace(max_iter=96, verbose=0, convergence_={}, _name_of_number=number)
    warn_of_disagreement(model, Trace(np.arange(n_kept), scalars))
    return model.convergence_.get("disagreement", {})


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
        "little log joint", "less than a nat", "a few of many", "less than one", "climbs", "falls",
        "fewer", "another",
    ],
)  # fmt: skip
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
    check(n_components=np.repeat([[14.0], [15.0]], 48, axis=1))


ROUND = NOISE.round()
STEADY = 40.0 + ROUND
FALLS = 60.0 - np.linspace(0.0, 20.0, 48).round() + ROUND


def check_drifts(numbers):
    rows = [[{"n_components": n} for n in chain] for chain in numbers]
    trace = Trace.from_chains(rows, [list(range(len(chain))) for chain in rows])
    model = SimpleNamespace(verbose=0, convergence_={})
    warn_of_drifts(model, trace, "kinds")
    return model.convergence_.get("n_components")


@pytest.mark.parametrize(
    ("numbers", "message", "first", "last"),
    [
        (FALLS, "number of kinds still falls in .* Raise max_iter", 56, 44),
        (FALLS[:, ::-1], "still grows", 44, 56),
        (np.stack([STEADY[0], FALLS[1]]), "still falls", 56, 44),
    ],
    ids=["falls", "grows", "one of two"],
)
def test_drifts(numbers, message, first, last):
    with pytest.warns(ConvergenceWarning, match=message):
        found = check_drifts(numbers)
    assert found == pytest.approx({"first": first, "last": last}, abs=1.0)


@pytest.mark.parametrize(
    "numbers",
    [
        STEADY,
        np.full((1, 48), 5.0),
        np.repeat([[3.0, 3.0, 4.0, 4.0]], 12, axis=1),  # one more is no drift
        400.0 - np.linspace(0.0, 20.0, 48).round()[None],  # nor is a twentieth
        FALLS[:, :4],
    ],
    ids=["steady", "constant", "one more", "a little", "few"],
)
def test_no_drift(numbers):
    check_drifts(numbers)
