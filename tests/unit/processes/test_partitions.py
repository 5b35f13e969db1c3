import numpy as np
import pytest

from skdp.processes import sample_crp, sample_gem


def test_crp_numbers_tables_in_order():
    seats = sample_crp(500, discount=0.5, concentration=2.0, random_state=0)
    first = [np.flatnonzero(seats == table)[0] for table in range(seats.max() + 1)]
    assert first == sorted(first)
    assert len(sample_crp(0, discount=0.5, concentration=2.0)) == 0


def test_crp_goes_on():
    """New tables follow those with customers, in the order in which they open."""
    good = {"discount": 0.5, "concentration": 20.0, "random_state": 0}
    seats = sample_crp(200, counts=[3, 1], **good)
    assert seats.shape == (200,)
    assert {0, 1} <= set(seats.tolist())
    new = seats[seats >= 2]
    first = [np.flatnonzero(new == table)[0] for table in range(2, new.max() + 1)]
    assert len(first) > 10
    assert first == sorted(first)
    assert sample_crp(0, counts=[3, 1], **good).shape == (0,)
    np.testing.assert_array_equal(sample_crp(9, counts=[], **good), sample_crp(9, **good))
    crowded = sample_crp(50, discount=0.5, concentration=1.0, counts=[1, 10**6], random_state=0)
    assert np.mean(crowded == 1) > 0.9


@pytest.mark.parametrize("counts", [[0], [2, 0], [-1], [1.5], [[1]], 3, "ab", [np.nan], None])
def test_bad_counts(counts):
    with pytest.raises(ValueError, match=r"^counts must"):
        sample_crp(3, discount=0.5, concentration=1.0, counts=counts)


def test_more_customers_than_memory():
    with pytest.raises(ValueError, match=r"n=3 seats and those of 2 counts.*memory"):
        sample_crp(3, discount=0.5, concentration=1.0, counts=[10**17, 2**61])


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
    for function in (sample_crp, sample_gem):
        with pytest.raises(ValueError, match=rf"^{name} must"):
            function(5, **{**good, **change})


def test_bad_sizes():
    good = {"discount": 0.5, "concentration": 1.0}
    with pytest.raises(ValueError, match=r"^n must"):
        sample_crp(-1, **good)
    with pytest.raises(ValueError, match=r"^n_components must"):
        sample_gem(0, **good)
    with pytest.raises(ValueError, match=r"^n_components may be None"):
        sample_gem(**good)
    with pytest.raises(ValueError, match=r"^tolerance must"):
        sample_gem(5, tolerance=1.0, **good)
