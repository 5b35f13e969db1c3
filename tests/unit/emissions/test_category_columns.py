"""Columns of text, where an emission takes categories: as codes, the same in all containers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
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
FRAME = pd.DataFrame({"w": WORDS})
POLARS = pl.DataFrame({"w": WORDS})
FEW = {"max_iter": 4, "random_state": 0}
MODELS = [
    HDPHMMLT(3, emission="categorical", **FEW),
    DPMixture("categorical", **FEW),
    PitmanYorMixture(CategoricalEmission(n_symbols=5), **FEW),
    HDPMixture("categorical", **FEW),
]
of_all_models = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
COLUMNS = [
    COLUMN,
    COLUMN.astype(str),
    COLUMN.tolist(),
    FRAME,
    FRAME.astype(object),
    pd.DataFrame({"w": pd.Categorical(WORDS, categories=["c", "b", "a"])}),
    POLARS,
    POLARS.with_columns(pl.col("w").cast(pl.Categorical)),
    POLARS.with_columns(pl.col("w").cast(pl.Enum(["c", "b", "a"]))),
    pa.table({"w": WORDS}),
    pa.table({"w": pa.array(WORDS).dictionary_encode()}),
]


def assert_categories(model):
    assert [each.tolist() for each in model.categories_] == [["a", "b", "c"]]


@of_all_models
def test_a_column_of_text(model):
    expected = clone(model).fit(CODES)
    assert not hasattr(expected, "categories_")
    for X in COLUMNS:
        fitted = clone(model).fit(X)
        assert_categories(fitted)
        assert_array_equal(fitted.predict(X), expected.predict(CODES))
        assert_allclose(fitted.score(X), expected.score(CODES))
    with pytest.raises(ValueError, match=r"contains infinity|finite|nothing but missing"):
        fitted.fit(np.array([[0.0], [np.inf]]))
    assert_categories(fitted)
    assert not hasattr(fitted.fit(CODES), "categories_")


def test_declared_categories_in_sequences():
    """Categories that do not occur are not symbols."""
    frame = pd.DataFrame({"w": pd.Categorical(WORDS, categories=["z", "c", "b", "a"])})
    fitted = clone(MODELS[0]).fit(frame)
    assert_categories(fitted)
    assert_allclose(fitted.score(frame), clone(MODELS[0]).fit(CODES).score(CODES))


@pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=["HDPHMMLT", "HDPMixture"])
def test_sequences_of_text(model):
    expected = clone(model).fit([CODES[:9], CODES[9:]])
    for of_part in (
        lambda part: COLUMN[part],
        lambda part: COLUMN[part, 0],
        lambda part: WORDS[part],
        lambda part: COLUMN[part].tolist(),
        lambda part: pd.Series(WORDS[part]),
        lambda part: pd.DataFrame({"w": WORDS[part]}),
    ):
        X = [of_part(slice(9)), of_part(slice(9, None))]
        fitted = clone(model).fit(X)
        assert_categories(fitted)
        assert_allclose(fitted.score(X), expected.score([CODES[:9], CODES[9:]]))


@of_all_models
@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_categories(model, missing):
    """Text with gaps is the same as codes with NaN."""
    words, codes = COLUMN.copy(), CODES.astype(float)
    words[[2, 9]], codes[[2, 9]] = missing, np.nan
    of_codes = clone(model).fit(codes)
    for X in (pd.DataFrame({"w": words[:, 0]}), words, words.tolist()):
        fitted = clone(model).fit(X)
        assert_categories(fitted)
        assert_array_equal(fitted.predict(X), of_codes.predict(codes))
        some = pd.DataFrame({"w": [missing, "a"]}) if hasattr(X, "columns") else X[:3]
        assert len(fitted.predict(some)) == len(some)
        if isinstance(model, HDPHMMLT):
            assert fitted.score(X) == of_codes.score(codes)
            assert_array_equal(fitted.predict_proba(X), of_codes.predict_proba(codes))
    if isinstance(model, HDPHMMLT):
        nothing = np.array([[missing], [missing]], dtype=object)
        assert_allclose(fitted.score_samples(nothing), 0.0, atol=1e-12)


def test_columns_of_several_kinds():
    parts = [("x", "gaussian", ["x"]), ("w", "categorical", ["w"])]
    model = HDPHMMLT(3, emission=IndependentEmissions(parts), **FEW)
    values = np.arange(24.0) % 5
    frame = FRAME.assign(x=values)[["x", "w"]]
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
    model = clone(MODELS[0]).fit(FRAME)
    display = StateSequenceDisplay.from_estimator(model, FRAME)
    assert_array_equal(display.predicted, model.predict(FRAME))
