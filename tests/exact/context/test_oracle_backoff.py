"""The oracle of back-off against what can be said without it."""

from math import factorial

import numpy as np
import pytest
from exact.context.backoff import Model, Posterior
from exact.language.hpylm import Model as NgramModel
from exact.language.hpylm import enumerate_posterior


@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize("root", [False, True])
def test_probabilities_are_exchangeable(root, by_context):
    """p(first) p(second | first) is the same in any order: the chain rule holds."""
    model = Model(3, 2, root=root, by_context=by_context)
    one, two = (("a", "p"), 0), (("a", "q"), 1)

    def chain(first, second):
        return np.log(Posterior(model, [first]).predictive(second[0])[second[1]])

    assert chain(one, two) == pytest.approx(chain(two, one), rel=1e-8)


def test_one_column_is_a_bigram_model():
    """The same posterior as the oracle of n-grams has, which names contexts the other way round."""
    corpus = [[0, 1, 0], [0]]
    events = [((-1,), 0), ((0,), 1), ((1,), 0), ((0,), 2), ((-1,), 0), ((0,), 2)]
    mine = Posterior(Model(3, 1), events)
    other = enumerate_posterior(NgramModel(2, [None, None], [None, None]), corpus)
    np.testing.assert_allclose(mine.discounts, other.discounts, rtol=1e-10)
    for cell, value in other.tables.items():
        assert mine.tables[cell] == pytest.approx(value, rel=1e-10)
    for context in (0, 1, -1):
        np.testing.assert_allclose(mine.predictive((context,)), other.predictive((context,)))


def test_tables_follow_stirling_numbers_and_not_the_restaurant_process():
    """Erratum of 2.3.2: given outcomes, T has the weight s(n, T) (alpha / n_outcomes)^T."""
    model = Model(2, 1, root=False, discounts=[0.0], concentrations=[3.0])
    found = Posterior(model, [(("a",), 0)] * 4).tables[("a",), 0]
    first_kind = np.array([6, 11, 6, 1])  # s(4, T)
    weights = first_kind * 1.5 ** np.arange(1, 5)
    assert found == pytest.approx((weights * np.arange(1, 5)).sum() / weights.sum())
    printed = sum(3.0 / (3.0 + i) for i in range(4))
    assert found < printed - 0.3
    assert factorial(4) == first_kind.sum()
