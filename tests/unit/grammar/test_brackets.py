"""Brackets as y of a fit: what may be given, and fits, warm starts and partitions with them."""

import pickle

import nltk
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from unit.grammar.small_grammars import (
    MODELS,
    N_WORDS,
    SENTENCES,
    every_model,
    fitted,
    quick,
)

from skdp.callback import Checkpoint
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar import ParseTree
from skdp.grammar._induction._layout import add_brackets
from skdp.utils._checking import same_fit

KNOWN = [
    [(0, 3)], [(1, 3), (0, 3)], None, [], [(1, 3)], [(0, 1)], None, [(2, 4)], [(0, 2), (2, 6)],
]  # fmt: skip
"""Brackets of SENTENCES."""

CORPUS = TokenSequences.from_sequences(SENTENCES, N_WORDS)
GIBBS = {"inference": "gibbs", "max_iter": 12, "n_chains": 2, "burn_in": 4}


def assert_same_limits(y, expected):
    limits, others = (add_brackets(CORPUS, each).limits for each in (y, expected))
    assert_array_equal(limits.firsts, others.firsts)
    assert_array_equal(limits.lasts, others.lasts)


def test_limits():
    data = add_brackets(TokenSequences.from_sequences([[0] * 5, [0] * 3]), [[(1, 4)], None])
    assert data.limits.firsts.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert data.limits.lasts.tolist() == [5, 5, 4, 4, 5, 3, 3, 3]
    y = [[], [(1, 3)], None, [(0, 2)]]
    data = quick()._check_input([[], [0, 1, 2], [], [1, 0, 2, 2]], y)  # some have no words
    assert data.limits.firsts.tolist() == [0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "y",
    [
        tuple(KNOWN),
        np.array([*KNOWN, None], dtype=object)[:-1],
        pd.Series(KNOWN, index=range(5, 14)),
        [[*map(list, spans or [])] for spans in KNOWN],
        [np.array(spans or np.empty((0, 2), int), dtype=np.int8) for spans in KNOWN],
        [iter(spans or []) for spans in KNOWN],
        [{(np.int64(i), np.int32(j)) for i, j in spans or []} for spans in KNOWN],
        [[*(spans or []), (0, len(x)), *(spans or [])]
         for spans, x in zip(KNOWN, SENTENCES, strict=True)],
    ],
    ids=["tuple", "array", "series", "lists", "arrays", "iterators", "sets", "twice"],
)  # fmt: skip
def test_forms(y):
    assert_same_limits(y, KNOWN)


@pytest.mark.parametrize("convert", [ParseTree.from_brackets, nltk.Tree.fromstring])
def test_trees(convert):
    """Labels, unary nodes and single words are ignored; words may differ from those of X."""
    tree = convert("(S (NP (DT the) (JJ big) (NN dog)) (VP (V ate) (NP (N (N mice)))))")
    assert_same_limits([tree, *[None] * 8], [[(0, 3), (3, 5)], *[None] * 8])


@pytest.mark.parametrize(
    "y",
    [
        None, [None] * 9, [[]] * 9, [[(0, len(x)), (0, 1)] for x in SENTENCES], np.arange(9),
        list("abcabcabc"), np.repeat(["a", "b", "c"], 3), [0.5, np.nan] * 4 + [np.float32(1)],
    ],
)  # fmt: skip
def test_nothing_known(y):
    """The data are the same: fits have the same bits, and a warm start continues."""
    assert add_brackets(CORPUS, y) is CORPUS


def test_scikit_learn():
    """Folds take brackets along; classes of sentences are ignored."""
    search = GridSearchCV(quick(max_iter=4), {"n_components": [2, 3]}, cv=KFold(3))
    assert np.isfinite(search.fit(SENTENCES, KNOWN).cv_results_["mean_test_score"]).all()
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    same_fit(quick().fit(SENTENCES, labels), fitted("plain"))
    make_pipeline(quick(), LogisticRegression()).fit(SENTENCES, labels).predict(SENTENCES)


# Fits


