"""Brackets as y of a fit: what may be given, and fits, warm starts and partitions with them."""

import pickle

import nltk
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from unit.grammar.small_grammars import (
    MODELS,
    N_WORDS,
    SENTENCES,
    assert_same_fit,
    every_model,
    fitted,
    quick,
)

from skdp.callback import Checkpoint
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar import ParseTree
from skdp.grammar._induction._brackets import add_brackets

KNOWN = [
    [(0, 3)], [(1, 3), (0, 3)], None, [], [(1, 3)], [(0, 1)], None, [(2, 4)], [(0, 2), (2, 6)],
]  # fmt: skip
"""Brackets of SENTENCES."""

GIBBS = {"inference": "gibbs", "max_iter": 12, "n_chains": 2, "burn_in": 4}


def corpus():
    return TokenSequences.from_sequences(SENTENCES, N_WORDS)


def limits_of(y):
    data = add_brackets(corpus(), y)
    assert not isinstance(data, TokenSequences)
    return data.limits


class TestWhatMayBeGiven:
    def test_limits(self):
        data = add_brackets(TokenSequences.from_sequences([[0] * 5, [0] * 3]), [[(1, 4)], None])
        assert data.limits.firsts.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
        assert data.limits.lasts.tolist() == [5, 5, 4, 4, 5, 3, 3, 3]

    @pytest.mark.parametrize(
        "y",
        [
            tuple(KNOWN),
            np.array([*KNOWN, None], dtype=object)[:-1],
            [[*map(list, spans or [])] for spans in KNOWN],
            [np.array(spans or np.empty((0, 2), int), dtype=np.int8) for spans in KNOWN],
            [iter(spans or []) for spans in KNOWN],
            [{(np.int64(i), np.int32(j)) for i, j in spans or []} for spans in KNOWN],
            [[*(spans or []), (0, len(x)), *(spans or [])]
             for spans, x in zip(KNOWN, SENTENCES, strict=True)],
        ],
        ids=["tuple", "array", "lists", "arrays", "iterators", "sets", "twice"],
    )  # fmt: skip
    def test_forms(self, y):
        for part, expected in zip(limits_of(y), limits_of(KNOWN), strict=True):
            assert_array_equal(part, expected)

    def test_data_frame(self):
        pandas = pytest.importorskip("pandas")
        y = pandas.Series(KNOWN, index=range(5, 14))
        assert_array_equal(limits_of(y).firsts, limits_of(KNOWN).firsts)

    @pytest.mark.parametrize("convert", [ParseTree.from_brackets, nltk.Tree.fromstring])
    def test_trees(self, convert):
        """Labels, unary nodes and single words are ignored; words may differ from those of X."""
        y = [None] * len(SENTENCES)
        y[0] = convert("(S (NP (DT the) (JJ big) (NN dog)) (VP (V ate) (NP (N (N mice)))))")
        expected = [None] * len(SENTENCES)
        expected[0] = [(0, 3), (3, 5)]
        for part, other in zip(limits_of(y), limits_of(expected), strict=True):
            assert_array_equal(part, other)

    @pytest.mark.parametrize(
        "y",
        [
            None,
            [None] * 9,
            [[]] * 9,
            [[(0, len(x)), (0, 1)] for x in SENTENCES],
            np.arange(9),
            list("abcabcabc"),
            np.repeat(["a", "b", "c"], 3),
            [0.5, np.nan] * 4 + [np.float32(1)],
        ],
    )
    def test_nothing_known(self, y):
        """The data are the same: fits have the same bits, and a warm start continues."""
        sentences = corpus()
        assert add_brackets(sentences, y) is sentences

    def test_sentences_without_words(self):
        data = quick()._check_input(
            [[], [0, 1, 2], [], [1, 0, 2, 2]], [[], [(1, 3)], None, [(0, 2)]]
        )
        assert data.limits.firsts.tolist() == [0, 1, 0, 0, 0, 0, 0]


