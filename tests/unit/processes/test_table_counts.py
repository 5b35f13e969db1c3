import numpy as np
import pytest

from skdp.processes import sample_table_counts

SAMPLERS = ["btigs", "cmgs", "ssa"]
every_sampler = pytest.mark.parametrize("sampler", SAMPLERS)
GOOD = {"counts": [5, 1, 0], "base": [0.5, 0.3, 0.2], "discount": 0.5, "concentration": 1.0}


@every_sampler
def test_constraints(sampler):
    counts = np.array([40, 1, 0, 7])
    draws = sample_table_counts(
        counts, np.full(4, 0.25), discount=0.7, concentration=3.0, sampler=sampler, n_sweeps=200
    )
    assert draws.shape == (200, 4)
    assert draws.dtype == np.int64
    assert np.all(draws >= np.minimum(counts, 1))
    assert np.all(draws <= counts)
    assert len(np.unique(draws[:, 0])) > 1


@every_sampler
def test_seeds(sampler):
    def run(random_state):
        return sample_table_counts(
            [30, 4], [0.5, 0.5], discount=0.2, concentration=2.0, sampler=sampler, n_sweeps=9,
            random_state=random_state,
        )  # fmt: skip

    np.testing.assert_array_equal(run(0), run(0))
    assert not np.array_equal(run(0), run(1))


@every_sampler
def test_no_customers(sampler):
    draws = sample_table_counts(
        [0, 0], [0.5, 0.5], discount=0.0, concentration=1.0, sampler=sampler
    )
    np.testing.assert_array_equal(draws, [[0, 0]])


@every_sampler
def test_large_counts(sampler):
    """Ratios beyond the table: n = 20,000 customers of one dish."""
    draws = sample_table_counts(
        [20_000], [1.0], discount=0.5, concentration=10.0, sampler=sampler, n_sweeps=2,
        random_state=0,
    )  # fmt: skip
    assert np.all((draws > 10) & (draws < 20_000))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [5, 1.5, 0]}, "^counts must"),
        ({"counts": [5, -1, 0]}, "^counts must"),
        ({"counts": [5, 1]}, "^counts and base must"),
        ({"counts": [], "base": []}, "^counts and base must"),
        ({"base": [0.5, 0.0, 0.5]}, "^base must"),
        ({"base": [0.5, 0.6, -0.1]}, "^base must"),
        ({"base": [0.5, np.nan, 0.5]}, "^base must"),
        ({"base": ["a", "b", "c"]}, "^base must"),
        ({"discount": 1.0}, "^discount must"),
        ({"concentration": -0.5}, "^concentration must"),
        ({"concentration": "1"}, "^concentration must"),
        ({"sampler": "gibbs"}, "^sampler must"),
        ({"n_sweeps": 0}, "^n_sweeps must"),
        ({"n_sweeps": 2.0}, "^n_sweeps must"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        sample_table_counts(**{**GOOD, **change})
