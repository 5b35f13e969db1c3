"""Small fits of all kinds of estimators, with numbers for most of their integer parameters."""

import numpy as np

from skdp.context import DistanceDependentCRPClassifier, HDPBackoffClassifier
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import HDPHMMLT, AutoregressiveEmission, FactorialHMM, PoissonDuration
from skdp.topics import AdaptiveTopicModel, GibbsLDA, HDPTopicModel, LatentDirichletCoClustering

ROWS = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(1).integers(0, 3, size=(8, 5))
SENTENCES = [[0, 1, 2], [0, 2], [2, 1, 0], [1]]
STRINGS = ["ab ab", "b ab", "ba b"]
EVENTS = [["a", 1], ["b", 1], ["a", 2], ["b", 2]]
TREES = [ParseTree.from_brackets("(S (A a) (B b))"), ParseTree.from_brackets("(S (A c) (B d))")]
WORDS = [list(tree.leaves) for tree in TREES]
CHAIN = {"max_iter": 5, "burn_in": 1, "thin": 2, "n_samples": 2, "n_chains": 2, "n_jobs": 1}
TOPICS = {**CHAIN, "n_shards": 2, "transform_max_iter": 4, "transform_burn_in": 1}

FITS = {
    "DPMixture": (DPMixture(), CHAIN, (ROWS,)),
    "PitmanYorMixture": (PitmanYorMixture("poisson"), CHAIN, (COUNTS,)),
    "HDPMixture": (HDPMixture(), CHAIN, ([ROWS[:5], ROWS[5:]],)),
    "IBPLatentFeatures": (IBPLatentFeatures(), {**CHAIN, "transform_max_iter": 3}, (ROWS,)),
    "HDPHMMLT": (HDPHMMLT(), {**CHAIN, "n_components": 3}, (ROWS,)),
    "AutoregressiveEmission": (
        HDPHMMLT(emission=AutoregressiveEmission()),
        {"max_iter": 3, "n_components": 2, "emission__lags": 2},
        (ROWS,),
    ),
    "PoissonDuration": (
        HDPHMMLT(duration=PoissonDuration()),
        {"max_iter": 3, "n_components": 2, "duration__max_duration": 9},
        (ROWS,),
    ),
    "FactorialHMM": (FactorialHMM(), {**CHAIN, "n_factors": 3, "block_size": 2}, (ROWS,)),
    "GibbsLDA": (GibbsLDA(), {**TOPICS, "n_components": 3}, (COUNTS,)),
    "AdaptiveTopicModel": (AdaptiveTopicModel(), {**TOPICS, "n_components": 3}, (COUNTS,)),
    "LatentDirichletCoClustering": (
        LatentDirichletCoClustering(),
        {**TOPICS, "n_components": 3, "n_document_topics": 2},
        (COUNTS,),
    ),
    "HDPTopicModel": (HDPTopicModel(), {**CHAIN, "initial_components": 3}, (COUNTS,)),
    "HDPPCFG": (
        HDPPCFG(),
        {"n_components": 2, "n_preterminals": 2, "max_iter": 3, "max_length": 3, "n_init": 2},
        (SENTENCES,),
    ),
    "HDPPCFG, Gibbs": (HDPPCFG(inference="gibbs"), {**CHAIN, "n_components": 2}, (SENTENCES,)),
    "HDPPCFGRefiner": (
        HDPPCFGRefiner(),
        {"n_components": 2, "max_iter": 2, "min_word_count": 1, "n_products": 2},
        (WORDS, TREES),
    ),
    "HierarchicalPitmanYorLM": (HierarchicalPitmanYorLM(), {**CHAIN, "order": 2}, (SENTENCES,)),
    "KneserNeyLM": (KneserNeyLM(discount=0.5), {"order": 2}, (SENTENCES,)),
    "LanguageModelClassifier": (
        LanguageModelClassifier(KneserNeyLM(discount=0.5)),
        {"estimator__order": 2, "n_jobs": 1},
        (SENTENCES, [0, 1, 0, 1]),
    ),
    "NestedPitmanYorLM": (
        NestedPitmanYorLM(anneal=None),
        {**CHAIN, "word_order": 2, "max_word_length": 3},
        (STRINGS,),
    ),
    "CollocationPitmanYorLM": (
        CollocationPitmanYorLM(anneal=None),
        {**CHAIN, "character_order": 2, "max_word_length": 3, "max_collocation_length": 4},
        (STRINGS,),
    ),
    "HDPBackoffClassifier": (HDPBackoffClassifier(), CHAIN, (EVENTS, list("xyxy"))),
    "DistanceDependentCRPClassifier": (
        DistanceDependentCRPClassifier(),
        CHAIN,
        (EVENTS, list("xyxy")),
    ),
}
"""Estimators, parameters and data, by name."""
