"""The concentration sampler against quadrature of its posterior."""

import numpy as np
import pytest
from exact.oracles.batch_means import N_SWEEPS, assert_means
from exact.oracles.partitions import concentration_moment

from skdp.processes import sample_concentration

CASES = {
    # name: (customers, tables, discount, prior)
    "no discount": ((12, 7, 1, 0), (4, 2, 1, 0), 0.0, (1.0, 0.1)),
    "no discount, one table each": ((9, 5), (1, 1), 0.0, (2.0, 0.5)),
    "no discount, all tables": ((3, 2), (3, 2), 0.0, (1.0, 0.1)),
    "discount": ((12, 7, 1, 0), (4, 2, 1, 0), 0.5, (1.0, 0.1)),
    "discount, one table each": ((9, 5), (1, 1), 0.5, (0.3, 1.0)),
    "large discount": ((12, 7, 1, 0), (9, 4, 1, 0), 0.9, (1.0, 0.1)),
    "nothing seen": ((0, 1), (0, 1), 0.3, (2.5, 0.7)),
}


@pytest.mark.parametrize("case", CASES)
def test_posterior_moments(case):
    customers, tables, a, prior = CASES[case]
    draws = sample_concentration(
        customers, tables, discount=a, prior=prior, n_sweeps=N_SWEEPS, random_state=0
    )
    for function in (np.log, np.sqrt, float):
        expected = concentration_moment(function, customers, tables, a, prior)
        found = np.log(draws) if function is np.log else draws ** (1 if function is float else 0.5)
        assert_means(found, np.array(expected), f"E[{function.__name__}(b)]")
