import numpy as np
import pytest

from skdp.processes import sample_network_tables

GOOD = {
    "counts": [[0, 0, 0], [40, 1, 0], [0, 7, 3], [5, 2, 0]],
    "parents": [[], [0], [0], [1, 2]],
    "base": [0.5, 0.3, 0.2],
    "discount": 0.5,
    "concentration": 2.0,
}
every_sampler = pytest.mark.parametrize("sampler", ["btigs", "cmgs"])


def check_state(tables, counts, edges, own):
    """Assert that the tables of a sweep are possible.

    `edges` are the parents (-1: the base), and `own` the nodes, of all edges.
    """
    customers = np.array(counts)
    for e, parent in enumerate(edges):
        if parent >= 0:
            customers[parent] += tables[e]
    sums = np.zeros_like(customers)
    np.add.at(sums, own, tables)
    assert np.all(tables >= 0)
    assert np.all(sums <= customers)
    assert np.all((sums > 0) == (customers > 0))


@every_sampler
def test_constraints(sampler):
    draws = sample_network_tables(**GOOD, sampler=sampler, n_sweeps=50, random_state=0)
    assert draws.shape == (50, 5, 3)
    assert draws.dtype == np.int64
    for tables in draws:
        check_state(tables, GOOD["counts"], [-1, 0, 0, 1, 2], [0, 1, 2, 3, 3])
    assert len(np.unique(draws[:, 1, 0])) > 1


@every_sampler
def test_seeds(sampler):
    def run(random_state):
        return sample_network_tables(**GOOD, sampler=sampler, n_sweeps=9, random_state=random_state)

    np.testing.assert_array_equal(run(0), run(0))
    assert not np.array_equal(run(0), run(1))


@every_sampler
def test_same_weights_in_other_forms(sampler):
    def run(**params):
        return sample_network_tables(**{**GOOD, **params}, sampler=sampler, n_sweeps=9,
                                     random_state=0)  # fmt: skip

    expected = run()
    np.testing.assert_array_equal(run(discount=np.full(4, 0.5)), expected)
    np.testing.assert_array_equal(run(concentration=[2, 2.0, 2, 2]), expected)
    np.testing.assert_array_equal(run(weight_prior=[[], [1], (1,), np.ones(2)]), expected)
    np.testing.assert_array_equal(run(parents=((), (0,), np.array([0]), [1, 2])), expected)
    assert not np.array_equal(run(weights=[[], [1.0], [1.0], [0.5, 0.5]]), expected)


@every_sampler
def test_different_discounts_have_their_own_stirling_numbers(sampler):
    """Nodes without customers do not change the draws of the others."""
    counts = [[30, 4, 0], [0, 0, 0]]
    first = sample_network_tables(
        counts, [[], []], GOOD["base"], discount=[0.3, 0.0], concentration=2.0, sampler=sampler,
        n_sweeps=9, random_state=0,
    )  # fmt: skip
    second = sample_network_tables(
        counts, [[], []], GOOD["base"], discount=[0.3, 0.9995], concentration=2.0, sampler=sampler,
        n_sweeps=9, random_state=0,
    )  # fmt: skip
    np.testing.assert_array_equal(first, second)


@every_sampler
def test_no_customers(sampler):
    draws = sample_network_tables(
        [[0], [0]], [[], [0]], [1.0], discount=0.0, concentration=1.0, sampler=sampler
    )
    np.testing.assert_array_equal(draws, np.zeros((1, 2, 1)))


@every_sampler
def test_large_counts(sampler):
    """Ratios beyond the table: 12,000 customers of one dish below a parent."""
    draws = sample_network_tables(
        [[0], [12_000]], [[], [0]], [1.0], discount=[0.5, 0.2], concentration=10.0,
        sampler=sampler, n_sweeps=2, random_state=0,
    )  # fmt: skip
    check_state(draws[-1], [[0], [12_000]], [-1, 0], [0, 1])
    assert draws[-1, 1, 0] > 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": [1, 2, 3]}, "^counts must be 2-D"),
        ({"counts": [[0.5, 1, 2]] * 4}, "^counts must"),
        ({"counts": [[-1, 1, 2]] * 4}, "^counts must"),
        ({"parents": [[], [0], [0]]}, "^parents must have a list for each of the 4"),
        ({"parents": 3}, "^parents must be a list of lists"),
        ({"parents": [[], [0], [0], 2]}, "^parents must be a list of lists"),
        ({"parents": [[], [0], [2], [1]]}, r"^parents\[2\] must hold different nodes below 2"),
        ({"parents": [[], [0], [0], [1, 1]]}, r"^parents\[3\] must hold different"),
        ({"parents": [[], [0], [0], [-1]]}, r"^parents\[3\]"),
        ({"base": [0.5, 0.5]}, "^base must have a probability for each of the 3 dishes"),
        ({"base": [0.0, 0.5, 0.5]}, "^base must hold probabilities"),
        ({"base": [np.nan, 0.5, 0.5]}, "^base must hold probabilities"),
        ({"discount": 1.0}, "^discount must"),
        ({"discount": [0.5, 0.5]}, "^discount must be a number or 4 numbers"),
        ({"concentration": -0.5}, "^concentration must"),
        ({"concentration": [1.0, 1.0, 1.0, -0.6]}, "^concentration must"),
        ({"weights": "uniform"}, "^weights must be 'dirichlet'"),
        ({"weights": [[], [1.0], [1.0], [0.5]]}, "^weights must have the form of parents"),
        ({"weights": [[], [1.0], [1.0], [0.5, 0.6]]}, "^weights must hold numbers >= 0"),
        ({"weights": [[], [1.0], [1.0], [-0.5, 1.5]]}, "^weights must hold numbers >= 0"),
        ({"weights": [[], ["a"], [1.0], [0.5, 0.5]]}, "^weights must hold a list of numbers"),
        ({"weight_prior": 0.0}, "^weight_prior must be positive"),
        ({"weight_prior": [[], [1.0], [1.0], [np.inf, 1.0]]}, "^weight_prior must be positive"),
        ({"weight_prior": True}, "^weight_prior must"),
        ({"sampler": "ssa"}, "^sampler must be one of"),
        ({"n_sweeps": 0}, "^n_sweeps must"),
    ],
)
def test_bad_arguments(change, message):
    with pytest.raises(ValueError, match=message):
        sample_network_tables(**{**GOOD, **change})
