"""Sentences and grammars that the unit tests share."""

import pytest

from skdp.grammar import HDPPCFG

SENTENCES = [
    [0, 2, 3, 0, 1], [0, 1, 3, 0, 1], [0, 2, 1, 3, 0, 1], [0, 1], [0, 2, 1], [1], [0, 1, 3, 1],
    [0, 2, 2, 1], [0, 1, 3, 0, 2, 1],
]  # fmt: skip
N_WORDS = 4

MODELS = {
    "plain": {},
    "partitioned": {"n_preterminals": 4},
    "annealed": {"init": "annealed", "top_prior": "dirichlet"},
    "em": {"inference": "em"},
    "smoothed": {"inference": "em", "pseudo_count": 0.1, "n_preterminals": 3},
    "annealed em": {"inference": "em", "init": "annealed"},
    "viterbi": {"inference": "viterbi-em", "n_preterminals": 3},
}
every_model = pytest.mark.parametrize("name", MODELS)

_fits: dict = {}


def quick(**params):
    return HDPPCFG(**{"n_components": 3, "max_iter": 12, "random_state": 0, **params})


def fitted(name):
    """Return an estimator of MODELS fitted to SENTENCES. Nobody may change it."""
    if name not in _fits:
        _fits[name] = quick(**MODELS[name]).fit(SENTENCES)
    return _fits[name]
