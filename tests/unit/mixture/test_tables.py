"""Tables of mixed columns in mixtures: data frames, gaps, imputation and synthetic rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skdp.data import SequencePanel
from skdp.data._frames import columns_of
from skdp.emissions import CategoricalEmission, GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture, HDPMixture, PitmanYorMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(3)
N = 120
KIND = RNG.integers(0, 2, N)
FULL = pd.DataFrame({
    "age": RNG.normal(np.array([25.0, 60.0])[KIND], 3.0).round().astype(np.int64),
    "income": RNG.normal(np.array([1.0, 5.0])[KIND], 0.5),
    "kids": RNG.poisson(np.array([0.2, 3.0])[KIND]),
    "job": np.array(["student", "retired"], dtype=object)[
        np.where(RNG.random(N) < 0.9, KIND, 1 - KIND)
    ],
    "owner": RNG.random(N) < np.array([0.1, 0.9])[KIND],
})  # fmt: skip
HIDDEN = RNG.random(FULL.shape) < 0.2


def make_emission(age, income, kids, job, owner):
    """Return the emission of the table, of which columns have names or indices."""
    return IndependentEmissions([
        ("numbers", GaussianEmission("diag"), [age, income]),
        ("kids", "poisson", [kids]),
        ("job", "categorical", [job]),
        ("owner", "bernoulli", [owner]),
    ])  # fmt: skip


EMISSION, BY_INDEX = make_emission(*FULL.columns), make_emission(*range(5))


TYPES = {"age": "Int64", "kids": "Int64", "owner": "boolean", "job": "category"}
GAPS = FULL.astype(TYPES).mask(HIDDEN)
OBJECTS = GAPS.astype(object).where(~HIDDEN, None)


def make(cls=DPMixture, emission=EMISSION, **params):
    return cls(emission, **{"max_iter": 30, "random_state": 0, **params})


@pytest.fixture(scope="module")
def model():
    return make().fit(GAPS)


IN_PANDAS = {
    "typed": GAPS,
    "objects": OBJECTS,
    "text": GAPS.astype({"job": "str"}),
    "ordered": GAPS.astype({"job": pd.CategoricalDtype(["student", "retired"], True)}),
    "numpy types": GAPS.astype({"age": float, "kids": float, "owner": object}),
    "labels of rows": GAPS.set_axis(np.arange(N) * 3 + 7),
    "arrow": GAPS.convert_dtypes(dtype_backend="pyarrow").astype(
        {"job": pd.ArrowDtype(pa.string())}
    ),
}


@pytest.mark.parametrize("kind", IN_PANDAS)
def test_frames_of_pandas(model, kind):
    frame = IN_PANDAS[kind]
    fitted = make().fit(frame)
    assert fitted.categories_[3].tolist() == ["retired", "student"]
    assert np.array_equal(fitted.labels_, model.labels_)
    before = frame.copy()
    imputed = fitted.impute(frame)
    assert (imputed.dtypes == frame.dtypes).all()
    assert imputed.index.equals(frame.index)
    assert not imputed.isna().to_numpy().any()
    pd.testing.assert_frame_equal(frame, before)
    for d, column in enumerate(frame.columns):
        seen = ~HIDDEN[:, d]
        pd.testing.assert_series_equal(imputed[column][seen], frame[column][seen])
    assert set(imputed["job"]) == {"student", "retired"}
    assert (imputed["kids"].astype(float) == imputed["kids"].astype(float).round()).all()
    assert (fitted.sample(3, random_state=0).dtypes == frame.dtypes).all()


def in_polars(frame):
    return pl.from_arrow(pa.Table.from_pandas(frame))


@pytest.mark.parametrize("make_frame", [in_polars, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_frames_of_polars_and_arrow(model, make_frame):
    """A column of nulls has the type of the fit."""
    frame, expected = make_frame(GAPS), model.impute(GAPS)
    fitted = make().fit(frame)
    assert np.array_equal(fitted.labels_, model.labels_)
    imputed, drawn = fitted.impute(frame), fitted.sample(4, random_state=1)
    nulls = make_frame(GAPS[:8].assign(owner=None))
    assert imputed.schema == drawn.schema == fitted.impute(nulls).schema == frame.schema
    for column in FULL:
        assert imputed.to_pandas()[column].tolist() == expected[column].tolist()
    found = drawn.to_pandas()["job"].tolist()
    assert found == model.sample(4, random_state=1)["job"].tolist()


def test_arrays_of_objects_and_lists(model):
    rows = OBJECTS.to_numpy()
    fitted = make(emission=BY_INDEX).fit(rows)
    assert np.array_equal(fitted.labels_, model.labels_)
    imputed = fitted.impute(rows)
    assert imputed.dtype == object
    assert imputed[~HIDDEN].tolist() == rows[~HIDDEN].tolist()
    assert imputed[:, 3].tolist() == model.impute(GAPS)["job"].tolist()
    assert {type(value) for value in imputed[:, 0]} <= {int, np.int64}
    assert {type(value) for value in imputed[:, 4]} <= {bool, np.bool_}
    again = fitted.impute(rows.tolist())
    assert again.tolist() == imputed.tolist()
    drawn = fitted.sample(3, random_state=0)
    assert drawn.dtype == object
    assert set(drawn[:, 3]) <= {"student", "retired"}
    assert fitted.sample(3, as_frame=False, random_state=0).dtype == np.float64


def test_codes(model):
    """A table of numbers, in which the category is its code."""
    codes = GAPS.assign(job=GAPS["job"].map({"retired": 0, "student": 1}).astype(float))
    values = codes.astype(float).to_numpy(na_value=np.nan)
    fitted = make(emission=BY_INDEX).fit(values)
    assert not hasattr(fitted, "categories_")
    assert np.array_equal(fitted.labels_, model.labels_)
    imputed = fitted.impute(values)
    assert imputed.dtype == np.float64
    assert np.array_equal(imputed[~HIDDEN], values[~HIDDEN])
    assert set(imputed[:, 3]) == {0.0, 1.0}
    single = values.astype(np.float32)
    assert fitted.impute(single).dtype == np.float32
    assert np.array_equal(fitted.impute(single)[~HIDDEN], single[~HIDDEN])
    drawn = fitted.sample(5, random_state=0)
    assert isinstance(drawn, np.ndarray)


def test_imputed_cells_are_close(model):
    imputed = model.impute(GAPS)
    for d, column in enumerate(FULL.columns):
        found, truth = imputed[column][HIDDEN[:, d]], FULL[column][HIDDEN[:, d]]
        if column in ("job", "owner"):
            common = truth.mode()[0]
            assert (found.astype(object) == truth).mean() > (truth == common).mean()
        else:
            away = np.sqrt(np.mean((found.astype(float) - truth) ** 2))
            assert away < 0.9 * truth.std()


def test_complete_tables_come_back_the_same(model):
    typed = FULL.astype(GAPS.dtypes.drop("job").to_dict() | {"job": "category"})
    pd.testing.assert_frame_equal(model.impute(typed), typed)
    integers = np.arange(6).reshape(3, 2)
    fitted = DPMixture("poisson", max_iter=5, random_state=0).fit(integers)
    assert fitted.impute(integers).dtype == integers.dtype


def test_rows_without_any_observed_cell(model):
    nothing = GAPS[:2].mask(np.ones((2, 5), dtype=bool))
    imputed = model.impute(nothing)
    assert not imputed.isna().to_numpy().any()
    assert imputed.iloc[0].tolist() == imputed.iloc[1].tolist()


def test_new_categories_of_a_type_are_added(model):
    """A new table whose type of categories lacks the label that is imputed."""
    few = GAPS.loc[(KIND == 1) & ~HIDDEN[:, 3]][:5]
    few = few.assign(job=pd.Categorical([None] * len(few), categories=["student"]))
    assert set(model.impute(few)["job"]) <= {"student", "retired"}


def test_draws_of_missing_cells(model):
    one = model.sample_missing(GAPS, random_state=0)
    assert (one.dtypes == GAPS.dtypes).all()
    pd.testing.assert_frame_equal(one, model.sample_missing(GAPS, random_state=0))
    other = model.sample_missing(GAPS, random_state=1)
    seen = ~HIDDEN[:, 1]
    assert (one["income"][seen] == other["income"][seen]).all()
    assert (one["income"][~seen] != other["income"][~seen]).all()
    means = np.mean(
        [model.sample_missing(GAPS, random_state=s)["income"].to_numpy() for s in range(60)], axis=0
    )
    np.testing.assert_allclose(means, model.impute(GAPS)["income"], atol=0.9)


def test_synthetic_tables(model):
    drawn = model.sample(300, random_state=0)
    assert (drawn.dtypes == GAPS.dtypes).all()
    assert drawn.columns.tolist() == GAPS.columns.tolist()
    shares = pd.crosstab(drawn["age"] > 42, drawn["job"], normalize="index")
    assert shares.loc[True, "retired"] > 0.6 > shares.loc[False, "retired"]
    codes = model.sample(300, as_frame=False, random_state=0)
    assert isinstance(codes, np.ndarray)
    labels = model.categories_[3][codes[:, 3].astype(int)]
    assert labels.tolist() == drawn["job"].tolist()


def test_frames_of_numbers_give_arrays():
    """As ever; a frame only if it is asked for."""
    frame = pd.DataFrame(RNG.normal(size=(20, 2)), columns=["a", "b"])
    fitted = DPMixture(max_iter=5, random_state=0).fit(frame)
    assert isinstance(fitted.sample(4), np.ndarray)
    drawn = fitted.sample(4, as_frame=True)
    assert drawn.columns.tolist() == ["a", "b"]
    whole = DPMixture("poisson", max_iter=5, random_state=0).fit(FULL[["kids"]])
    assert whole.sample(4, as_frame=True).dtypes.tolist() == [np.dtype(np.int64)]


def test_names_of_columns_may_be_in_another_order():
    turned = FULL[["job", "kids", "owner", "income", "age"]]
    fitted = make(PitmanYorMixture).fit(turned)
    assert fitted.sample(2, random_state=0).columns.tolist() == turned.columns.tolist()
    assert fitted.categories_[0].tolist() == ["retired", "student"]


GROUPS = [GAPS[:40], GAPS[40:45], GAPS[45:]]


@pytest.fixture(scope="module")
def grouped():
    return make(HDPMixture).fit(GROUPS)


def test_groups(grouped):
    imputed = grouped.impute(GROUPS)
    assert [len(part) for part in imputed] == [40, 5, 75]
    for part, group in zip(imputed, GROUPS, strict=True):
        assert (part.dtypes == group.dtypes).all()
        assert not part.isna().to_numpy().any()
    one = grouped.impute(GROUPS[0])
    pd.testing.assert_frame_equal(one, imputed[0])
    drawn = grouped.sample_missing(GROUPS, random_state=0)
    assert not drawn[1].isna().to_numpy().any()
    tables = grouped.sample(3, 2, random_state=0)
    assert [len(table) for table in tables] == [3, 3]
    assert (tables[0].dtypes == GAPS.dtypes).all()
    assert isinstance(grouped.sample(3, 2, as_frame=False), SequencePanel)


def test_panels():
    values = np.array([[0.0], [np.nan], [9.0], [8.5], [0.5], [np.nan]])
    panel = SequencePanel(values, [0, 3, 6])
    fitted = HDPMixture(GaussianEmission("diag"), max_iter=20, random_state=0).fit(panel)
    imputed = fitted.impute(panel)
    assert isinstance(imputed, SequencePanel)
    assert np.isfinite(imputed.values).all()
    flat = [values[:3, 0], values[3:, 0]]
    assert [part.shape for part in fitted.impute(flat)] == [(3,), (3,)]


def test_groups_help_their_rows():
    """A group's rows share components: a row without cells is like the others of its group."""
    rng = np.random.default_rng(0)
    groups = [rng.normal(m, 0.5, (30, 1)) for m in (0.0, 8.0)]
    fitted = HDPMixture(GaussianEmission("diag"), max_iter=40, random_state=0).fit(groups)
    for mean, group in zip((0.0, 8.0), groups, strict=True):
        rows = np.vstack([group, [[np.nan]]])
        assert abs(fitted.impute([rows])[0][-1, 0] - mean) < 3.0


