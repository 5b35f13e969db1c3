from random import Random

import numpy as np
import pytest

from skdp.inspection._word_draws import WordLaw


def test_no_law():
    assert WordLaw.of(None, None, None) is None


def test_numbers_are_a_law_without_context():
    law = WordLaw.of(0.5, 2, None)
    assert law.discounts.tolist() == [0.5]
    assert law.concentrations.tolist() == [2.0]


def test_lengths():
    law = WordLaw.of([0.5, 0.5], [1.0, 1.0], [0.5, 0.5])
    words = law.draw(np.array([3, 0, 2]), Random(0))
    assert words.shape == (5,)
    assert set(words.tolist()) <= {0, 1}
    assert law.draw(np.array([0]), Random(0)).shape == (0,)
    np.testing.assert_array_equal(law.draw(np.array([3, 0, 2]), Random(0)), words)


def test_new_words_are_numbered_as_they_come():
    words = WordLaw.of(0.9, 5.0, None).draw(np.array([200]), Random(0))
    _, first = np.unique(words, return_index=True)
    assert np.all(np.diff(first) > 0)
    assert words.max() + 1 == len(first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, None, None), "belong together"),
        ((None, 1.0, None), "belong together"),
        ((None, None, [1.0]), "base needs a discount"),
        ((1.0, 1.0, None), r"discount must be in \[0, 1\)"),
        ((0.5, 0.0, None), "concentration must be finite and > 0"),
        ((0.5, np.inf, None), "concentration must be finite and > 0"),
        (([0.5, 0.5], 1.0, None), r"got shapes \(2,\) and \(1,\)"),
        (([], [], None), "one for each length of context"),
        (("auto", 1.0, None), "discount must hold real numbers"),
        ((0.5, 1.0, [0.5, 0.2]), "probabilities with sum 1"),
        ((0.5, 1.0, [1.5, -0.5]), "probabilities with sum 1"),
    ],
)
def test_invalid_laws(arguments, message):
    with pytest.raises(ValueError, match=message):
        WordLaw.of(*arguments)
