import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skdp.sequence._similarities._fixed import FixedSimilarity

MATRIX = [[0.5, 1.0], [1e-300, 0.25]]


def test_writes_logs():
    sampler = FixedSimilarity(MATRIX).make_sampler(2)
    for part in (sampler, sampler.copy(), pickle.loads(pickle.dumps(sampler))):
        out = np.empty((2, 2))
        part.start(None, None)
        part.draw(None, None, None, None)
        part.write(out, None)
        np.testing.assert_array_equal(out, np.log(MATRIX))
        assert part.log_density() == 0.0
        assert part.scalars() == {}
        assert part.model() is None
        assert part.coupling(None, None) is None


def test_keeps_the_matrix_given():
    similarity = FixedSimilarity(MATRIX)
    similarity.make_sampler(2)
    assert similarity.matrix is MATRIX
    assert clone(similarity).matrix == MATRIX


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones(4), "square"),
        (np.ones((2, 3)), "square"),
        (np.ones((3, 3)), r"\(2, 2\).*n_components=2"),
        ([[1.0, 0.5], [0.0, 0.0]], "row 1 of matrix holds only zeros"),
        ([[1.0, 1.0], [1.5, 1.0]], "got 1.5 in row 1, column 0"),
        ([[1.0, 1.0], [-0.5, 1.0]], "between 0 and 1; got -0.5 in row 1, column 0"),
        ([[1.0, 1.0], [1.0, np.nan]], "got nan in row 1, column 1"),
        ([[1.0, np.inf], [1.0, 1.0]], "got inf"),
        (0.5, "matrix"),
    ],
)
def test_errors(matrix, message):
    with pytest.raises(ValueError, match=message):
        FixedSimilarity(matrix).make_sampler(2)