def test_copies_keep_the_format(model):
    again = pickle.loads(pickle.dumps(model)).sample(3, random_state=0)
    pd.testing.assert_frame_equal(again, model.sample(3, random_state=0))


def test_an_arrow_dictionary_with_gaps_keeps_them():
    column = pa.array(["a", None, "b"]).dictionary_encode()
    assert columns_of(pa.table({"w": column}))[0].tolist() == ["a", None, "b"]


def groups_of_types(make_frame):
    rng = np.random.default_rng(0)
    flat = rng.normal(size=40)
    return [
        make_frame(flat[:20], ["a", "b"] * 10, np.arange(20) % 3),
        make_frame(flat[20:], ["c", "d"] * 10, np.arange(20) % 3 + 0.5),
    ]


OF_TYPES = IndependentEmissions(
    [("x", GaussianEmission("diag"), ["x", "n"]), ("w", "categorical", ["w"])]
)


def test_formats_of_groups_are_joined():
    groups = groups_of_types(lambda x, w, n: pd.DataFrame({"x": x, "w": pd.Categorical(w), "n": n}))
    fitted = make(HDPMixture, OF_TYPES).fit(groups)
    drawn = pd.concat(fitted.sample(100, 3, random_state=0))
    assert drawn["w"].dtype.categories.tolist() == ["a", "b", "c", "d"]
    assert set(drawn["w"]) == {"a", "b", "c", "d"}
    assert drawn["n"].dtype == np.float64
    assert (drawn["n"] != drawn["n"].round()).any()
    groups[1]["w"] = groups[1]["w"].astype(object)
    drawn = pd.concat(make(HDPMixture, OF_TYPES).fit(groups).sample(100, random_state=0))
    assert set(drawn["w"]) == {"a", "b", "c", "d"}
    flags = [pd.DataFrame({"f": [True, None] * 5}, dtype=object), pd.DataFrame({"f": [False] * 9})]
    fitted = make(HDPMixture, "bernoulli").fit(flags)
    assert {type(flag) for flag in fitted.sample(9, random_state=0)[0]["f"]} == {bool}


