"""Containers, vectorizers, generators and measures: mistakes and their messages."""

import datetime
from pathlib import Path

import pandas as pd
import polars as pl
import scipy.sparse as sp

from refusals.samples import SERIES
from skdp.data import SegmentedCorpus, SequencePanel

HERE = Path(__file__)
FRAME = pd.DataFrame(
    {
        "k": ["a", "a", "b"],
        "t": pd.to_datetime(["2024-01-02", "2024-01-01", "2024-01-01"]),
        "x": [1.0, 2.0, 3.0],
        "name": ["Rex", "Rex", "Ada"],
    }
)

PANEL = SequencePanel.from_sequences([SERIES])


CORPUS = SegmentedCorpus.from_documents([[[0, 1, 0], [2]], [], [[], [3, 3]]])
documents = SegmentedCorpus.from_documents
counted = SegmentedCorpus.from_counts
sequences = SequencePanel.from_sequences
cut = CORPUS.with_parts


def in_parts(part_ptr):
    return SegmentedCorpus(CORPUS.tokens, CORPUS.segment_ptr, CORPUS.doc_ptr, 4, part_ptr)


def from_frame(frame=FRAME, by="k", time="t", columns=("x",)):
    return SequencePanel.from_frame(frame, by=by, time=time, columns=columns)