@every_model
def test_fits(name):
    """Brackets change the fit, but scores are those of sentences without brackets."""
    fit = quick(**MODELS[name]).fit(SENTENCES, KNOWN)
    assert not np.array_equal(fit.binary_probs_, fitted(name).binary_probs_)
    assert fit.score(SENTENCES, KNOWN) == fit.score(SENTENCES)


def test_chains():
    """A branch to the left with a word on the right is the only type of rule that is used."""
    y = [[(0, i) for i in range(2, len(x))] for x in SENTENCES]
    for state in quick(**GIBBS, n_preterminals=2).iter_sweeps(SENTENCES, y):
        assert state.binary_counts[:, :2, 2:].sum() == state.binary_counts[:, 2:, 2:].sum() == 0
    model = quick(**{**GIBBS, "n_chains": 1}).fit(SENTENCES, KNOWN)
    logs = [state.log_joint() for state in quick(**GIBBS).iter_sweeps(SENTENCES, KNOWN)]
    assert_array_equal(model.trace_["log_joint"].ravel()[-1], logs[-1])


def test_long_sentences_are_left_out():
    with pytest.warns(UserWarning, match="longer than max_length=5"):
        fit = quick(max_length=5).fit(SENTENCES, KNOWN)
    short = [i for i, x in enumerate(SENTENCES) if len(x) <= 5]
    expected = quick().fit([SENTENCES[i] for i in short], [KNOWN[i] for i in short])
    assert_array_equal(fit.binary_probs_, expected.binary_probs_)


@pytest.mark.parametrize("params", [{"n_init": 2}, {"inference": "viterbi-em"}, GIBBS], ids=str)
def test_jobs(params):
    one, two = (quick(**params, n_jobs=n).fit(SENTENCES, KNOWN) for n in (1, 2))
    assert_array_equal(one.binary_probs_, two.binary_probs_)


@pytest.mark.parametrize("params", [{}, {"inference": "em"}, GIBBS], ids=str)
def test_resumed_fits(params, tmp_path):
    """Warm starts and checkpoints go on with the same brackets, and only with these."""

    def model(max_iter, **more):
        return quick(**{**params, "max_iter": max_iter}, **more)

    straight = model(14).fit(SENTENCES, KNOWN)
    warm = pickle.loads(pickle.dumps(model(9, warm_start=True).fit(SENTENCES, KNOWN)))
    for y in (None, [None, *KNOWN[1:]], [*KNOWN[:8], [(0, 2)]]):
        with pytest.raises(ValueError, match="same X"):
            warm.fit(SENTENCES, y)
    same_limits = [[*(spans or []), (0, 1)] for spans in KNOWN]
    warm.set_params(max_iter=14).fit(SENTENCES, same_limits)
    assert_array_equal(warm.binary_probs_, straight.binary_probs_)

    def saved(max_iter):
        return model(max_iter).set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=3))

    saved(9).fit(SENTENCES, KNOWN)
    with pytest.raises(ValueError, match="is of a fit to another X"):
        saved(14).fit(SENTENCES)
    assert_array_equal(saved(14).fit(SENTENCES, KNOWN).binary_probs_, straight.binary_probs_)


# Partitions


def split(n):
    X = PartitionedSentences.from_sentences(CORPUS, n)
    ends = np.cumsum([len(part) for part in X.partitions])
    return X, [KNOWN[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


@pytest.mark.parametrize("params", [{}, {"inference": "viterbi-em"}], ids=str)
def test_partitions(params):
    whole = quick(**params).fit(SENTENCES, KNOWN)
    X, y = split(1)
    assert_array_equal(quick(**params).fit(X, y).lower_bounds_, whole.lower_bounds_)
    X, y = split(3)
    warm = quick(**params, warm_start=True).fit(X, y)
    assert_allclose(warm.lower_bounds_, whole.lower_bounds_, rtol=1e-10)
    plain = quick(**params).fit(X)
    assert not np.array_equal(warm.lower_bounds_, plain.lower_bounds_)
    warm.fit(X, y)
    for other in (None, [None, *y[1:]]):
        with pytest.raises(ValueError, match="same X"):
            warm.fit(X, other)
    for nothing in ([None] * 3, list(range(9)), [[None] * len(part) for part in y]):
        same_fit(quick(**params).fit(X, nothing), plain)
