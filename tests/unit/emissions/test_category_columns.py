"""Columns of text, where an emission takes categories: as codes, the same in all containers."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skdp.emissions import CategoricalEmission, IndependentEmissions
from skdp.inspection import StateSequenceDisplay
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture
from skdp.sequence import HDPHMMLT

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

WORDS = ["b", "a", "c", "a", "b", "b"] * 4
CODES = np.array([["abc".index(word)] for word in WORDS])
COLUMN = np.array(WORDS, dtype=object)[:, None]
FEW = {"max_iter": 4, "random_state": 0}
MODELS = [
    HDPHMMLT(3, emission="categorical", **FEW),
    DPMixture("categorical", **FEW),
    PitmanYorMixture(CategoricalEmission(n_symbols=5), **FEW),
    HDPMixture("categorical", **FEW),
]
of_all_models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


def other_libraries():
    """Yield what polars and Arrow make of the words, if they are here."""
    if importlib.util.find_spec("polars"):
        import polars

        frame = polars.DataFrame({"w": WORDS})
        yield frame
        for kind in (polars.Categorical, polars.Enum(["c", "b", "a"])):
            yield frame.with_columns(polars.col("w").cast(kind))
    if importlib.util.find_spec("pyarrow"):
        import pyarrow

        yield pyarrow.table({"w": WORDS})
        yield pyarrow.table({"w": pyarrow.array(WORDS).dictionary_encode()})


def columns():
    yield COLUMN
    yield COLUMN.astype(str)
    yield COLUMN.tolist()
    yield pd.DataFrame({"w": WORDS})
    yield pd.DataFrame({"w": pd.Series(WORDS, dtype=object)})
    yield pd.DataFrame({"w": pd.Categorical(WORDS, categories=["c", "b", "a"])})
    yield from other_libraries()


@of_all_models
def test_a_column_of_text(model):
    expected = clone(model).fit(CODES)
    assert not hasattr(expected, "categories_")
    for X in columns():
        fitted = clone(model).fit(X)
        assert [each.tolist() for each in fitted.categories_] == [["a", "b", "c"]]
        assert_array_equal(fitted.predict(X), expected.predict(CODES))
        assert_allclose(fitted.score(X), expected.score(CODES))
    again = fitted.fit(CODES)
    assert not hasattr(again, "categories_")


def test_declared_categories_in_sequences():
    """Categories that do not occur are not symbols."""
    frame = pd.DataFrame({"w": pd.Categorical(WORDS, categories=["z", "c", "b", "a"])})
    fitted = clone(MODELS[0]).fit(frame)
    assert fitted.categories_[0].tolist() == ["a", "b", "c"]
    assert_allclose(fitted.score(frame), clone(MODELS[0]).fit(CODES).score(CODES))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=["HDPHMMLT", "HDPMixture"])
def test_sequences_of_text(model):
    expected = clone(model).fit([CODES[:9], CODES[9:]])
    for X in (
        [COLUMN[:9], COLUMN[9:]],
        [COLUMN[:9, 0], COLUMN[9:, 0]],
        [WORDS[:9], WORDS[9:]],
        [COLUMN[:9].tolist(), COLUMN[9:].tolist()],
        [pd.Series(WORDS[:9]), pd.Series(WORDS[9:])],
        [pd.DataFrame({"w": WORDS[:9]}), pd.DataFrame({"w": WORDS[9:]})],
    ):
        fitted = clone(model).fit(X)
        assert fitted.categories_[0].tolist() == ["a", "b", "c"]
        assert_allclose(fitted.score(X), expected.score([CODES[:9], CODES[9:]]))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_symbols(missing):
    """In sequences, text with gaps is the same as codes with NaN."""
    words, codes = COLUMN.copy(), CODES.astype(float)
    words[[2, 9]], codes[[2, 9]] = missing, np.nan
    model = HDPHMMLT(3, emission="categorical", **FEW)
    of_codes = clone(model).fit(codes)
    for X in (pd.DataFrame({"w": words[:, 0]}), words, words.tolist()):
        fitted = clone(model).fit(X)
        assert fitted.categories_[0].tolist() == ["a", "b", "c"]
        assert fitted.score(X) == of_codes.score(codes)
        assert_array_equal(fitted.predict_proba(X), of_codes.predict_proba(codes))
    steps = of_codes.score_samples(codes)
    assert_allclose(steps[[2, 9]], 0.0, atol=1e-12)
    assert of_codes.score(codes) == pytest.approx(steps.sum() / (len(codes) - 2))
    nothing = np.array([[missing], [missing]], dtype=object)
    assert_allclose(fitted.score_samples(nothing), 0.0, atol=1e-12)


@of_all_models
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_categories(model, missing):
    """Text with gaps is the same as codes with NaN, in mixtures too."""
    words, codes = COLUMN.copy(), CODES.astype(float)
    words[[2, 9]], codes[[2, 9]] = missing, np.nan
    of_codes = clone(model).fit(codes)
    for X in (pd.DataFrame({"w": words[:, 0]}), words, words.tolist()):
        fitted = clone(model).fit(X)
        assert fitted.categories_[0].tolist() == ["a", "b", "c"]
        assert_array_equal(fitted.predict(X), of_codes.predict(codes))
        nothing = pd.DataFrame({"w": [missing, "a"]}) if hasattr(X, "columns") else X[:3]
        assert len(fitted.predict(nothing)) == len(nothing)


@of_all_models
def test_faults(model):
    frame = pd.DataFrame({"w": WORDS})
    fitted = clone(model).fit(frame)
    with pytest.raises(
        ValueError, match=r"column 'w', holds 'q'.*not one of the categories of fit"
    ):
        fitted.predict(pd.DataFrame({"w": ["a", "q"]}))
    with pytest.raises(TypeError, match="column 'w', holds numbers, but in fit it held strings"):
        fitted.predict(pd.DataFrame({"w": [0, 1]}))
    with pytest.raises(TypeError, match=r"column 0, holds text.*in fit it held numbers"):
        clone(model).fit(CODES).predict(COLUMN)
    two = pd.DataFrame({"w": WORDS, "v": WORDS})
    if isinstance(model, HDPHMMLT):
        with pytest.raises(ValueError, match="must have 1 feature"):
            clone(model).fit(two)
    else:  # a mixture takes a column of categories as a part of its own
        assert len(clone(model).fit(two).categories_) == 2
    before = fitted.categories_
    with pytest.raises(ValueError, match=r"contains infinity|finite|nothing but missing"):
        fitted.fit(np.array([[0.0], [np.inf]]))
    assert fitted.categories_ is before


def test_columns_of_several_kinds():
    parts = [("x", "gaussian", ["x"]), ("w", "categorical", ["w"])]
    model = HDPHMMLT(3, emission=IndependentEmissions(parts), **FEW)
    values = np.arange(24.0) % 5
    frame = pd.DataFrame({"x": values, "w": WORDS})
    expected = clone(model).fit(frame.assign(w=CODES))
    fitted = clone(model).fit(frame)
    assert fitted.categories_[0] is None
    assert fitted.categories_[1].tolist() == ["a", "b", "c"]
    assert_allclose(fitted.score(frame), expected.score(frame.assign(w=CODES)))
    with pytest.raises(ValueError, match="column 'w', holds 'q'"):
        fitted.predict(frame.assign(w="q"))
    by_number = [("x", "gaussian", [0]), ("w", CategoricalEmission(), [1])]
    model = HDPHMMLT(3, emission=IndependentEmissions(by_number), **FEW)
    rows = [list(row) for row in zip(values, WORDS, strict=True)]
    assert_allclose(clone(model).fit(rows).score(rows), fitted.score(frame))


def test_displays_of_text():
    frame = pd.DataFrame({"w": WORDS})
    model = clone(MODELS[0]).fit(frame)
    display = StateSequenceDisplay.from_estimator(model, frame)
    assert_array_equal(display.predicted, model.predict(frame))
