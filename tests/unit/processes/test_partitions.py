from fractions import Fraction

import numpy as np
import pytest
from scipy.special import digamma

from skdp.processes import expected_table_count, sample_crp, sample_gem


def recursion(n: int, a: Fraction, b: Fraction) -> float:
    """Add the probabilities of opening a table: E_{i+1} = E_i + (b + a E_i) / (b + i)."""
    expected = Fraction(1)
    for i in range(1, n):
        expected += (b + a * expected) / (b + i)
    return float(expected)


@pytest.mark.parametrize("a", ["0", "1e-12", "1/10", "1/2", "99/100"])
@pytest.mark.parametrize("b", ["1e-12", "1", "1e6", "1e15"])
def test_expected_table_count_is_stable(a, b):
    a, b = Fraction(a), Fraction(b)
    n = [1, 2, 3, 15, 16, 17, 18, 19, 40, 200]
    expected = [recursion(i, a, b) for i in n]
    np.testing.assert_allclose(expected_table_count(n, float(a), float(b)), expected, rtol=2e-12)


def test_expected_table_count_without_discount_at_large_n():
    n, b = 10**9, 3.0
    expected = b * (digamma(b + n) - digamma(b))
    np.testing.assert_allclose(expected_table_count(n, 0.0, b), expected, rtol=1e-11)


def test_expected_table_count_keeps_the_shape():
    assert expected_table_count([[0, 1], [2, 3]], 0.5, 1.0).shape == (2, 2)
    assert expected_table_count(0, 0.5, 1.0) == 0.0
    assert expected_table_count(1, 0.5, -0.4) == 1.0


def test_crp_numbers_tables_in_order():
    seats = sample_crp(500, discount=0.5, concentration=2.0, random_state=0)
    first = [np.flatnonzero(seats == table)[0] for table in range(seats.max() + 1)]
    assert first == sorted(first)
    assert len(sample_crp(0, discount=0.5, concentration=2.0)) == 0


@pytest.mark.parametrize("sample", [sample_crp, sample_gem])
def test_seeds(sample):
    def run(random_state):
        return sample(50, discount=0.5, concentration=2.0, random_state=random_state)

    np.testing.assert_array_equal(run(3), run(3))
    assert not np.array_equal(run(3), run(4))
    generator = np.random.default_rng(3)
    assert not np.array_equal(run(generator), run(generator))


def test_gem_sizes():
    assert sample_gem(1, discount=0.5, concentration=1.0).tolist() == [1.0]
    weights = sample_gem(7, discount=0.1, concentration=1.0, random_state=1)
    cut = sample_gem(7, discount=0.1, concentration=1.0, tolerance=0.2, random_state=1)
    assert len(cut) < 7
    np.testing.assert_array_equal(cut, weights[: len(cut)])


def test_gem_out_of_reach():
    with pytest.raises(ValueError, match=r"^tolerance=1e-10 is out of reach"):
        sample_gem(discount=0.9, concentration=1.0, tolerance=1e-10)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"discount": 1.0}, "discount"),
        ({"concentration": -0.5}, "concentration"),
        ({"concentration": np.nan}, "concentration"),
        ({"concentration": np.inf}, "concentration"),
    ],
)
def test_bad_parameters(change, name):
    good = {"discount": 0.5, "concentration": 1.0}
    for function in (sample_crp, sample_gem, expected_table_count):
        with pytest.raises(ValueError, match=rf"^{name} must"):
            function(5, **{**good, **change})


def test_bad_sizes():
    good = {"discount": 0.5, "concentration": 1.0}
    with pytest.raises(ValueError, match=r"^n must"):
        sample_crp(-1, **good)
    with pytest.raises(ValueError, match=r"^n must"):
        expected_table_count(1.5, **good)
    with pytest.raises(ValueError, match=r"^n_components must"):
        sample_gem(0, **good)
    with pytest.raises(ValueError, match=r"^n_components may be None"):
        sample_gem(**good)
    with pytest.raises(ValueError, match=r"^tolerance must"):
        sample_gem(5, tolerance=1.0, **good)
