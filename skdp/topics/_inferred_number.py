"""Base class of the topic models whose number of topics may be inferred."""

from __future__ import annotations

from typing import Any

import numpy as np

from skdp._fit import FitState
from skdp._numeric._random import Role, derive_seed
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.inference._convergence import warn_of_bound, warn_of_drifts
from skdp.inference._trace import Trace
from skdp.topics._base import BaseTopicModel
from skdp.topics._coarse_views import effective_number
from skdp.topics._given_topics import check_topics
from skdp.topics._shared._allowed import LabeledCorpus
from skdp.topics._shared._best_sample import BestSample
from skdp.topics._shared._pilots import DEFAULT_NUMBER, PilotChoice, choose_number_of_topics


class InferredNumberModel(BaseTopicModel):
    """Base class with the start and the attributes of chains whose number of topics is inferred."""

    _optional_attributes = BaseTopicModel._optional_attributes | frozenset([
        "n_components_", "n_components_distribution_", "n_effective_components_",
        "initial_components_", "weights_",
    ])  # fmt: skip

    initial_components: int | str
    max_components: int | None = None

    @property
    def _is_open(self) -> bool:
        """Whether the number of topics is inferred."""
        return True

    def _start_from(
        self,
        corpus: SegmentedCorpus | LabeledCorpus,
        root: np.random.SeedSequence,
        c: int,
        n_topics: int,
        init: Any,  # the name of a start, or (n_topics, W) word probabilities of the first topics
    ) -> Any:
        """Return the sampler of new chain `c`."""
        raise NotImplementedError

    @property
    def _averages_samples(self) -> bool:
        return not self._is_open

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        number = getattr(self, self._first_topics_name)
        if not isinstance(number, str):
            self._check_bound(self._first_topics_name, number)
        if self._is_open and self.max_components is not None:
            self._check_bound("max_components", self.max_components)

    @property
    def _numbers_topics(self) -> bool:
        return not self._is_open

    @property
    def _n_named_topics(self) -> int:
        if not self._is_open:
            return super()._n_named_topics
        return self._n_fixed + len(self._seeded_topics())

    def _check_bound(self, name: str, number: int) -> None:
        given = {"fixed_components": self._n_fixed, "seed_words": len(self._seeded_topics())}
        if self._is_open and number < sum(given.values()):
            what = " and ".join(f"{key} has {n}" for key, n in given.items() if n)
            raise ValueError(f"{name} has {number} topics, but {what}, which all exist.")
        if self.max_components is not None and number > self.max_components:
            raise ValueError(
                f"{name} has {number} topics, but max_components is {self.max_components}."
            )

    def _check_init(self, n_words: int) -> Any:
        if not self._is_open or isinstance(self.init, str):
            return super()._check_init(n_words)
        topics = check_topics(self.init, "init", None)
        if topics.shape[1] != n_words:
            raise ValueError(
                f"init must have shape (n_topics, n_features) with n_features={n_words}, got "
                f"{topics.shape}."
            )
        self._check_bound("init", len(topics))
        return topics

    @property
    def _first_topics_name(self) -> str:
        return "initial_components" if self._is_open else "n_components"

    @property
    def _has_pilots(self) -> bool:
        """Whether the initial number of topics is chosen by pilots."""
        return (
            self._is_open
            and isinstance(self.init, str)
            and isinstance(self.initial_components, str)
        )

    def _n_first_topics(self, X: SegmentedCorpus | PartitionedCorpus) -> int:
        if not self._is_open:
            return super()._n_first_topics(X)
        if not isinstance(self.init, str):
            return len(self.init)
        if not self._has_pilots:
            return int(self.initial_components)
        number = max(DEFAULT_NUMBER, self._n_fixed + len(self._seeded_topics()))
        return min(number, self._most_topics or number)

    @property
    def _most_topics(self) -> int | None:
        """The largest number of topics."""
        return None if self.max_components is None else int(self.max_components)

    # Chains

    def _make_averages(self) -> Any:
        return BestSample() if self._is_open else super()._make_averages()

    def _make_sampling(self, kind: Any, data: Any, **options: Any) -> Any:
        if self._has_pilots:
            options = {"start_sampler": PilotedStart(self), **options}
        return super()._make_sampling(kind, data, **options)

    def _start_local_sampler(self, corpus: Any, root: np.random.SeedSequence, c: int) -> Any:
        init = self._check_init(self.n_features_in_)
        return self._start_from(corpus, root, c, self._n_first_topics(corpus), init)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        if not self._is_open:
            return attributes
        numbers = attributes["trace_"]["n_components"].astype(np.int64).ravel()
        return {
            **attributes,
            "initial_components_": state.runs[0].sampler.n_initial_topics,
            "n_components_": len(attributes["weights_"]),
            "n_components_distribution_": np.bincount(numbers) / len(numbers),
            "n_effective_components_": effective_number(attributes["weights_"]),
        }

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        if self._is_open:
            warn_of_drifts(self, trace, "topics")
        if self._is_open and self._most_topics is not None:
            warn_of_bound(
                self,
                "max_components",
                trace["n_components"].ravel() >= self._most_topics,
                self._most_topics,
                "have as many topics as max_components allows. Raise it, unless you want no more.",
            )


class PilotedStart:
    """Starts chains with a number of topics that pilots have chosen, the same for all chains."""

    def __init__(self, estimator: InferredNumberModel):
        self._estimator = estimator
        self._choice: PilotChoice | None = None

    def __call__(
        self, corpus: SegmentedCorpus | LabeledCorpus, root: np.random.SeedSequence, c: int
    ) -> Any:
        """Return the sampler of chain `c`. Pilots do not read labels."""
        estimator = self._estimator
        n_given = estimator._n_fixed + len(estimator._seeded_topics())
        if self._choice is None:
            documents = corpus.corpus if isinstance(corpus, LabeledCorpus) else corpus
            self._choice = choose_number_of_topics(
                documents,
                estimator._size_of_topic(documents),
                lambda rest, number: estimator._start_from(
                    rest, derive_seed(root, Role.PILOT, number), 0, number, "random"
                ),
                derive_seed(root, Role.PILOT),
                estimator._most_topics,
                estimator.n_jobs,
                max(n_given, 1),
            )
        is_open = n_given or self._choice.finds_topics
        number = self._choice.number if is_open else 1
        sampler = estimator._start_from(corpus, root, c, number, estimator.init)
        if not is_open:
            sampler.most_topics = 1
        return sampler
