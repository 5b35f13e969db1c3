"""scikit-learn's checks and ours, on models of sequences.

They have a file of their own so that another process may run them: their kernels are others."""

from scikit_learn_checks import scikit_learn_checks

from skdp import sequence
from skdp.utils.estimator_checks import parametrize_with_ragged_checks

PHI = [[0.5, 0.1, 1.0], [1.0, 1.0, 0.2], [0.7, 0.3, 1.0]]


# Classes in y are no states, of which there may be one.
@scikit_learn_checks(
    [
        sequence.HDPHMMLT(3, max_iter=10, use_y=False),
        sequence.FactorialHMM(3, max_iter=10),
        sequence.StateDetector(3, features="values", max_iter=10, use_y=False),
        sequence.ChangePointDetector(use_y=False),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        sequence.HDPHMMLT(3, **params, max_iter=10)
        for params in (
            {},
            {"emission": "categorical", "stickiness": "auto"},
            {"emission": "poisson", "state_sampler": "beam"},
            {"emission": "bernoulli", "stickiness": "auto"},
            {"emission": "multinomial"},
            {"emission": sequence.StudentTEmission("auto", "diag")},
            {"emission": sequence.IndependentEmissions([("all", "gaussian", slice(None))])},
            {"similarity": sequence.GaussianSimilarity(2), "stickiness": "auto"},
            {"similarity": "emission", "stickiness": "auto"},
            {"emission": "categorical", "similarity": sequence.EmissionSimilarity("bhattacharyya")},
            {"emission": "categorical", "similarity": sequence.FixedSimilarity(PHI)},
            {"emission": "categorical", "duration": sequence.PoissonDuration(max_duration=30)},
            {
                "emission": sequence.GaussianEmission("diag"),
                "similarity": sequence.GaussianSimilarity(2),
                "duration": sequence.NegativeBinomialDuration(max_duration=30),
            },
            {"emission": sequence.AutoregressiveEmission(), "stickiness": "auto"},
            {
                "emission": sequence.AutoregressiveEmission(2),
                "duration": sequence.PoissonDuration(max_duration=30),
            },
            {
                "emission": sequence.BinaryFactorEmission(2),
                "similarity": sequence.LaplacianSimilarity(),
            },
            {"emission": sequence.BinaryFactorEmission("auto")},
        )
    ]
    + [sequence.FactorialHMM(3, max_iter=10)]
)
def test_ragged(estimator, check):
    check(estimator)
