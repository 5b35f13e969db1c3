"""What all generators share: seeds; tests/refusals/data.txt has the arguments that they refuse."""

from functools import partial

import numpy as np
import pytest

from skdp.datasets import (
    make_cocktail_party,
    make_feature_images,
    make_lt_panel,
    make_pcfg_corpus,
    make_segmented_corpus,
    make_sticky_panel,
)

DRAWS = {
    "party": partial(make_cocktail_party, 100, amplitude="carrier"),
    "images": partial(make_feature_images, 5),
    "lt, gaussian": partial(make_lt_panel, 5, n_features=3),
    "lt, categorical": partial(make_lt_panel, 5, n_features=3, emission="categorical"),
    "trees": partial(make_pcfg_corpus, 30),
    "dirichlet segments": partial(make_segmented_corpus, 3, model="adaptive", discount=0.0),
    "segments": partial(make_segmented_corpus, 3, model="adaptive", discount=0.5),
    "sticky, gaussian": partial(make_sticky_panel, 5, n_features=3),
    "sticky, categorical": partial(make_sticky_panel, 5, n_features=3, emission="categorical"),
    "sticky, poisson": partial(make_sticky_panel, 5, n_features=3, emission="poisson"),
}


def is_same(first, second):
    if isinstance(first, np.ndarray):
        return np.array_equal(first, second)
    if isinstance(first, list) and isinstance(first[0], np.ndarray):
        return all(map(np.array_equal, first, second))
    return first == second


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_seeds(draw):
    """Equal ones give the same, of all kinds; a generator goes on from one call to the next."""
    first, same, other = (draw(random_state=seed) for seed in (7, 7, 8))
    assert all(is_same(first[name], same[name]) for name in first)
    assert not is_same(first.data, other.data)
    for make in (np.random.RandomState, np.random.default_rng):
        shared = make(7)
        begin = draw(random_state=shared).data
        assert is_same(begin, draw(random_state=make(7)).data)
        assert not is_same(begin, draw(random_state=shared).data)
