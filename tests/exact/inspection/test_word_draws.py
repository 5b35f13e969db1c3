"""Drawn texts against the enumeration of all seatings, chi-square tests at 1e-6."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from scipy import stats

from skdp.inspection._word_draws import WordLaw
from skdp.processes import expected_table_count


def text_probabilities(lengths, discounts, concentrations, base):
    """Return the probability of each text, by all ways in which its words can sit down."""
    order = len(discounts)
    places = [(i, j) for i, length in enumerate(lengths) for j in range(length)]
    texts = Counter()

    def seat(rooms, context, text):
        """Yield (probability, word, rooms) for a customer of a context; rooms: sizes and words."""
        if context is None:
            if base is None:
                yield 1.0, len(set(text)), rooms
            else:
                for word, p in enumerate(base):
                    yield p, word, rooms
            return
        m = len(context)
        d, theta = discounts[m], concentrations[m]
        tables = rooms.get(context, ())
        n = sum(size for size, _ in tables)
        for t, (size, word) in enumerate(tables):
            changed = (*tables[:t], (size + 1, word), *tables[t + 1 :])
            yield (size - d) / (theta + n), word, {**rooms, context: changed}
        opens = (theta + d * len(tables)) / (theta + n)
        for p, word, others in seat(rooms, context[1:] if m else None, text):
            yield opens * p, word, {**others, context: (*tables, (1, word))}

    def go(k, probability, rooms, text):
        if k == len(places):
            texts[text] += probability
            return
        _, j = places[k]
        before = [-1, *text[len(text) - j :]] if j else [-1]
        context = tuple(before[max(len(before) - order + 1, 0) :])
        for p, word, changed in seat(rooms, context, text):
            go(k + 1, probability * p, changed, (*text, word))

    go(0, 1.0, {}, ())
    return texts


@pytest.mark.parametrize(
    ("lengths", "discounts", "concentrations", "base"),
    [
        ([6], [0.8], [0.3], None),
        ([3, 1], [0.0], [0.5], [0.2, 0.8]),
        ([2, 2], [0.5, 0.3], [1.0, 0.4], None),
        ([1, 2, 1], [0.7, 0.2], [0.3, 2.0], [0.5, 0.0, 0.5]),
        ([4], [0.3, 0.6, 0.8], [2.0, 0.2, 0.1], [0.6, 0.4]),
    ],
)
def test_texts_are_drawn_with_their_probability(lengths, discounts, concentrations, base):
    probabilities = text_probabilities(lengths, discounts, concentrations, base)
    assert sum(probabilities.values()) == pytest.approx(1.0)
    law = WordLaw.of(discounts, concentrations, base)
    random, n = Random(0), 10_000
    found = Counter(tuple(law.draw(np.array(lengths), random).tolist()) for _ in range(n))
    assert found.keys() <= {text for text, p in probabilities.items() if p > 0.0}
    expected = n * np.array(list(probabilities.values()))
    observed = np.array([found[text] for text in probabilities])
    likely = expected > 5.0
    if not likely.all() and expected[~likely].sum() > 0.0:
        expected = np.append(expected[likely], expected[~likely].sum())
        observed = np.append(observed[likely], observed[~likely].sum())
    else:
        expected, observed = expected[likely], observed[likely]
    assert stats.chisquare(observed, expected).pvalue > 1e-6


@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 4.0), (0.6, 0.5), (0.9, 20.0)])
def test_a_text_has_the_expected_number_of_distinct_words(discount, concentration):
    law, random = WordLaw.of(discount, concentration, None), Random(1)
    found = [len(set(law.draw(np.array([40, 30]), random).tolist())) for _ in range(800)]
    expected = expected_table_count(70, discount, concentration)
    assert stats.ttest_1samp(found, expected).pvalue > 1e-6
