"""What all generators share: names of wrong arguments, and seeds."""

from functools import partial
from inspect import signature

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

WRONG = {
    make_cocktail_party: {
        "n_steps": [0, 10.0], "conversation_sizes": [4, [], [2, 0], [1.5]], "n_features": [0],
        "amplitude": ["loud"], "durations": ["poisson"], "turn_length": [0.5, np.inf, "long"],
        "pause_length": [0.0, np.nan], "noise_scale": [-0.1],
        "weights": [np.ones((4, 2)), np.full((17, 2), np.nan)], "random_state": [-1],
    },
    make_feature_images: {
        "n_samples": [0, 2.0], "noise_scale": [-0.1, np.nan], "probability": [-0.1, 1.1, "half"],
        "random_state": [-1],
    },
    make_lt_panel: {
        "n_sequences": [0], "n_steps": [0, [1, 2, 3]], "n_states": [0], "n_features": [0],
        "n_dims": [0], "emission": ["poisson"], "decay": [-1.0, np.inf, 1e9], "stickiness": [-1.0],
        "top_concentration": [0.0], "transition_concentration": [0.0, "auto"],
        "separation": [-1.0], "random_state": [-1],
    },
    make_pcfg_corpus: {"n_sentences": [0], "random_state": [-1]},
    make_segmented_corpus: {
        "n_documents": [0, 2.0], "n_components": [0], "n_features": [0],
        "n_segments": [-1, 1.5, (3, 2), (1, 2, 3), [1, 2, 3], [1, -2], "many"],
        "segment_length": [0.0, "long"], "model": ["bag"],
        "doc_topic_prior": [0.0, [1.0, 1.0], [1.0, 1.0, 1.0, 1.0, np.nan], "auto"],
        "topic_word_prior": [-1.0], "discount": [1.0, -0.1, 1e-9], "concentration": [0.0, np.inf],
        "mixing_prior": [1.0, (1.0, 0.0)],
        "components": [[[0.5, -0.5]], [[0.0, 0.0]], [[np.nan, 1.0]]], "random_state": [-1],
    },
    make_sticky_panel: {
        "n_sequences": [0, 2.0],
        "n_steps": [0, 1.5, (3, 2), (1, 2, 3), [1, 2, 3], [0, 2], "many"], "n_states": [0],
        "n_features": [0], "emission": ["normal"], "stay": [1.0, -0.1, "long"],
        "separation": [-1.0, np.nan], "random_state": [-1],
    },
}  # fmt: skip


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_wrong_arguments_are_named(make):
    of_size_two = {next(iter(signature(make).parameters)): 2}
    for name, values in WRONG[make].items():
        for value in values:
            with pytest.raises(ValueError, match=name):
                make(**{**of_size_two, name: value})


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
