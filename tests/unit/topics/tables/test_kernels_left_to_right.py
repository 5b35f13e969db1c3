"""The left-to-right likelihood: levels of a chain before a segment is swept."""

import numpy as np
import pytest
from unit.topics.tables.test_kernels import Chain, make_corpus

from skdp._numeric._numba import njit
from skdp.topics._shared._arrays import flat
from skdp.topics._tables._arrays import empty_levels
from skdp.topics._tables._kernels_left_to_right import enter_levels


@njit
def enter(j, corpus, assignments, prior, ratios, levels):
    enter_levels(j, corpus, assignments, prior, ratios, levels)


def levels_above(j, corpus, chain, assignments, prior):
    levels = empty_levels(flat(make_corpus([[1] * 5])), chain.n_topics, chained=True)
    enter(np.int64(j), flat(corpus), assignments, prior, chain.ratios, levels)
    return levels


@pytest.mark.parametrize("family", ["sequential", "adaptive"])
def test_levels_of_a_part_are_those_of_the_part_alone(family):
    whole = make_corpus([[9, 4, 7, 0, 5]]).with_parts([[2]])
    chain = Chain(whole, "btigs", family)
    for _ in range(5):
        chain.sweep()
    state, first = chain.assignments, 2
    part = make_corpus([[7, 0, 5]])
    alone = state._replace(
        topics=state.topics[whole.segment_ptr[first] :],
        tables=state.tables[first:],
        segment_tables=state.segment_tables[first:],
        to_previous=state.to_previous[first:],
        segment_to_previous=state.segment_to_previous[first:],
    )
    found = levels_above(4, whole, chain, state, chain.prior)
    prior = chain.prior._replace(concentration=chain.prior.concentration[first:])
    expected = levels_above(2, part, chain, alone, prior)
    assert expected.fixed_part[:2].max() > 0.1
    for name, one, other in zip(found._fields, found, expected, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)
