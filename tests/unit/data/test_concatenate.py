import numpy as np
import pytest
from hypothesis import given
from unit.data.strategies import containers

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences, concatenate

CORPUS = SegmentedCorpus.from_documents([[[0, 1], [2]], [], [[3, 3, 0]]])
SENTENCES = TokenSequences.from_sequences([[0, 1], [], [2]])
PANEL = SequencePanel.from_sequences([np.full((t + 1, 2), float(t)) for t in range(3)])


@given(containers)
def test_parts_make_the_whole(data):
    container, samples = data
    for cut in range(len(samples) + 1):
        joined = concatenate([container[:cut], container[cut:]])
        assert joined == container
        assert joined._values.dtype == container._values.dtype
    assert concatenate([container]) == container
    assert len(concatenate(c for c in (container, container, container))) == 3 * len(samples)


@pytest.mark.parametrize("container", [CORPUS, SENTENCES, PANEL])
def test_twice(container):
    twice = concatenate([container, container])
    assert type(twice) is type(container)
    assert twice[: len(container)] == twice[len(container) :] == container
    with pytest.raises(ValueError, match="read-only"):
        twice._values[0] = 1


def test_float64_of_any_width():
    narrow = SequencePanel.from_sequences([np.zeros(3)])
    with pytest.raises(ValueError, match="container 1 has 2, but container 0 has 1"):
        concatenate([narrow, PANEL])
