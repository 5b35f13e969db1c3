"""Warnings of numbers of components that still grow or fall.

Traces of normal noise are seeded.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.inference._convergence import warn_of_drifts
from skdp.inference._trace import Trace

NOISE = np.random.default_rng(0).normal(size=(2, 48)).round()
STEADY = 40.0 + NOISE
FALLS = 60.0 - np.linspace(0.0, 20.0, 48).round() + NOISE


def check(numbers):
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
        found = check(numbers)
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
@pytest.mark.filterwarnings("error")
def test_no_drift(numbers):
    check(numbers)
