"""How many topics a chain begins with where their number is inferred."""

from __future__ import annotations

from skdp.data import SegmentedCorpus

SEGMENTS_OF_TOPIC, FEWEST_FIRST_TOPICS, MOST_FIRST_TOPICS = 3, 20, 300
"""The first topics are one for so many segments, at least and at most so many.

Topics that are too many merge, or lose their words one by one; those that are too few hardly ever
split where each has tens of thousands of words. More topics than this take time in every sweep.
"""

LARGEST_START = 2.0**30
"""Bytes that the counts of the first topics may take, unless there are no more than the fewest."""


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
    wanted = (len(corpus.segment_ptr) - 1) // SEGMENTS_OF_TOPIC
    affordable = int(min(MOST_FIRST_TOPICS, LARGEST_START / size_of_topic))
    return max(FEWEST_FIRST_TOPICS, min(wanted, affordable))
