"""A fit warns if, and only if, its samples reach a bound that the user has set."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.language import CollocationPitmanYorLM, NestedPitmanYorLM
from skdp.sequence import HDPHMMLT, NegativeBinomialDuration, PoissonDuration
from skdp.topics import AdaptiveTopicModel, HDPTopicModel, SegmentedTopicModel

RNG = np.random.default_rng(0)
LEVELS = np.repeat([0.0, 5.0, 0.0, 5.0], 90)[:, np.newaxis] + RNG.normal(size=(360, 1))
DOCUMENTS = [[(3 * (d % 6) + RNG.integers(0, 3, 12)).tolist()] * 2 for d in range(24)]
WORDS = ["kitten", "puppy", "catalogue", "horse"]
TEXTS = ["".join(RNG.choice(WORDS, 4)) for _ in range(60)]
SCHEDULE = {"max_iter": 40, "random_state": 0}


def language(cls, bound, longest=None):
    others = {} if longest is None else {"max_collocation_length": longest}
    return cls(max_word_length=bound, **others, **SCHEDULE), TEXTS


def states(kind, bound):
    return HDPHMMLT(5, duration=kind(max_duration=bound), **SCHEDULE), LEVELS


def topics(cls, bound):
    first = () if cls is HDPTopicModel else ("auto",)
    return cls(*first, initial_components=3, max_components=bound, **SCHEDULE), DOCUMENTS


CASES = {
    "poisson": ("max_duration", lambda n: states(PoissonDuration, n), 30, 300),
    "negative binomial": ("max_duration", lambda n: states(NegativeBinomialDuration, n), 30, 800),
    "HDP": ("max_components", lambda n: topics(HDPTopicModel, n), 3, 40),
    "segmented": ("max_components", lambda n: topics(SegmentedTopicModel, n), 3, 40),
    "adaptive": ("max_components", lambda n: topics(AdaptiveTopicModel, n), 3, 40),
    "words": ("max_word_length", lambda n: language(NestedPitmanYorLM, n), 4, 16),
    "words of collocations": (
        "max_word_length", lambda n: language(CollocationPitmanYorLM, n, 32), 4, 16,
    ),
    "collocations": (
        "max_collocation_length", lambda n: language(CollocationPitmanYorLM, 6, n), 6, 60,
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_bounds(name):
    kind, make, low, high = CASES[name]
    model, X = make(high)
    assert kind not in model.fit(X).convergence_
    model, X = make(low)
    with pytest.warns(ConvergenceWarning, match=f"{kind}.*See convergence_\\['{kind}'\\]"):
        model.fit(X)
    found = model.convergence_[kind]
    assert found["bound"] == low
    assert 2 * found["n_full"] >= found["n_samples"] >= 1