@pytest.mark.parametrize("kind", ["Enum", "Categorical", "dictionary"])
def test_formats_of_groups_of_polars_and_arrow_are_joined(kind):
    def make_frame(x, w, n):
        if kind == "dictionary":
            return pa.table({"x": x, "w": pa.array(w).dictionary_encode(), "n": n})
        own = pl.Enum(sorted(set(w))) if kind == "Enum" else pl.Categorical
        return pl.DataFrame({"x": x, "w": pl.Series(w, dtype=own), "n": n})

    fitted = make(HDPMixture, OF_TYPES).fit(groups_of_types(make_frame))
    drawn = fitted.sample(100, 3, random_state=0)
    assert drawn[0].schema == drawn[1].schema == drawn[2].schema
    joined = pd.concat([each.to_pandas() for each in drawn])
    assert set(joined["w"]) == {"a", "b", "c", "d"}
    assert joined["n"].dtype == np.float64


def test_numbers_of_a_type_of_categories_are_labels():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 60)
    zips = np.array([10115, 80331, 90001])[codes]
    hidden = rng.random(60) < 0.1
    frame = pd.DataFrame({"zip": pd.Categorical(zips), "again": pd.Categorical(zips)})
    frame.loc[hidden, "zip"] = None
    values = np.column_stack([np.where(hidden, np.nan, codes), codes])
    expected = make(emission="categorical").fit(values)
    fitted = make(emission="categorical").fit(frame)
    assert [each.tolist() for each in fitted.categories_] == [[10115, 80331, 90001]] * 2
    assert np.array_equal(fitted.predict_proba(frame), expected.predict_proba(values))
    plain = frame.astype({"again": np.int64, "zip": float})
    assert np.array_equal(fitted.predict_proba(plain), expected.predict_proba(values))
    imputed = fitted.impute(frame)
    assert (imputed.dtypes == frame.dtypes).all()
    assert (imputed["zip"].astype(int) == imputed["again"].astype(int)).mean() > 0.9
    assert set(fitted.sample(50, random_state=0)["zip"]) == {10115, 80331, 90001}
    with pytest.raises(ValueError, match="column 'again', holds 3, which is not one"):
        fitted.predict(plain.assign(again=3))
    groups = [frame[:30], frame[30:]]
    parts = make(HDPMixture, "categorical").fit(groups)
    assert parts.categories_[0].tolist() == [10115, 80331, 90001]
    assert set(pd.concat(parts.sample(50, 2, random_state=0))["zip"]) == {10115, 80331, 90001}
    # integers without such a type are codes
    assert not hasattr(
        make(emission="categorical").fit(frame[["again"]].astype(int) % 7), "categories_"
    )


