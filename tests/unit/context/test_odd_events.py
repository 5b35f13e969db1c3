"""Odd events that are fine."""

import numpy as np
import pytest
from refusals.events import PAIRS, TREE, annotated, answered, events, model

from skdp.grammar import ParseTree, head_children


def test_a_failed_fit_changes_nothing():
    fitted = model()
    before = fitted.classifiers_
    with pytest.raises(ValueError, match="siblings"):
        fitted.fit(["(S a b)"])
    assert fitted.classifiers_ is before


def test_what_is_fine():
    """Labels without rules, phrases like the tag of another word, words like outcomes."""
    unknown = "(ZZ (YY (XX a)) (WW b))"
    assert head_children(ParseTree.from_brackets(unknown)).tolist() == [0, 0, 0, 0]
    assert len(events([unknown]).y) == 5
    assert np.isfinite(
        model(["(S (VB (NN a)) (VP (VB b)))"]).score(["(S (VB (NN a)) (VP (VB b)))"])
    )
    assert events(["(S (NP (NN STOP)) (VP (VB b)))"], "mod2").y.tolist() == ["STOP"]
    assert annotated([[None, *PAIRS[1:]]]).X[0, 0] == "-"
    assert annotated([tuple(map(list, PAIRS))]).y.tolist()[0] == "s a"
    assert answered(lambda p: p.tolist()) == answered(lambda p: p)
    assert np.isfinite(answered(lambda p: (p + 1e-7).astype(np.float32)))
    assert len(events(iter([TREE])).y) == 7
