"""The oracle of Kneser-Ney smoothing: an example by hand, and what must hold of any model."""

from math import log

import pytest
from exact.language.franchise import events_of, predictive
from exact.language.kneser_ney import KneserNey

CORPUS = [[0, 1, 0], [0, 1, 2], [1, 1], [0, 1, 0, 0, 2, 1], []]
KINDS = ["modified", "absolute", 0.4, [0.2, 0.5, 0.7]]
CONTEXTS = [(), (-1,), (0,), (1,), (3,), (-1, 0), (0, 1), (2, 1), (1, 2, 1), (0, 3), (3, 1)]


def test_by_hand():
    """Sentences "0 1" twice and "0 2", order 2, D = 1/2.

    -1: 0 three times. 0: 1 twice, 2 once. 1: the end twice. 2: the end.
    Contexts of 0: -1; of 1: 0; of 2: 0; of the end, 3: 1 and 2. So the root's counts are
    1, 1, 1, 2 of 5, and four outcomes give up a half each: 2/5 of its mass, 1/10 an outcome.
    """
    model = KneserNey([[0, 1], [0, 1], [0, 2]], 3, 2, discount=0.5)
    root = [0.5 / 5 + 0.1] * 3 + [1.5 / 5 + 0.1]
    assert [model.probability((), w) for w in range(4)] == pytest.approx(root, rel=1e-14)
    assert model.probability((0,), 1) == pytest.approx(1.5 / 3 + (1 / 3) * 0.2, rel=1e-14)
    assert model.probability((0,), 2) == pytest.approx(0.5 / 3 + (1 / 3) * 0.2, rel=1e-14)
    assert model.probability((0,), 3) == pytest.approx((1 / 3) * 0.4, rel=1e-14)
    assert model.probability((-1,), 0) == pytest.approx(2.5 / 3 + (1 / 6) * 0.2, rel=1e-14)
    assert model.log_proba([0]) == pytest.approx(
        [log(2.5 / 3 + 0.2 / 6), log(0.4 / 3)], rel=1e-14
    )  # fmt: skip


def test_events_at_the_beginning_count_as_often_as_they_happen():
    """Order 3: (-1,) has events of its own, three of word 0; (0,) has contexts (-1, 0) alone."""
    model = KneserNey([[0, 1]] * 3, 2, 3, discount=0.5)
    assert model.counts[1][-1,] == {0: 3}
    assert model.counts[1][0,] == {1: 1}
    assert model.counts[0][()] == {0: 1, 1: 1, 2: 1}


def test_discounts_of_chen_and_goodman():
    """n_1 = 4, n_2 = 3, n_3 = 2, n_4 = 1: Y = 4/10."""
    corpus = [[w] * c for w, c in enumerate([1] * 4 + [2] * 3 + [3] * 2 + [4])]
    model = KneserNey(corpus, 10, 1, end_of_sequence=False)
    expected = 1 - 0.8 * 3 / 4, 2 - 1.2 * 2 / 3, 3 - 1.6 * 1 / 2
    assert model.discounts[0] == pytest.approx(expected, rel=1e-14)
    assert not model.fallbacks
    assert KneserNey(corpus, 10, 1, "absolute", False).discounts[0] == (0.4, 0.4, 0.4)
    # A word seen seven times gives up as much as one seen three times.
    assert KneserNey([[0] * 7], 2, 1, [(0.1, 0.2, 0.3)], False).probability((), 1) == 0.3 / 7 / 2


def test_discounts_without_counts_of_counts():
    """Without words seen once D_1 has no estimate; without any seen three times D_2 would be 2."""
    model = KneserNey([[0, 0]], 1, 1, end_of_sequence=False)
    assert model.discounts[0] == (0.5, 1.0, 1.5)
    assert model.fallbacks == {(0, 1), (0, 2), (0, 3)}
    once = KneserNey([[0, 1]], 2, 1, "absolute", end_of_sequence=False)
    assert once.discounts[0] == (0.5, 0.5, 0.5)  # n_1 / (n_1 + 2 n_2) = 1
    assert once.fallbacks == {(0, 1)}


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_events(order):
    model = KneserNey(CORPUS, 4, order)
    for words in CORPUS:
        assert model.events(words) == events_of(words, order, 4)


@pytest.mark.parametrize("end_of_sequence", [False, True])
@pytest.mark.parametrize("discount", KINDS, ids=str)
def test_probabilities_sum_to_one(discount, end_of_sequence):
    model = KneserNey(CORPUS, 4, 3, discount, end_of_sequence)
    for context in CONTEXTS:
        values = [model.probability(context, w) for w in range(model.n_outcomes)]
        assert sum(values) == pytest.approx(1.0, rel=1e-13)
        assert min(values) > 0.0


def test_unseen_contexts_fall_to_their_longest_seen_suffix():
    model = KneserNey(CORPUS, 4, 3)
    assert model.probability((3, 1), 2) == model.probability((1,), 2)
    assert model.probability((3, 3), 2) == model.probability((), 2)
    assert model.probability((2, 2, 0, 1), 0) == model.probability((0, 1), 0)
    assert model.probability((0, 1), 0) != model.probability((1,), 0)


def test_is_the_predictive_of_a_franchise_with_one_table_a_cell():
    discounts = [0.2, 0.5, 0.7]
    model = KneserNey(CORPUS, 4, 3, discounts)
    customers = {
        (u, w): c for of in model.counts for u, outcomes in of.items() for w, c in outcomes.items()
    }
    tables = dict.fromkeys(customers, 1)
    for context in CONTEXTS:
        for w in range(5):
            expected = predictive(
                context[-2:], w, customers, tables, discounts, [0.0] * 3, {w: 0.2}
            )
            assert model.probability(context, w) == pytest.approx(expected, rel=1e-13)
