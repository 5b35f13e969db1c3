"""How many topics a chain begins with where their number is inferred."""

from __future__ import annotations

import math

from skdp.data import SegmentedCorpus

MOST_FIRST_TOPICS, TOPICS_OF_ROOT = 300, 2.0
"""The first topics are so many times the root of the number of tokens, and at most so many.

Topics that are too many merge, or lose their words one by one; those that are too few hardly ever
split where each has tens of thousands of words. More topics than this take time in every sweep.
"""

LARGEST_START, FEWEST_FIRST_TOPICS = 2.0**30, 20
"""Bytes that the counts of the first topics may take, unless there are no more topics than that."""


def first_number_of_topics(
    initial_components: int | str, corpus: SegmentedCorpus, size_of_topic: float
) -> int:
    """Return the number of topics of a first state.

    Parameters
    ----------
    initial_components : int or "auto"
    corpus : SegmentedCorpus
    size_of_topic : float
        Bytes that the counts of a topic take.
    """
    if not isinstance(initial_components, str):
        return int(initial_components)
    n_tokens = len(corpus.tokens)
    wanted = min(MOST_FIRST_TOPICS, math.ceil(TOPICS_OF_ROOT * math.sqrt(n_tokens)), n_tokens)
    affordable = max(FEWEST_FIRST_TOPICS, int(LARGEST_START / size_of_topic))
    return min(wanted, affordable)
