"""HTML displays of fitted estimators end in a line about the result, and never fail."""

import importlib
import inspect

import numpy as np
import pytest
from registry import CASES, fitted
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from skdp._result_line import _find_facts, describe_result
from skdp.context import HDPBackoffClassifier
from skdp.feature_extraction import TokenVectorizer
from skdp.inference import Trace
from skdp.language import KneserNeyLM
from skdp.mixture import DPMixture
from skdp.sequence import StateDetector
from skdp.topics import GibbsLDA, LatentDirichletCoClustering, TopicSegmenter

FAMILIES = (
    *("context", "feature_extraction", "grammar", "language", "mixture", "preprocessing"),
    *("sequence", "topics"),
)
WITHOUT = {"PanelTransformer"}
"""Estimators without learned attributes of their own."""


def traced(estimator, log_joint, **attributes):
    """Return an estimator with the attributes of a fit."""
    values = np.asarray(log_joint)
    sweeps = np.arange(values.shape[1]) + 1
    estimator.trace_, estimator.convergence_ = Trace(sweeps, {"log_joint": values}), {}
    for name, value in attributes.items():
        setattr(estimator, name, value)
    return estimator


def test_all_estimators_have_facts():
    for family in FAMILIES:
        for name, cls in vars(importlib.import_module(f"skdp.{family}")).items():
            if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and hasattr(cls, "fit"):
                assert bool(_find_facts(cls)) == (name not in WITHOUT), name


def test_lines():
    topics = traced(GibbsLDA(), [[-3.0, -1.0], [-9.0, -9.0]], components_=np.eye(12), n_iter_=1000)
    assert describe_result(topics) == "12 topics · mean log joint -2 · 1,000 sweeps of 2 chains"
    topics.convergence_ = {"trend": {}}
    assert describe_result(topics).endswith(" · the fit warned (see convergence_)")
    both = traced(
        LatentDirichletCoClustering(), [[-1234.56]], components_=np.eye(3),
        segment_topic_prior_=np.ones((1, 3)), n_iter_=1,
    )  # fmt: skip
    line = "3 topics of words · 1 topic of segments · mean log joint -1,234.6 · 1 sweep"
    assert describe_result(both) == line
    parts = traced(TopicSegmenter(), [[-1.0]], n_parts_=np.array([2, 0, 5]), n_iter_=9)
    assert describe_result(parts).startswith("7 parts of 3 documents · ")
    detector = StateDetector()
    detector.n_active_components_, detector.change_points_ = 2, [np.array([3, 5]), np.array([9])]
    assert describe_result(detector) == "2 states · 3 changes"
    detector.change_points_ = np.array([3])
    assert describe_result(detector) == "2 states · 1 change"
    backoff = HDPBackoffClassifier()
    backoff.classes_, backoff.chain_weights_ = np.arange(2), np.array([0.5, 0.0, 0.1])
    backoff.n_contexts_ = [np.array([1, 3]), np.array([1, 2]), np.array([1, 3, 4])]
    assert describe_result(backoff) == "2 classes · 2 chains of columns"
    words = TokenVectorizer()
    words.vocabulary_ = {"a": 0, "b": 1}
    assert describe_result(words) == "2 words in the vocabulary"


def test_the_line_is_in_the_displays():
    language = KneserNeyLM(2, discount=0.5)
    plain = language._repr_html_()
    assert "skdp-result" not in plain
    assert language._repr_mimebundle_()["text/html"].count("skdp-result") == 0
    language.fit([[0, 1, 2], [0, 2]])
    for display in (language._repr_html_(), language._repr_mimebundle_()["text/html"]):
        assert display.count("<b>Result:</b> 5 contexts</div>") == 1
    with config_context(display="text"):
        assert not hasattr(language, "_repr_html_")
        assert "text/html" not in language._repr_mimebundle_()
    assert "KneserNeyLM" in make_pipeline(language)._repr_html_()  # scikit-learn's own


def test_odd_estimators_have_the_display_of_scikit_learn():
    odd = DPMixture()
    odd.n_components_, odd.trace_, odd.convergence_, odd.n_iter_ = "<b>", None, 7, {}
    assert odd._repr_html_().count("skdp-result") == 0
    empty = traced(DPMixture(), np.empty((1, 0)), n_components_=2, n_iter_=3)
    assert describe_result(empty) == "2 clusters · 3 sweeps"  # interrupted in the burn-in
    empty.trace_ = Trace(np.array([1]), {"log_joint": np.array([[np.nan]])})
    assert describe_result(empty) == "2 clusters · 3 sweeps"

    class Broken(DPMixture):
        def _result_line(self):
            raise ZeroDivisionError

    class Marked(DPMixture):
        def _result_line(self):
            return "</div><script>alert(1)</script>"

    assert "skdp-result" not in Broken()._repr_html_()
    display = Marked()._repr_html_()
    assert "<script>alert" not in display
    assert "&lt;/div&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in display


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CASES)
def test_fits(name):
    assert CASES[name].estimator._result_line() == ""
    model = fitted(name)
    line = model._result_line()
    assert line
    assert "\n" not in line
    if hasattr(model, "trace_"):
        assert "mean log joint" in line
    assert f"<b>Result:</b> {line}" in model._repr_html_()