def test_numbers_of_a_dictionary_of_arrow_are_labels():
    for column in ([90001, 10115] * 10, [90001, None, 10115, 10115] * 5):
        table = pa.table({"zip": pa.array(column).dictionary_encode()})
        fitted = make(emission="categorical").fit(table)
        assert fitted.categories_[0].tolist() == [10115, 90001]
        assert set(fitted.impute(table)["zip"].to_pylist()) == {10115, 90001}
    typed = table.to_pandas(types_mapper=pd.ArrowDtype)
    fitted = make(emission="categorical").fit(typed)
    assert fitted.categories_[0].tolist() == [10115, 90001]
    assert (fitted.impute(typed).dtypes == typed.dtypes).all()


@pytest.mark.parametrize(
    "emission", ["categorical", IndependentEmissions([("w", "categorical", ["w"])])]
)
def test_declared_categories_need_not_occur(emission):
    declared = pd.CategoricalDtype(["z", "a", "b"])
    frame = pd.DataFrame({"w": ["a", "b", "b"] * 10}).astype({"w": declared})
    fitted = make(emission=emission).fit(frame)
    assert fitted.categories_[0].tolist() == ["a", "b", "z"]
    rare = pd.DataFrame({"w": ["z", "b"]})
    z, b = fitted.score_samples(rare)
    a = fitted.score_samples(frame[:1])[0]
    assert np.exp([a, b, z]).sum() == pytest.approx(1.0)
    assert z < a < b
    assert (fitted.sample(5, random_state=0).dtypes == frame.dtypes).all()
    seen = make(emission=emission).fit(frame.astype({"w": str}))
    same = make(emission=emission).fit(frame.astype({"w": pd.CategoricalDtype(["b", "a"])}))
    assert same.score(frame) == seen.score(frame) != fitted.score(frame)


