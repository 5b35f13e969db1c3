"""Drawn texts against the enumeration of all seatings, chi-square tests at 1e-6."""

from collections import Counter
from itertools import islice, product
from random import Random

import numpy as np
import pytest
from exact.language.draws import check_counts
from exact.language.franchise import events_of
from exact.language.story import Franchise, fixed_base, seatings
from scipy import stats

from skdp.inspection._lexicon import WordLaw
from skdp.processes import expected_table_count


def new_word(state, word):
    """Return the draw from a base that never gives a word again."""
    return [] if ("", (), word) in state else [(1.0, state)]


def text_probabilities(lengths, discounts, concentrations, base):
    """Return the probability of each text, by all ways in which its words can sit down."""
    n = sum(lengths)
    texts = list(product(range(n if base is None else len(base)), repeat=n))
    if base is None:  # words are numbered as they come
        texts = [t for t in texts if all(w <= max((-1, *t[:i])) + 1 for i, w in enumerate(t))]
    draw = new_word if base is None else fixed_base(dict(enumerate(base)))
    franchise, probabilities = Franchise(discounts, concentrations, draw), {}
    for text in texts:
        words = iter(text)
        sentences = [list(islice(words, length)) for length in lengths]
        events = [event for words in sentences for event in events_of(words, len(discounts))]
        probabilities[text] = sum(p for p, _ in seatings(franchise, events))
    return probabilities


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
    check_counts(observed, expected)


@pytest.mark.parametrize(("discount", "concentration"), [(0.0, 4.0), (0.6, 0.5), (0.9, 20.0)])
def test_a_text_has_the_expected_number_of_distinct_words(discount, concentration):
    law, random = WordLaw.of(discount, concentration, None), Random(1)
    found = [len(set(law.draw(np.array([40, 30]), random).tolist())) for _ in range(800)]
    expected = expected_table_count(70, discount, concentration)
    assert stats.ttest_1samp(found, expected).pvalue > 1e-6
