"""Errors about long values stay short, whichever parameter they concern."""

import numpy as np
import pytest
from sklearn.base import clone
from small_fits import FITS

from skdp.sequence import (
    HDPHMMLT,
    BernoulliEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    EmissionSimilarity,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
    MultinomialEmission,
    NegativeBinomialDuration,
    PoissonEmission,
    StudentTEmission,
)

LONG = {
    "list": [1.0] * 10_000,
    "str": "x" * 10_000,
    "int": 10**4500,  # Python refuses to write it
    "list of int": [10**4500],
}
ROWS = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.abs(ROWS.round())
PARTS = {
    "emission": [
        (GaussianEmission(), ROWS),
        (StudentTEmission(), ROWS),
        (BinaryFactorEmission(2), ROWS),
        (PoissonEmission(), COUNTS),
        (CategoricalEmission(), COUNTS[:, :1]),
        (BernoulliEmission(), COUNTS > 0.0),
        (MultinomialEmission(), COUNTS),
    ],
    "similarity": [
        (GaussianSimilarity(), ROWS),
        (LaplacianSimilarity(), ROWS),
        (EmissionSimilarity(), ROWS),
        (FixedSimilarity(np.eye(2)), ROWS),
    ],
    "duration": [(NegativeBinomialDuration(), ROWS)],
}
CASES = {
    **{name: (estimator, data) for name, (estimator, _, data) in FITS.items()},
    **{
        type(part).__name__: (HDPHMMLT(2, **{role: part}), (X,))
        for role, cases in PARTS.items()
        for part, X in cases
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_messages_stay_short(name):
    estimator, data = CASES[name]
    if "max_iter" in estimator.get_params(deep=False):
        estimator = clone(estimator).set_params(max_iter=2)
    own = [key for key in estimator.get_params() if "__" in key]
    for key in own or estimator.get_params(deep=False):
        for value in LONG.values():
            broken = clone(estimator).set_params(**{key: value})
            try:
                broken.fit(*data)
            except (TypeError, ValueError) as error:
                message = str(error)
                assert len(message) < 1500, (key, message[:100])
                assert "integer string conversion" not in message, key
