"""One line about the result of a fit, for the HTML display of an estimator.

`_FACTS` has an entry for each family. A fact reads public attributes only, and costs nothing until
a display asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Fact = Callable[[Any], str]


def describe_result(estimator: Any) -> str:
    """Return a line such as "20 topics · mean log joint -1,234.5 · 200 sweeps", or ""."""
    found = []
    for fact in _find_facts(type(estimator)):
        try:
            text = fact(estimator)
        except Exception:  # an attribute is missing, or a user has replaced it
            text = ""
        if text:
            found.append(text)
    return " · ".join(found)


def _find_facts(cls: type) -> tuple[Fact, ...]:
    """Return the facts of a class, or of its nearest base class that has an entry."""
    return next((_FACTS[base.__name__] for base in cls.__mro__ if base.__name__ in _FACTS), ())


def _count(n: Any, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{int(n):,} {singular if n == 1 else plural or f'{singular}s'}"


def _used(n: Any, most: int, plural: str) -> str:
    return f"{int(n):,} of {most:,} {plural} in use"


def _number(value: float) -> str:
    """Return a log probability, with more digits if it is small."""
    return f"{value:,.1f}" if abs(value) >= 100.0 else f"{value:.4g}"


def _log_joint(estimator: Any) -> str:
    """Return the mean log joint of the best chain after the burn-in."""
    values = np.asarray(estimator.trace_["log_joint"])
    if values.size == 0 or not np.isfinite(values).all():  # an interrupt in the burn-in
        return ""
    return f"mean log joint {_number(float(values.mean(axis=1).max()))}"


def _sweeps(estimator: Any) -> str:
    chains = np.asarray(estimator.trace_["log_joint"]).shape[0]
    sweeps = _count(estimator.n_iter_, "sweep")
    return sweeps if chains == 1 else f"{sweeps} of {chains:,} chains"


def _warnings(estimator: Any) -> str:
    return "the fit warned (see convergence_)" if len(estimator.convergence_) else ""


def _changes(estimator: Any) -> str:
    changes = estimator.change_points_
    n = sum(map(len, changes)) if isinstance(changes, list) else len(changes)
    return _count(n, "change")


def _contexts(estimator: Any) -> str:
    if hasattr(estimator, "chain_weights_"):  # each chain has a tree of contexts
        n = np.count_nonzero(estimator.chain_weights_)
        return _count(n, "chain of columns", "chains of columns")
    return _count(np.sum(estimator.n_contexts_), "context")


_CHAIN: tuple[Fact, ...] = (_log_joint, _sweeps, _warnings)
_ASCENT: tuple[Fact, ...] = (
    lambda e: f"lower bound {_number(float(e.lower_bound_))}",
    lambda e: _count(e.n_iter_, "iteration"),
    _warnings,
)
_TOPICS: Fact = lambda e: _count(len(e.components_), "topic")  # noqa: E731 - as in the table
_CLUSTERS: Fact = lambda e: _count(getattr(e, "n_clusters_", e.n_components_), "cluster")  # noqa: E731
_CLASSES: Fact = lambda e: _count(len(e.classes_), "class", "classes")  # noqa: E731
_LEXICON: Fact = lambda e: f"{_count(len(e.lexicon_), 'word')} in the lexicon"  # noqa: E731
_RULES: Fact = lambda e: _count(e.n_active_rules_, "rule")  # noqa: E731

_FACTS: dict[str, tuple[Fact, ...]] = {
    "BaseTopicModel": (_TOPICS, *_CHAIN),
    "LatentDirichletCoClustering": (
        lambda e: f"{_count(len(e.components_), 'topic')} of words",
        lambda e: f"{_count(len(e.segment_topic_prior_), 'topic')} of segments",
        *_CHAIN,
    ),
    "TopicSegmenter": (
        _TOPICS,
        lambda e: f"{_count(np.sum(e.n_parts_), 'part')} of {_count(len(e.n_parts_), 'document')}",
        *_CHAIN,
    ),
    "HDPHMMLT": (lambda e: _used(e.n_active_states_, len(e.startprob_), "states"), *_CHAIN),
    "FactorialHMM": (
        lambda e: _used(e.n_active_factors_, len(e.factor_shares_), "factors"),
        *_CHAIN,
    ),
    "StateDetector": (
        lambda e: _count(e.n_active_components_, "state"),
        _changes,
        lambda e: _count(e.n_iter_, "sweep"),
        _warnings,
    ),
    "ChangePointDetector": (_changes,),
    "BaseMixture": (_CLUSTERS, *_CHAIN),
    "HDPMixture": (
        lambda e: f"{_CLUSTERS(e)} of {_count(len(e.group_weights_), 'group')}",
        *_CHAIN,
    ),
    "IBPLatentFeatures": (lambda e: _count(e.n_components_, "latent feature"), *_CHAIN),
    "HDPPCFG": (
        lambda e: _used(e.n_active_components_, len(e.top_weights_), "symbols"),
        _RULES,
        *_ASCENT[:1],
        _log_joint,
        lambda e: _count(e.n_iter_, "sweep" if hasattr(e, "trace_") else "iteration"),
        _warnings,
    ),
    "HDPPCFGRefiner": (
        lambda e: (
            f"{_count(len(e.symbols_), 'symbol')} with "
            f"{_count(np.sum(e.n_active_components_), 'subsymbol')}"
        ),
        _RULES,
        *_ASCENT,
    ),
    "HierarchicalPitmanYorLM": (_contexts, *_CHAIN),
    "KneserNeyLM": (_contexts,),
    "NestedPitmanYorLM": (_LEXICON, *_CHAIN),
    "CollocationPitmanYorLM": (
        lambda e: _count(len(e.collocations_), "collocation"),
        _LEXICON,
        *_CHAIN,
    ),
    "LanguageModelClassifier": (_CLASSES,),
    "HDPBackoffClassifier": (_CLASSES, _contexts, *_CHAIN),
    "HDPBackoffFeatures": (
        _CLASSES,
        lambda e: _count(len(e.chains_), "chain of columns", "chains of columns"),
    ),
    "CollinsBackoffClassifier": (_CLASSES, _contexts),
    "DistanceDependentCRPClassifier": (_CLASSES, _CLUSTERS, *_CHAIN),
    "LexicalizedEventModel": (lambda e: _count(len(e.classifiers_), "classifier"),),
    "TextVectorizer": (lambda e: f"{_count(len(e.vocabulary_), 'word')} in the vocabulary",),
    "WindowFeatures": (lambda e: f"windows of {_count(e.window_, 'step')}, {e.hop_:,} apart",),
}
