"""Language models: mistakes and their messages."""

import numpy as np
import pandas as pd
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from refusals.samples import SENTENCES
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)

RUN = ["thedog", "sat"]
CUTS = [np.array([0, 0, 1, 0, 0]), np.array([0, 0])]
SHORT = {"max_iter": 8, "n_chains": 1}


def lm(X=SENTENCES, order=2, **params):
    return HierarchicalPitmanYorLM(order, **{"max_iter": 4, **params}).fit(X)


def kn(X=SENTENCES, order=2, **params):
    return KneserNeyLM(order, **{"discount": 0.5, **params}).fit(X)


def classifier(y, X=SENTENCES, **params):
    return LanguageModelClassifier(KneserNeyLM(2, discount=0.5), **params).fit(X, y)


def nested(X=RUN, y=None, **params):
    return NestedPitmanYorLM(**{**SHORT, **params}).fit(X, y)


def collocations(X=RUN, y=None, **params):
    return CollocationPitmanYorLM(**{**SHORT, **params}).fit(X, y)
