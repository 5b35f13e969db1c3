"""Measures, grammars of generators, texts, and panels to transform: mistakes and their messages."""

import pandas as pd
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from refusals.samples import DOCUMENTS, SERIES
from skdp.datasets import make_pcfg_corpus
from skdp.grammar import ParseTree
from skdp.metrics import bracket_scores, topic_coherence
from skdp.preprocessing import PanelTransformer, WindowFeatures

TREE = ParseTree.from_brackets("(S a)")


def brackets(true, predicted, **options):
    def read(tree):
        return ParseTree.from_brackets(tree) if isinstance(tree, str) else tree

    return bracket_scores([*map(read, true)], [*map(read, predicted)], **options)


def cfg(rules, **options):
    return make_pcfg_corpus(grammar=rules, **options)


def transformed(transformer, X=(SERIES,)):
    return PanelTransformer(transformer).fit_transform(X)


def scaler(X):
    return PanelTransformer(StandardScaler()).fit(X)


def windows(features):
    return WindowFeatures(window=2, n_kernels=9, features=features).fit(SERIES)


def cohere(topics, **options):
    return topic_coherence(topics, DOCUMENTS, n_words=2, **options)
