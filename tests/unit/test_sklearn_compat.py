import importlib.metadata
import inspect
import pkgutil
from email.message import Message
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

import skdp
from skdp import _sklearn_compat as sklearn_compat
from skdp.mixture import PitmanYorMixture
from skdp.topics import GibbsLDA
from skdp.utils._checking import same_fit


class Fitted(sklearn_compat.CallbackSupportMixin, BaseEstimator):
    _parameter_constraints: ClassVar = {"kind": [sklearn_compat.StrOptions({"a", "b"})]}

    def __init__(self, kind="a"):
        self.kind = kind

    @sklearn_compat.with_callbacks
    def fit(self, X, y=None):
        sklearn_compat.validate_parameters(self)
        task = sklearn_compat.begin_fit_task(self, 3, X)
        self.n_iter_ = 0
        for _ in range(3):
            step = task.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self, X=X)
            self.n_iter_ += 1
            if step.call_on_fit_task_end(estimator=self, X=X):
                break
        task.call_on_fit_task_end(estimator=self, X=X)
        return self


class Recorder:
    """Callback that stops the fit at its second step."""

    def __init__(self):
        self.calls = []

    def setup(self, estimator, context):
        self.calls.append(("setup", context.max_subtasks))

    def teardown(self, estimator, context):
        self.calls.append(("teardown", context.max_subtasks))

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.calls.append(("end", context.task_name, context.task_id))
        return context.task_name == "step" and context.task_id == 1


def test_without_callbacks():
    assert Fitted().fit([[1]]).n_iter_ == 3


def test_callbacks():
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    estimator = Fitted().set_callbacks(recorder).fit([[1]])
    assert estimator.n_iter_ == 2
    assert recorder.calls == [
        ("setup", 3),
        ("begin", "fit", 0),
        ("begin", "step", 0),
        ("end", "step", 0),
        ("begin", "step", 1),
        ("end", "step", 1),
        ("end", "fit", 0),
        ("teardown", 3),
    ]


def test_parameters_are_validated_unless_told_not_to():
    with pytest.raises(ValueError, match="The 'kind' parameter of Fitted must be a str among"):
        Fitted("c").fit([[1]])
    with config_context(skip_parameter_validation=True):
        Fitted("c").fit([[1]])


def test_get_parameter_constraints():
    assert list(sklearn_compat.get_parameter_constraints(Fitted, ["kind"])) == ["kind"]


PAGES = Path(__file__).parents[2] / "doc/api.rst"


@pytest.fixture
def no_address(monkeypatch):
    monkeypatch.delenv("SKDP_DOCUMENTATION_URL", raising=False)
    sklearn_compat._published_documentation.cache_clear()
    yield monkeypatch
    sklearn_compat._published_documentation.cache_clear()


def publish(monkeypatch, *urls):
    metadata = Message()
    for url in urls:
        metadata["Project-URL"] = url
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: metadata)


class TestDocumentationLinks:
    @pytest.mark.parametrize(
        "name",
        [
            "topics.SegmentedTopicModel", "topics.GibbsLDA", "topics.LatentDirichletCoClustering",
            "sequence.HDPHMMLT", "sequence.FactorialHMM", "emissions.GaussianEmission",
            "emissions.CategoricalEmission", "emissions.PoissonEmission",
            "emissions.BernoulliEmission", "emissions.MultinomialEmission",
            "emissions.StudentTEmission",
            "sequence.GaussianSimilarity", "sequence.LaplacianSimilarity",
            "sequence.EmissionSimilarity",
            "sequence.PoissonDuration", "sequence.NegativeBinomialDuration",
            "grammar.HDPPCFG", "grammar.HDPPCFGRefiner",
            "feature_extraction.SegmentVectorizer", "feature_extraction.TokenVectorizer",
        ],
    )  # fmt: skip
    def test_an_address_of_ones_own(self, no_address, name):
        no_address.setenv("SKDP_DOCUMENTATION_URL", "https://docs.example/skdp/")
        module, _, kind = name.partition(".")
        html = getattr(getattr(skdp, module), kind)()._repr_html_()
        assert f'href="https://docs.example/skdp/api/generated/skdp.{name}.html"' in html
        assert kind in PAGES.read_text("utf-8").split()  # it has a page there

    def test_the_published_address(self, no_address):
        publish(no_address, "Source, https://src.example", "Documentation, https://docs.example/en")
        html = skdp.topics.GibbsLDA()._repr_html_()
        assert 'href="https://docs.example/en/api/generated/skdp.topics.GibbsLDA.html"' in html

    def test_without_an_address_there_is_no_link(self, no_address):
        publish(no_address)
        assert "href=" not in skdp.topics.GibbsLDA()._repr_html_()

    def test_without_an_installed_package(self, no_address):
        def missing(name):
            raise importlib.metadata.PackageNotFoundError(name)

        no_address.setattr(importlib.metadata, "metadata", missing)
        assert skdp.topics.GibbsLDA()._get_doc_link() == ""


class TestScalarsOfNumPy:
    """They mean what Python's mean: np.arange in a grid, a value of an array."""

    @pytest.mark.parametrize("scalar", [np.int64, np.int32, np.uint8, np.bool_, np.float32])
    def test_every_estimator_takes_them(self, scalar):
        classes = {
            value
            for module in pkgutil.iter_modules(skdp.__path__, "skdp.")
            if not module.name.startswith("skdp._")
            for value in vars(importlib.import_module(module.name)).values()
            if inspect.isclass(value) and hasattr(value, "get_params")
        }
        assert len(classes) > 40
        for cls in classes:
            for name, parameter in inspect.signature(cls).parameters.items():
                estimator = object.__new__(cls)
                setattr(estimator, name, scalar(1))
                kind = type(getattr(estimator, name))
                assert kind in (int, bool, float), (cls, parameter)

    def test_a_fit_is_the_same(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        plain = PitmanYorMixture(max_iter=12, burn_in=6, random_state=3).fit(X)
        scalars = PitmanYorMixture(max_iter=np.uint8(12), random_state=np.int64(3))
        scalars.set_params(burn_in=np.int32(6))
        same_fit(plain, clone(scalars).fit(X))

    def test_a_grid(self):
        X = np.random.default_rng(0).normal(size=(30, 2))
        grid = {"max_iter": np.arange(4, 6), "discount": np.float32([0.25])}
        search = GridSearchCV(PitmanYorMixture(random_state=0), grid, error_score="raise", cv=2)
        assert search.fit(X).best_params_["max_iter"] in (4, 5)

    def test_pairs_and_what_is_learned(self):
        model = PitmanYorMixture()
        model.concentration = (np.int64(2), np.float64(0.5))
        assert [type(part) for part in model.concentration] == [int, float]
        model.n_iter_, model._place = np.int64(3), np.int64(3)
        assert type(model.n_iter_) is type(model._place) is np.int64
        assert clone(model).concentration == (2, 0.5)


@pytest.mark.skipif(
    not sklearn_compat.has_callbacks(), reason="scikit-learn before 1.9 has no callbacks"
)
def test_an_interrupt_while_callbacks_are_set_up():
    """The interrupt is what users see, not an attribute that scikit-learn lacks at the end."""

    class Interrupted(GibbsLDA):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if name == "_callback_fit_ctx":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Interrupted(2, max_iter=2).fit([[[0, 1]]])
