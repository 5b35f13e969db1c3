"""Ragged containers of samples, and the checks that make them from user input."""

from skdp.data._partitioned import PartitionedCorpus, PartitionedPanel, PartitionedSentences
from skdp.data._ragged import TokenSequences, concatenate
from skdp.data._segmented_corpus import SegmentedCorpus
from skdp.data._sequence_panel import SequencePanel
from skdp.data._validation import check_corpus, check_panel, check_sentences

__all__ = [
    "PartitionedCorpus",
    "PartitionedPanel",
    "PartitionedSentences",
    "SegmentedCorpus",
    "SequencePanel",
    "TokenSequences",
    "check_corpus",
    "check_panel",
    "check_sentences",
    "concatenate",
]