class TestBadInput:
    @pytest.mark.parametrize(
        ("y", "error", "message"),
        [
            (KNOWN[:-1], ValueError, r"X has 9 sentence\(s\), and y has 8 entries"),
            ([0, 1], ValueError, "y has 2 entries"),
            ([], ValueError, "y has 0 entries"),
            ("abcdefghi", TypeError, "y must be a sequence .*got str"),
            (3, TypeError, "y must be a sequence .*got int"),
            (np.array(3), TypeError, "y must be a sequence"),
            ({0: [(0, 2)]}, TypeError, "y must be a sequence .*got dict"),
            ([*KNOWN[:8], 4], TypeError, r"y\[8\] must be a list of spans.*got 4"),
            ([*KNOWN[:8], "NP"], TypeError, r"y\[8\] must be a list of spans.*got 'NP'"),
            ([*KNOWN[:8], 0.5], TypeError, r"y\[8\] must be a list of spans.*got 0.5"),
            ([*KNOWN[:8], {(0, 2): "NP"}], TypeError, r"y\[8\] must be a list of spans"),
            ([*KNOWN[:8], ["NP"]], TypeError, r"y\[8\] must hold spans.*got 'NP'"),
            ([*KNOWN[:8], [(0, 2), "02"]], TypeError, r"y\[8\] must hold spans.*got '02'"),
            ([*KNOWN[:8], (0, 2)], TypeError, r"y\[8\] must hold spans.*got 0"),
            ([*KNOWN[:8], [(0, 1, 2)]], TypeError, r"y\[8\] must hold spans.*got \(0, 1, 2\)"),
            ([*KNOWN[:8], [(0, 2.0)]], TypeError, r"y\[8\] must hold spans.*got \(0, 2.0\)"),
            ([*KNOWN[:8], [(False, True)]], TypeError, r"y\[8\] must hold spans"),
            ([*KNOWN[:8], [("NP", 0, 2)]], TypeError, r"y\[8\] must hold spans"),
            ([*KNOWN[:8], [None]], TypeError, r"y\[8\] must hold spans.*got None"),
            (
                [*KNOWN[:8], [(0, 7)]],
                ValueError,
                r"y\[8\]: the span \(0, 7\) is out of range.*<= 6",
            ),
            ([*KNOWN[:8], [(-1, 2)]], ValueError, r"y\[8\]: the span \(-1, 2\) is out of range"),
            ([*KNOWN[:8], [(2, 2)]], ValueError, r"y\[8\]: the span \(2, 2\) is out of range"),
            ([*KNOWN[:8], [(3, 2)]], ValueError, r"y\[8\]: the span \(3, 2\) is out of range"),
            ([*KNOWN[:8], [(0, 2**70)]], ValueError, r"y\[8\]: the span .* is out of range"),
            (
                [[(1, 3), (0, 4), (2, 5)], *KNOWN[1:]],
                ValueError,
                r"y\[0\]: the spans \((0, 4|1, 3)\) and \(2, 5\) cross.*sentence",
            ),
            (
                [ParseTree.from_brackets("(S a b)"), *KNOWN[1:]],
                ValueError,
                r"y\[0\] is a tree of 2 words, but the sentence has 5",
            ),
        ],
    )
    def test_a_fault_is_named(self, y, error, message):
        estimator = quick()
        before = dict(vars(estimator))
        with pytest.raises(error, match=message):
            estimator.fit(SENTENCES, y)
        assert vars(estimator) == before
        with pytest.raises(error, match=message):
            quick(**GIBBS).iter_sweeps(SENTENCES, y)

    def test_brackets_of_a_sentence_that_is_left_out(self):
        """Sentences are numbered as in X, whether they are too long or not."""
        with pytest.raises(ValueError, match=r"y\[8\]: the span \(0, 7\)"):
            quick(max_length=3).fit(SENTENCES, [*KNOWN[:8], [(0, 7)]])


class TestFits:
    @every_model
    def test_fit(self, name):
        """Brackets change the fit, but scores are those of sentences without brackets."""
        fit = quick(**MODELS[name]).fit(SENTENCES, KNOWN)
        assert_same_fit(fit, quick(**MODELS[name]).fit(corpus(), tuple(KNOWN)))
        assert not np.array_equal(fit.binary_probs_, fitted(name).binary_probs_)
        assert fit.score(SENTENCES, KNOWN) == fit.score(SENTENCES)

    def test_all_states_have_the_brackets(self):
        """A branch to the left with a word on the right is the only type of rule that is used."""
        y = [[(0, i) for i in range(2, len(x))] for x in SENTENCES]
        for state in quick(**GIBBS, n_preterminals=2).iter_sweeps(SENTENCES, y):
            assert state.binary_counts[:, :2, 2:].sum() == state.binary_counts[:, 2:, 2:].sum() == 0

    def test_long_sentences_are_left_out(self):
        with pytest.warns(UserWarning, match="longer than max_length=5"):
            fit = quick(max_length=5).fit(SENTENCES, KNOWN)
        short = [i for i, x in enumerate(SENTENCES) if len(x) <= 5]
        expected = quick().fit([SENTENCES[i] for i in short], [KNOWN[i] for i in short])
        assert_array_equal(fit.binary_probs_, expected.binary_probs_)

    @pytest.mark.parametrize("params", [{"n_init": 2}, {"inference": "viterbi-em"}, GIBBS], ids=str)
    def test_jobs(self, params):
        one, two = (quick(**params, n_jobs=n).fit(SENTENCES, KNOWN) for n in (1, 2))
        assert_array_equal(one.binary_probs_, two.binary_probs_)

    def test_iter_sweeps(self):
        model = quick(**{**GIBBS, "n_chains": 1}).fit(SENTENCES, KNOWN)
        states = quick(**GIBBS).iter_sweeps(SENTENCES, KNOWN)
        logs = [state.log_joint() for state in states]
        assert_array_equal(model.trace_["log_joint"].ravel()[-1], logs[-1])

    def test_grid_search(self):
        search = GridSearchCV(quick(max_iter=4), {"n_components": [2, 3]}, cv=KFold(3))
        assert np.isfinite(search.fit(SENTENCES, KNOWN).cv_results_["mean_test_score"]).all()

    def test_classes_of_sentences_are_ignored(self):
        labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
        assert_same_fit(quick().fit(SENTENCES, labels), fitted("plain"))
        make_pipeline(quick(), LogisticRegression()).fit(SENTENCES, labels).predict(SENTENCES)


