"""scikit-learn's checks on mixtures."""

from scikit_learn_checks import scikit_learn_checks

from skdp.mixture import DPMixture, IBPLatentFeatures, PitmanYorMixture


@scikit_learn_checks(
    [
        PitmanYorMixture(max_iter=20),
        DPMixture(max_iter=20),
        DPMixture(max_iter=20, sampler="blocked"),
        IBPLatentFeatures(max_iter=20),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