def test_declared_categories_of_polars_need_not_occur():
    declared = pl.Enum(["z", "a", "b"])
    frame = pl.DataFrame({"w": pl.Series(["a", "b", "b"] * 10, dtype=declared)})
    fitted = make(emission="categorical").fit(frame)
    assert fitted.categories_[0].tolist() == ["a", "b", "z"]
    assert fitted.sample(5, random_state=0).schema == frame.schema
    assert np.isfinite(fitted.score(pl.DataFrame({"w": ["z"]})))


def test_columns_of_objects_without_values_have_the_type_of_the_fit(model):
    new = GAPS[:8].astype({"owner": object, "kids": object, "age": object})
    new[["owner", "kids", "age"]] = None
    imputed = model.impute(new)
    assert {type(flag) for flag in imputed["owner"]} == {bool}
    assert {type(number) for number in imputed["age"]} == {int}
    assert {type(number) for number in imputed["kids"]} == {int}
    rows = OBJECTS.to_numpy()
    fitted = make(emission=BY_INDEX).fit(rows)
    few = rows[:8].copy()
    few[:, 4] = None
    assert {type(flag) for flag in fitted.impute(few)[:, 4]} == {bool}
    grouped = make(HDPMixture, BY_INDEX).fit([rows[:60], rows[60:]])
    assert {type(flag) for flag in grouped.impute([few, rows])[0][:, 4]} == {bool}


@pytest.mark.filterwarnings("error::UserWarning")
def test_arrays_after_a_fit_to_named_columns(model, grouped):
    """Columns go by position, with scikit-learn's warning."""
    rows = OBJECTS.to_numpy()
    for fitted, X, frames in ((model, rows, GAPS), (grouped, [rows], [GAPS])):
        with pytest.warns(UserWarning, match="X does not have valid feature names") as seen:
            found = fitted.predict(X)
        assert len(seen) == 1
        assert np.array_equal(found, fitted.predict(frames))
        with pytest.warns(UserWarning, match="X does not have valid feature names"):
            imputed = fitted.impute(X)
        assert np.array_equal(
            np.asarray(imputed).reshape(-1, 5)[:, 3], fitted.impute(GAPS)["job"].to_numpy(object)
        )


def test_symbols_without_a_label_are_drawn_as_missing():
    X = pd.DataFrame({"k": pd.Categorical(list("abcabcabca"))})
    emission = CategoricalEmission(n_symbols=5, prior=5.0)
    model = DPMixture(emission, max_iter=30, random_state=0).fit(X)
    drawn = model.sample(60, random_state=0)["k"]
    assert set(drawn.dropna()) == set("abc")
    assert drawn.isna().any()
