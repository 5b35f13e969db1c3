"""Random containers with what they were made of, and random indices."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences

N_WORDS = 5
WIDTH = 2
texts = st.lists(st.integers(0, N_WORDS - 1), max_size=4)


def _arrays(length):
    return hnp.arrays(np.float64, (length, WIDTH), elements=st.floats(-1e3, 1e3))


corpora = st.lists(st.lists(texts, max_size=3), max_size=6).map(
    lambda documents: (SegmentedCorpus.from_documents(documents, N_WORDS), documents)
)
parts = st.lists(texts, min_size=1, max_size=3)
divided_corpora = st.lists(st.lists(parts, max_size=3), max_size=5).map(
    lambda documents: (SegmentedCorpus.from_documents(documents, N_WORDS), documents)
)
sentences = st.lists(texts, max_size=6).map(
    lambda texts: (TokenSequences.from_sequences(texts, N_WORDS), texts)
)
panels = st.lists(st.integers(0, 3).flatmap(_arrays), min_size=1, max_size=6).map(
    lambda arrays: (SequencePanel.from_sequences(arrays), [array.tolist() for array in arrays])
)
containers = corpora | divided_corpora | sentences | panels


@st.composite
def indices(draw, n):
    """Return an index of several of n samples: a slice, ints as list or array, or a mask."""
    kind = draw(st.sampled_from(["slice", "list", "array", "mask"]))
    if kind == "slice":
        return draw(st.slices(n))
    if kind == "mask":
        return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    chosen = draw(st.lists(st.integers(-n, n - 1), max_size=8)) if n else []
    return chosen if kind == "list" else np.array(chosen, dtype=np.int64)


@st.composite
def indexed_containers(draw):
    """Return a container, its samples as nested lists, and an index."""
    container, samples = draw(containers)
    return container, samples, draw(indices(len(samples)))


def as_lists(sample):
    """Return a sample of any container as nested lists."""
    if isinstance(sample, list):
        return [as_lists(part) for part in sample]
    return sample.tolist()
