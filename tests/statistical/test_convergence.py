"""Settled fits are silent: data from the model, five times the default sweeps, 50 fits each.

The benchmark `convergence.py` does the same for the other models. Of 650 such chains of 13 kinds 1
was found to climb. At that rate more than 2 of 50 come up for one choice of the seeds in 14,000; at
a rate of 1 in 100 for one in 70."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from skdp.datasets import make_segmented_corpus, make_sticky_panel
from skdp.sequence import HDPHMMLT
from skdp.topics import GibbsLDA

pytestmark = pytest.mark.slow

N_FITS = 50


def draw_documents(seed):
    return make_segmented_corpus(
        30,
        n_components=5,
        n_features=60,
        n_segments=4,
        segment_length=15,
        concentration=1e6,  # segments have the shares of their document
        random_state=seed,
    ).data


def draw_sequences(seed):
    return make_sticky_panel(6, n_steps=60, random_state=seed).data


@pytest.mark.parametrize(
    ("model", "draw"),
    [(GibbsLDA(5), draw_documents), (HDPHMMLT(10, stickiness="auto"), draw_sequences)],
    ids=["GibbsLDA", "HDPHMMLT"],
)
def test_settled_fits_are_silent(model, draw):
    n_warned = 0
    for seed in range(N_FITS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            model.set_params(max_iter=2500, random_state=seed).fit(draw(seed))
        n_warned += bool(caught)
    assert n_warned <= 2
