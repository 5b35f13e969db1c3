"""Expected topics of the words of segments, given the shares of the segments."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from skdp.data._ragged import offsets


def expect_topics(
    tokens: NDArray[np.int32],
    lengths: NDArray[np.int64],
    segment_topic: NDArray[np.float64],
    components: NDArray[np.floating],
) -> NDArray[np.float64]:
    """Return the expected number of words of each topic in each segment of a document, (J, K).

    A word w of segment j has topic k with probability nu_jk phi_kw / sum_l nu_jl phi_lw. Words that
    are impossible under all topics are not counted.

    Parameters
    ----------
    tokens : (n,) array
        Words of the document.
    lengths : (J,) array
        Number of words of each segment.
    segment_topic : (J, K) array
        E[nu].
    components : (K, W) array
        phi.
    """
    sums = np.zeros(segment_topic.shape)
    for j, (begin, end) in enumerate(pairwise(offsets(lengths).tolist())):
        weights = segment_topic[j, :, np.newaxis] * components[:, tokens[begin:end]]
        totals = weights.sum(axis=0)
        np.divide(weights, totals, out=weights, where=totals > 0.0)
        sums[j] = weights.sum(axis=1)
    return sums
