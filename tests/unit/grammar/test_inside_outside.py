"""The public function `inside_outside`: shapes, forms of input, errors."""

import numpy as np
import pytest

from skdp.data import TokenSequences
from skdp.grammar import inside_outside

N_SYMBOLS, N_WORDS = 3, 4


def grammar(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "root": rng.random(N_SYMBOLS),
        "rule_type": rng.random((N_SYMBOLS, 2)),
        "emission": rng.random((N_SYMBOLS, N_WORDS)),
        "binary": rng.random((N_SYMBOLS,) * 3),
    }


def test_shapes_and_sums():
    """A sentence of n words has one root, n emissions and n - 1 binary rules."""
    sentences = [[0, 1, 2, 3, 0], [3], [1, 1]]
    found = inside_outside(sentences, **grammar())
    assert found.log_prob.shape == (3,)
    assert found.root_counts.shape == (N_SYMBOLS,)
    assert found.root_counts.sum() == pytest.approx(3.0)
    np.testing.assert_allclose(found.rule_type_counts.sum(axis=0), [8.0, 5.0])
    np.testing.assert_allclose(found.emission_counts.sum(axis=1), found.rule_type_counts[:, 0])
    np.testing.assert_allclose(found.emission_counts.sum(axis=0), [2.0, 3.0, 1.0, 2.0])
    np.testing.assert_allclose(found.binary_counts.sum(axis=(1, 2)), found.rule_type_counts[:, 1])


def test_weights_of_rules_are_products():
    """The types' weights go to the rules, or the other way round."""
    weights = grammar()
    whole = {
        **weights,
        "rule_type": np.ones((N_SYMBOLS, 2)),
        "emission": weights["rule_type"][:, :1] * weights["emission"],
        "binary": weights["rule_type"][:, 1, None, None] * weights["binary"],
    }
    sentences = [[0, 1, 2], [2, 2, 1, 0]]
    for first, second in zip(
        inside_outside(sentences, **weights), inside_outside(sentences, **whole), strict=True
    ):
        np.testing.assert_allclose(first, second, rtol=1e-12)


def test_forms_of_sentences():
    rows = np.array([[0, 1, 2], [3, 3, 0]])
    expected = inside_outside(rows, **grammar())
    forms = (rows.tolist(), list(rows), TokenSequences.from_sequences(rows.tolist()))
    for form in forms:
        for first, second in zip(expected, inside_outside(form, **grammar()), strict=True):
            np.testing.assert_array_equal(first, second)


def test_read_only_weights():
    weights = grammar()
    expected = inside_outside([[0, 1]], **weights)
    for array in weights.values():
        array.setflags(write=False)
    assert inside_outside([[0, 1]], **weights).log_prob == expected.log_prob


def test_unparseable_sentence():
    """It adds nothing to the counts of the others."""
    weights = grammar()
    weights["emission"][:, 3] = 0.0
    alone = inside_outside([[0, 1, 2]], **weights)
    found = inside_outside([[0, 1, 2], [1, 3]], **weights)
    assert found.log_prob[1] == -np.inf
    assert found.log_prob[0] == alone.log_prob[0]
    np.testing.assert_allclose(found.binary_counts, alone.binary_counts, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"root": []}, "root must have a weight for each symbol"),
        ({"root": [[1.0]]}, "root must have 1 dimension"),
        ({"root": np.ones(2)}, r"rule_type must be of shape \(2, 2\)"),
        ({"rule_type": np.ones((3, 3))}, r"rule_type must be of shape \(3, 2\)"),
        ({"emission": np.ones((2, 4))}, r"emission must be of shape \(3, n_words\)"),
        ({"emission": np.ones(3)}, "emission must have 2 dimension"),
        ({"binary": np.ones((3, 3, 2))}, r"binary must be of shape \(3, 3, 3\)"),
        ({"binary": np.full((3, 3, 3), -1.0)}, "binary must hold finite weights"),
        ({"root": [1.0, np.nan, 0.0]}, "root must hold finite weights"),
        ({"emission": np.full((3, 4), np.inf)}, "emission must hold finite weights"),
        ({"sentences": []}, "minimum of 1 is required"),
        ({"sentences": [[0], []]}, "Sentence 1 has no words"),
        ({"sentences": [[0], [4]]}, "word id 4 is out of range"),
        ({"sentences": [[0, -1]]}, "word id -1 is out of range"),
        ({"sentences": [[0.5, 1.0], [1.0]]}, "must be a sequence of word ids"),
        ({"sentences": ["a b"]}, "holds text"),
        ({"sentences": TokenSequences.from_sequences([[0, 5]])}, "word id 5 is out of range"),
    ],
)
def test_errors(change, message):
    with pytest.raises(ValueError, match=message):
        inside_outside(**{"sentences": [[0, 1]], **grammar(), **change})


def test_there_is_no_fit_whose_vocabulary_a_word_lacks():
    with pytest.raises(ValueError, match=r"id 4 .* not in the vocabulary, which has 4 words: "):
        inside_outside([[0], [4]], **grammar())
