"""scikit-learn's checks and ours, on language models."""

import numpy as np
import pytest
from scikit_learn_checks import scikit_learn_checks

from skdp.language import HierarchicalPitmanYorLM, KneserNeyLM, LanguageModelClassifier
from skdp.utils.estimator_checks import check_ragged_estimator, parametrize_with_ragged_checks


@scikit_learn_checks(
    [
        HierarchicalPitmanYorLM(2, max_iter=10),
        KneserNeyLM(2, discount=0.5),
        LanguageModelClassifier(KneserNeyLM(2, discount=0.5)),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


@parametrize_with_ragged_checks(
    [
        HierarchicalPitmanYorLM(3, max_iter=10),
        HierarchicalPitmanYorLM(1, max_iter=10),
        HierarchicalPitmanYorLM(None, max_iter=10),
        HierarchicalPitmanYorLM(2, max_iter=10, discount=0.5, end_of_sequence=False),
    ]
)
def test_ragged(estimator, check):
    check(estimator)


class ScoresByPlace(HierarchicalPitmanYorLM):
    """A model whose scores depend on the other sentences."""

    def score_samples(self, X):
        scores = super().score_samples(X)
        return scores - np.arange(len(scores))


def test_the_ragged_checks_of_text_can_fail():
    with pytest.raises(AssertionError):
        check_ragged_estimator(ScoresByPlace(2, max_iter=10))
