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
    """Return the expected number of words of each topic in each segment of a document, (J, K)."""
    sums = np.zeros(segment_topic.shape)
    for j, (begin, end) in enumerate(pairwise(offsets(lengths).tolist())):
        weights = segment_topic[j, :, np.newaxis] * components[:, tokens[begin:end]]
        totals = weights.sum(axis=0)
        # Words that are impossible under all topics are not counted.
        np.divide(weights, totals, out=weights, where=totals > 0.0)
        sums[j] = weights.sum(axis=1)
    return sums