class TestResumedFits:
    @pytest.mark.parametrize("params", [{}, {"inference": "em"}, GIBBS], ids=str)
    def test_warm_start(self, params):
        straight = quick(**params).set_params(max_iter=14).fit(SENTENCES, KNOWN)
        warm = quick(**params).set_params(max_iter=9, warm_start=True).fit(SENTENCES, KNOWN)
        warm = pickle.loads(pickle.dumps(warm)).set_params(max_iter=14)
        warm.fit(SENTENCES, [[*(spans or []), (0, 1)] for spans in KNOWN])  # the same limits
        assert_array_equal(warm.binary_probs_, straight.binary_probs_)

    @pytest.mark.parametrize("params", [{}, GIBBS], ids=str)
    @pytest.mark.parametrize("y", [None, [None, *KNOWN[1:]], [*KNOWN[:8], [(0, 2)]]], ids=str)
    def test_other_brackets_are_refused(self, params, y):
        warm = quick(**params, warm_start=True).fit(SENTENCES, KNOWN)
        with pytest.raises(ValueError, match="same X"):
            warm.fit(SENTENCES, y)

    @pytest.mark.parametrize("params", [{}, GIBBS], ids=str)
    def test_checkpoint(self, params, tmp_path):
        path = tmp_path / "file"
        straight = quick(**params).set_params(max_iter=14).fit(SENTENCES, KNOWN)

        def model(max_iter):
            made = quick(**params).set_params(max_iter=max_iter)
            return made.set_callbacks(Checkpoint(path, every_sweeps=3))

        model(9).fit(SENTENCES, KNOWN)
        with pytest.raises(ValueError, match="is of a fit to another X"):
            model(14).fit(SENTENCES)
        resumed = model(14).fit(SENTENCES, KNOWN)
        assert_array_equal(resumed.binary_probs_, straight.binary_probs_)


class TestPartitions:
    def split(self, n):
        X = PartitionedSentences.from_sentences(corpus(), n)
        ends = np.cumsum([len(part) for part in X.partitions])
        y = [KNOWN[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
        return X, y

    @pytest.mark.parametrize("params", [{}, {"inference": "viterbi-em"}], ids=str)
    def test_fit(self, params):
        whole = quick(**params).fit(SENTENCES, KNOWN)
        X, y = self.split(1)
        assert_array_equal(quick(**params).fit(X, y).lower_bounds_, whole.lower_bounds_)
        X, y = self.split(3)
        parts = quick(**params).fit(X, y)
        assert_allclose(parts.lower_bounds_, whole.lower_bounds_, rtol=1e-10)
        assert not np.array_equal(parts.lower_bounds_, quick(**params).fit(X).lower_bounds_)

    def test_nothing_known(self):
        X, y = self.split(3)
        expected = quick().fit(X)
        for nothing in ([None] * 3, list(range(9)), [[None] * len(part) for part in y]):
            assert_same_fit(quick().fit(X, nothing), expected)

    def test_warm_start(self):
        X, y = self.split(3)
        warm = quick(warm_start=True).fit(X, y)
        warm.fit(X, y)
        for other in (None, [None, *y[1:]]):
            with pytest.raises(ValueError, match="same X"):
                warm.fit(X, other)

    def test_bad_input(self):
        X, y = self.split(3)
        with pytest.raises(ValueError, match="y must have an entry for each of the 3 partitions"):
            quick().fit(X, KNOWN)
        with pytest.raises(ValueError, match=r"and y\[1\] has 1 entries"):
            quick().fit(X, [y[0], [None], y[2]])
        with pytest.raises(ValueError, match=r"y\[2\]\[0\]: the span \(0, 9\) is out of range"):
            quick().fit(X, [*y[:2], [[(0, 9)], *y[2][1:]]])
        with pytest.raises(TypeError, match="y must be a sequence"):
            quick().fit(X, 3)
