"""scikit-learn's checks and ours, on models of sequences.

They have a file of their own so that another process may run them: their kernels are others."""

from scikit_learn_checks import scikit_learn_checks

from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    ChangePointDetector,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    IndependentEmissions,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    StateDetector,
    StudentTEmission,
)
from skdp.utils.estimator_checks import parametrize_with_ragged_checks

PHI = [[0.5, 0.1, 1.0], [1.0, 1.0, 0.2], [0.7, 0.3, 1.0]]


# Classes in y are no states, of which there may be one.
@scikit_learn_checks(
    [
        HDPHMMLT(3, max_iter=10, use_y=False),
        FactorialHMM(3, max_iter=10),
        StateDetector(3, features="values", max_iter=10, use_y=False),
        ChangePointDetector(use_y=False),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HDPHMMLT(3, **params, max_iter=10)
        for params in (
            {},
            {"emission": "categorical", "stickiness": "auto"},
            {"emission": "poisson", "state_sampler": "beam"},
            {"emission": "bernoulli", "stickiness": "auto"},
            {"emission": "multinomial"},
            {"emission": StudentTEmission("auto", "diag")},
            {"emission": IndependentEmissions([("all", "gaussian", slice(None))])},
            {"similarity": GaussianSimilarity(2), "stickiness": "auto"},
            {"similarity": "emission", "stickiness": "auto"},
            {"emission": "categorical", "similarity": EmissionSimilarity("bhattacharyya")},
            {"emission": "categorical", "similarity": FixedSimilarity(PHI)},
            {"emission": "categorical", "duration": PoissonDuration(max_duration=30)},
            {
                "emission": GaussianEmission("diag"),
                "similarity": GaussianSimilarity(2),
                "duration": NegativeBinomialDuration(max_duration=30),
            },
            {"emission": AutoregressiveEmission(), "stickiness": "auto"},
            {"emission": AutoregressiveEmission(2), "duration": PoissonDuration(max_duration=30)},
            {"emission": BinaryFactorEmission(2), "similarity": LaplacianSimilarity()},
            {"emission": BinaryFactorEmission("auto")},
        )
    ]
    + [FactorialHMM(3, max_iter=10)]
)
def test_ragged(estimator, check):
    check(estimator)
