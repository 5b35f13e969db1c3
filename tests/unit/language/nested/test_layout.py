"""Work that the layout of a text saves in sweeps."""

import numpy as np
import pytest

from skdp.language import NestedPitmanYorLM
from skdp.language._nested import _layout

TEXTS = ["thedogran", "adogsat", "thecatsat", "acatran", "thedogthedogxyz", "whatever"] * 2
pytestmark = pytest.mark.filterwarnings(
    "ignore:The log joint:sklearn.exceptions.ConvergenceWarning"
)


@pytest.mark.parametrize("type_moves", [0.0, 0.5])
@pytest.mark.parametrize("word_order", [1, 2])
def test_spans_that_occur_once(monkeypatch, word_order, type_moves):
    """The search for customers that they cannot have is skipped, which changes nothing."""
    params = {
        "word_order": word_order, "type_moves": type_moves, "word_length": 3.0, "max_iter": 8,
        "n_chains": 1, "random_state": 0,
    }  # fmt: skip
    texts = [*TEXTS, "once", "thedogonce"]
    expected = NestedPitmanYorLM(**params).fit(texts)
    monkeypatch.setattr(_layout, "find_shared", lambda spans: np.full(len(spans.ids), 20, np.int32))
    found = NestedPitmanYorLM(**params).fit(texts)
    np.testing.assert_allclose(found.trace_["log_joint"], expected.trace_["log_joint"], rtol=1e-12)
    assert found.predict(texts) == expected.predict(texts)
