"""Moves that split and merge states of all kinds of observations against enumeration.

As in `test_split_merge`, no other moves of states: a wrong evidence shows at once.
"""

import math
from functools import partial

import pytest
from exact.emissions.test_independent import EMISSION, GAPS, ROWS, log_mixed_evidence
from exact.oracles.autoregression import MatrixNormalInverseWishart
from exact.oracles.events import (
    log_bit_evidence,
    log_count_evidence,
    log_row_evidence,
    log_symbol_evidence,
)
from exact.oracles.hdp_hmm import Problem
from exact.oracles.regression import Logistic, Poisson, log_coef_evidence, log_linear_evidence
from exact.oracles.student_t import log_column_evidence
from exact.sequence.hmm.test_split_merge import check

from skdp.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    MultinomialEmission,
    PoissonEmission,
    RegressionEmission,
    StudentTEmission,
)

NAN = math.nan
BITS = (((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)), ((NAN, 1.0), (1.0, 1.0), (NAN, NAN)))
BAGS = (((2.0, 0.0), (0.0, 1.0), (1.0, 1.0)), ((NAN, NAN), (0.0, 2.0), (0.0, 0.0)))
MIXED = tuple(map(tuple, ROWS[:3].tolist())), tuple(map(tuple, ROWS[3:].tolist()))
MIXED_GAPS = tuple(map(tuple, GAPS[:3].tolist())), tuple(map(tuple, GAPS[3:].tolist()))
COUNTS = (((2.0, 0.0), (NAN, 1.0), (3.0, NAN)), ((NAN, NAN), (0.0, 3.0), (2.0, 0.0)))
SYMBOLS = (((0.0,), (0.0,), (NAN,)), ((2.0,), (NAN,), (2.0,), (0.0,)))
NUMBERS = (((-0.9,), (0.1,), (6.0,)), ((1.0,), (NAN,), (-1.6,)))
LINE = (0.2, 0.5, 2.5, 0.8)
CHOICES = (
    ((1.0, 2.0), (0.0, -1.5), (1.0, 0.4)),
    ((0.0, 1.8), (NAN, 0.3), (1.0, -2.0)),
)
RESPONSES = (((1.1, 1.0), (-0.9, -1.0), (0.4, -1.2)), ((NAN, 0.3), (-1.4, 1.3), (0.8, 0.9)))
SPIKES = (((3.0, 1.0), (0.0, -1.2), (1.0, 0.4)), ((0.0, 1.4), (NAN, 0.3), (4.0, -0.8)))
COEFS = Logistic((0.4, -0.3), ((0.3, 0.1), (0.1, 0.4)))
RATES = Poisson((0.3, 0.2), ((0.9, 0.1), (0.1, 0.5)))
SLOPE = MatrixNormalInverseWishart(((0.3, 0.1),), ((0.6, 0.1), (0.1, 0.4)), 2.5, ((0.5,),))
LOGISTIC = RegressionEmission(
    0, 1, "bernoulli", coef_prior=[COEFS.mean], coef_precision_prior=COEFS.precision
)
LOG_LINEAR = RegressionEmission(
    0, 1, "poisson", coef_prior=[RATES.mean], coef_precision_prior=RATES.precision
)
LINEAR = RegressionEmission(
    0,
    1,
    coef_prior=SLOPE.coefs,
    coef_precision_prior=SLOPE.precision,
    degrees_of_freedom_prior=SLOPE.freedom,
    covariance_prior=SLOPE.scale,
)


def log_number_evidence(rows):
    return log_column_evidence(tuple(sorted(x for (x,) in rows)), 1.5, LINE)


CASES = {
    "bits": (
        Problem(BITS, n_states=3, evidence=partial(log_bit_evidence, prior=(0.6, 0.8))),
        BernoulliEmission((0.6, 0.8)),
    ),
    "bags": (
        Problem(BAGS, n_states=3, kappa=0.5, evidence=partial(log_row_evidence, prior=(0.4, 0.7))),
        MultinomialEmission([0.4, 0.7]),
    ),
    "counts": (
        Problem(COUNTS, n_states=3, evidence=partial(log_count_evidence, shape=0.8, rate=0.3)),
        PoissonEmission(0.8, 0.3),
    ),
    "symbols": (
        Problem(SYMBOLS, evidence=partial(log_symbol_evidence, prior=(0.4, 0.7, 0.2))),
        CategoricalEmission(3, [0.4, 0.7, 0.2]),
    ),
    "mixed": (Problem(MIXED, n_states=3, evidence=log_mixed_evidence), EMISSION),
    "mixed, gaps in all parts": (
        Problem(MIXED_GAPS, n_states=3, evidence=log_mixed_evidence),
        EMISSION,
    ),
    "choices": (
        Problem(CHOICES, n_states=3, evidence=partial(log_coef_evidence, prior=COEFS)),
        LOGISTIC,
    ),
    "spikes": (
        Problem(SPIKES, n_states=3, evidence=partial(log_coef_evidence, prior=RATES)),
        LOG_LINEAR,
    ),
    "responses": (
        Problem(RESPONSES, n_states=3, evidence=partial(log_linear_evidence, prior=SLOPE)),
        LINEAR,
    ),
    "outliers": (
        Problem(NUMBERS, n_states=3, evidence=log_number_evidence),
        StudentTEmission(
            1.5,
            mean_prior=[0.2],
            mean_precision_prior=0.5,
            degrees_of_freedom_prior=2.5,
            covariance_prior=[[0.8]],
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_posterior(case):
    """|z| < 5 for up to 25 figures a case: a false alarm in 1e-5 cases."""
    problem, emission = CASES[case]
    check(problem, 20_000, 200_000, emission=emission)


@pytest.mark.parametrize("case", CASES)
def test_posterior_in_short(case):
    """|z| < 5 for up to 25 figures a case: a false alarm in 1e-5 cases."""
    problem, emission = CASES[case]
    check(problem, 4_000, 40_000, emission=emission)
