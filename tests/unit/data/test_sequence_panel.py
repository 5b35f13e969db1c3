import numpy as np
import pytest

from skdp.data import SequencePanel


def test_arrays():
    panel = SequencePanel.from_sequences([np.zeros((2, 3)), np.ones((1, 3), dtype=np.float32)])
    assert panel.values.tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert panel.values.dtype == np.float64
    assert panel.ptr.tolist() == [0, 2, 3]
    assert panel.shape == (2, 3)
    assert panel == SequencePanel(panel.values, [0, 2, 3])


def test_layout_is_that_of_rows():
    panel = SequencePanel.from_sequences([np.zeros((3, 2), order="F"), np.ones((2, 2), order="F")])
    assert panel.values.flags.c_contiguous


def test_one_dimension():
    panel = SequencePanel.from_sequences([[1, 2, 3], np.array([4])])
    assert panel.shape == (2, 1)
    assert panel[0].tolist() == [[1], [2], [3]]
    assert panel == SequencePanel([1, 2, 3, 4], [0, 3, 4])
    assert SequencePanel.from_sequences([[], [1.0]])[0].shape == (0, 1)


def test_float64_is_not_copied():
    values = np.zeros((3, 2))
    assert np.shares_memory(SequencePanel(values, [0, 3]).values, values)


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([np.zeros((2, 2)), np.zeros((2, 3))], "sequence 1 has 3 features, but sequence 0 has 2"),
        ([np.zeros((2, 2)), np.zeros((1, 2, 2))], "sequence 1: must be a"),
        ([np.zeros(2), 1.0], "sequence 1: must be a"),
        ([["a"]], "sequence 0: must be a.*real numbers"),
        ([[1j]], "sequence 0: must be a.*real numbers"),
        ([[[1, 2], [3]]], "sequence 0: must be a"),
        ([], "no sequences"),
    ],
)
def test_bad_sequences(sequences, message):
    with pytest.raises(ValueError, match=message):
        SequencePanel.from_sequences(sequences)


def test_bad_arrays():
    with pytest.raises(ValueError, match="ptr must rise from 0 to 3, the number of observations"):
        SequencePanel(np.zeros((3, 1)), [0, 2])
    with pytest.raises(ValueError, match="values: must be a"):
        SequencePanel(np.zeros((3, 1, 1)), [0, 3])
