"""Initial number of topics of a chain whose number of topics is inferred."""

from __future__ import annotations

from skdp.data import SegmentedCorpus

SEGMENTS_OF_TOPIC, FEWEST_FIRST_TOPICS, MOST_FIRST_TOPICS = 3, 20, 300
"""Segments per initial topic, and the bounds of the initial number of topics.

If there are too many topics, they merge, or lose their words one by one; too few topics hardly ever
split if each has tens of thousands of words. More topics than this take time in every sweep.
"""

LARGEST_START = 2.0**30
"""Bound on the bytes of the counts of the initial topics, unless their number is the smallest."""


def first_number_of_topics(
    initial_components: int | str, corpus: SegmentedCorpus, size_of_topic: float
) -> int:
    """Return the number of topics of a first state.

    Parameters
    ----------
    initial_components : int or "auto"
    corpus : SegmentedCorpus
    size_of_topic : float
        Bytes for the counts of one topic.
    """
    if not isinstance(initial_components, str):
        return int(initial_components)
    wanted = (len(corpus.segment_ptr) - 1) // SEGMENTS_OF_TOPIC
    affordable = int(min(MOST_FIRST_TOPICS, LARGEST_START / size_of_topic))
    return max(FEWEST_FIRST_TOPICS, min(wanted, affordable))
